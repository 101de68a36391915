"""What the bridge says to whom, and what it says again."""

import json
from typing import Any

import pytest

from pedelec_core.mcp_bridge.relay import MAX_REQUEST_BYTES, Relay
from pedelec_core.mcp_gateway.extensions import CALL_ID_META, RECEIVED_METHOD

SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"


def line(**message: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


def read(lines: list[bytes]) -> list[Any]:
    assert all(each.endswith(b"\n") for each in lines)
    return [json.loads(each) for each in lines]


def shaken_hands() -> Relay:
    relay = Relay()
    relay.from_host(line(id=0, method="initialize", params={"protocolVersion": "2025-11-25"}))
    relay.from_core(line(id=0, result={}))
    relay.from_host(line(method="notifications/initialized"))
    return relay


def named(message: Any) -> str:
    name = message["params"]["_meta"][CALL_ID_META]
    assert isinstance(name, str)
    return name


def test_a_call_gets_a_name_of_its_own_and_keeps_what_it_had() -> None:
    relay = Relay()
    params = {"name": "x", "_meta": {"progressToken": 7}}
    first, second = (
        read(relay.from_host(line(id=number, method="tools/call", params=params)).to_core)[0]
        for number in (1, 2)
    )
    assert named(first) != named(second)
    assert first["params"]["_meta"]["progressToken"] == 7
    assert first["params"]["name"] == "x"


def test_an_answer_goes_to_the_host_and_core_hears_that_it_arrived() -> None:
    relay = Relay()
    relay.from_host(line(id="a", method="tools/call", params={"name": "x"}))
    lines = relay.from_core(line(id="a", result={}))
    assert [each["id"] for each in read(lines.to_host)] == ["a"]
    assert read(lines.to_core) == [
        {"jsonrpc": "2.0", "method": RECEIVED_METHOD, "params": {"requestId": "a"}}
    ]


def test_to_another_core_the_handshake_and_open_requests_are_said_again() -> None:
    relay = shaken_hands()
    (sent,) = read(relay.from_host(line(id=1, method="tools/call", params={"name": "x"})).to_core)
    relay.from_host(line(id=2, method="tools/list"))
    relay.from_core(line(id=2, result={}))
    handshake, initialized, again = read(relay.replay())
    assert (handshake["method"], initialized["method"]) == ("initialize", "notifications/initialized")
    assert handshake["id"] != 0
    assert again == sent
    assert relay.from_core(line(id=handshake["id"], result={})).to_host == []


def test_a_handshake_without_an_answer_is_said_again_as_it_was() -> None:
    relay = Relay()
    relay.from_host(line(id=0, method="initialize", params={}))
    assert [each["id"] for each in read(relay.replay())] == [0]
    assert relay.news() == []


def test_a_call_that_was_called_off_is_not_said_again_and_its_answer_is_dropped() -> None:
    relay = shaken_hands()
    relay.from_host(line(id=1, method="tools/call", params={"name": "x"}))
    cancel = relay.from_host(line(method="notifications/cancelled", params={"requestId": 1}))
    assert read(cancel.to_core)[0]["method"] == "notifications/cancelled"
    assert len(relay.replay()) == 2
    assert relay.from_core(line(id=1, result={})).to_host == []


def test_ids_that_only_look_alike_are_two() -> None:
    relay = Relay()
    relay.from_host(line(id=1, method="tools/list"))
    relay.from_host(line(id="1", method="tools/list"))
    relay.from_core(line(id=1, result={}))
    assert [each["id"] for each in read(relay.replay())] == ["1"]


def test_only_hosts_that_shook_hands_are_told_of_changes_unasked() -> None:
    assert [each["method"] for each in read(shaken_hands().news())] == ["notifications/tools/list_changed"]
    assert Relay().news() == []


@pytest.mark.parametrize("wants_tools", [True, False])
def test_a_subscription_s_second_acknowledgement_is_told_as_a_change(wants_tools: bool) -> None:
    relay = Relay()
    relay.from_host(line(id="s", method="subscriptions/listen", params={}))
    honoured = {"toolsListChanged": True} if wants_tools else {}
    params = {"notifications": honoured, "_meta": {SUBSCRIPTION: "s"}}
    acknowledged = line(method=ACKNOWLEDGED, params=params)
    assert relay.from_core(acknowledged).to_host == [acknowledged]
    assert [each["id"] for each in read(relay.replay())] == ["s"]
    heard = read(relay.from_core(acknowledged).to_host)
    told = [
        {
            "jsonrpc": "2.0",
            "method": "notifications/tools/list_changed",
            "params": {"_meta": {SUBSCRIPTION: "s"}},
        }
    ]
    assert heard == (told if wants_tools else [])


def test_what_reached_a_core_may_have_run_until_it_is_answered() -> None:
    relay = Relay()
    (sent,) = read(relay.from_host(line(id=1, method="tools/call", params={})).to_core)
    assert not relay.may_have_run(named(sent))
    relay.sent(to_core=False)
    assert not relay.may_have_run(named(sent))
    relay.sent(to_core=True)
    assert relay.may_have_run(named(sent))
    relay.from_core(line(id=1, result={}))
    assert not relay.may_have_run(named(sent))


@pytest.mark.parametrize(
    ("given", "code"),
    [(b"{", -32700), (b"\xff", -32700), (b"[]", -32600), (b" " * MAX_REQUEST_BYTES + b"{}", -32600)],
)
def test_what_is_no_message_is_refused_here(given: bytes, code: int) -> None:
    lines = Relay().from_host(given)
    assert [each["error"]["code"] for each in read(lines.to_host)] == [code]
    assert lines.to_core == []


def test_other_messages_pass_as_they_are() -> None:
    relay = Relay()
    progress = line(method="notifications/progress", params={"progressToken": 1, "progress": 1})
    assert relay.from_core(progress).to_host == [progress]
    response = line(id=9, result={"action": "accept"})
    assert read(relay.from_host(response).to_core) == [json.loads(response)]
