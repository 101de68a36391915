"""What the bridge says to whom, and what it says again."""

import json
from typing import Any

import pytest

from pedelec_core.mcp_bridge.messages import MAX_LINE_BYTES, MAX_REQUEST_BYTES
from pedelec_core.mcp_bridge.relay import MAX_LINKS, Lines, Relay
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
    lines = relay.replay()
    handshake, initialized, again = read(lines.to_core)
    assert (handshake["method"], initialized["method"]) == ("initialize", "notifications/initialized")
    assert handshake["id"] != 0
    assert again == sent
    assert relay.from_core(line(id=handshake["id"], result={})).to_host == []
    assert [each["method"] for each in read(lines.to_host)] == ["notifications/tools/list_changed"]


def test_a_handshake_without_an_answer_is_said_again_as_it_was() -> None:
    relay = Relay()
    relay.from_host(line(id=0, method="initialize", params={}))
    lines = relay.replay()
    assert [each["id"] for each in read(lines.to_core)] == [0]
    assert lines.to_host == []


def test_what_a_host_says_without_waiting_for_the_handshake_s_answer_is_said_in_its_order() -> None:
    relay = Relay()
    relay.from_host(line(id=0, method="initialize", params={}))
    relay.from_host(line(method="notifications/initialized"))
    relay.from_host(line(id=1, method="tools/list"))
    methods = [each["method"] for each in read(relay.replay().to_core)]
    assert methods == ["initialize", "notifications/initialized", "tools/list"]


def test_a_call_that_was_called_off_is_not_said_again_and_its_answer_is_dropped() -> None:
    relay = shaken_hands()
    relay.from_host(line(id=1, method="tools/call", params={"name": "x"}))
    cancel = relay.from_host(line(method="notifications/cancelled", params={"requestId": 1}))
    assert read(cancel.to_core)[0]["method"] == "notifications/cancelled"
    assert len(relay.replay().to_core) == 2
    assert relay.from_core(line(id=1, result={})).to_host == []


def test_ids_that_only_look_alike_are_two() -> None:
    relay = Relay()
    relay.from_host(line(id=1, method="tools/list"))
    relay.from_host(line(id="1", method="tools/list"))
    relay.from_core(line(id=1, result={}))
    assert [each["id"] for each in read(relay.replay().to_core)] == ["1"]


def test_nothing_is_said_to_the_first_core_that_the_host_did_not_say() -> None:
    assert Relay().replay() == Lines()


def test_a_request_that_ends_every_link_is_given_up_and_the_others_are_not() -> None:
    relay = Relay()
    relay.from_host(line(id="s", method="subscriptions/listen", params={}))
    relay.from_host(line(id=1, method="tools/list"))
    for _ in range(MAX_LINKS):
        assert relay.replay().to_host == []
        relay.from_core(line(method=ACKNOWLEDGED, params={"_meta": {SUBSCRIPTION: "s"}}))
    lines = relay.replay()
    assert [(each["id"], each["error"]["code"]) for each in read(lines.to_host)] == [(1, -32603)]
    assert [each["id"] for each in read(lines.to_core)] == ["s"]


def test_requests_of_two_cores_are_never_taken_for_one_another() -> None:
    relay = shaken_hands()
    asked = line(id=1, method="elicitation/create", params={})
    (first,) = read(relay.from_core(asked).to_host)
    withdrawn, _ = read(relay.replay().to_host)
    assert (withdrawn["method"], withdrawn["params"]["requestId"]) == ("notifications/cancelled", first["id"])
    (second,) = read(relay.from_core(asked).to_host)
    assert second["id"] != first["id"]
    assert relay.from_host(line(id=first["id"], result={})).to_core == []
    assert read(relay.from_host(line(id=second["id"], result={})).to_core)[0]["id"] == 1
    assert relay.from_host(line(id=second["id"], result={})).to_core == []


def test_what_core_withdraws_is_named_as_the_host_knows_it() -> None:
    relay = shaken_hands()
    cancel = line(method="notifications/cancelled", params={"requestId": 1, "reason": "answered elsewhere"})
    assert relay.from_core(cancel) == Lines()
    (asked,) = read(relay.from_core(line(id=1, method="elicitation/create", params={})).to_host)
    (told,) = read(relay.from_core(cancel).to_host)
    assert told["params"] == {"requestId": asked["id"], "reason": "answered elsewhere"}


def test_a_host_is_owed_answers_but_none_to_a_subscription() -> None:
    relay = Relay()
    relay.from_host(line(id="s", method="subscriptions/listen", params={}))
    assert not relay.owes(calls=True)
    relay.from_host(line(id=1, method="tools/call", params={"name": "x"}))
    assert (relay.owes(calls=True), relay.owes(calls=False)) == (True, False)
    relay.from_host(line(id=2, method="tools/list"))
    assert relay.owes(calls=False)
    relay.from_core(line(id=2, result={}))
    relay.from_core(line(id=1, result={}))
    assert not relay.owes(calls=True)


@pytest.mark.parametrize("wants_tools", [True, False])
def test_a_subscription_s_second_acknowledgement_is_told_as_a_change(wants_tools: bool) -> None:
    relay = Relay()
    relay.from_host(line(id="s", method="subscriptions/listen", params={}))
    honoured = {"toolsListChanged": True} if wants_tools else {}
    params = {"notifications": honoured, "_meta": {SUBSCRIPTION: "s"}}
    acknowledged = line(method=ACKNOWLEDGED, params=params)
    assert relay.from_core(acknowledged).to_host == [acknowledged]
    assert [each["id"] for each in read(relay.replay().to_core)] == ["s"]
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
    [
        (b"{", -32700),
        (b"\xff", -32700),
        (b"[" * 100_000, -32700),
        (b"[]", -32600),
        (b"{}".rjust(MAX_LINE_BYTES + 2), -32600),
        (line(id=None, method="ping"), -32600),
        (line(id=1.5, method="ping"), -32600),
        (line(id=True, method="ping"), -32600),
        (line(method=1), -32600),
    ],
    ids=lambda value: str(value[:40]) if isinstance(value, bytes) else "",
)
def test_what_is_no_message_is_refused_here(given: bytes, code: int) -> None:
    lines = Relay().from_host(given)
    assert [(each["id"], each["error"]["code"]) for each in read(lines.to_host)] == [(None, code)]
    assert lines.to_core == []


# Numbers that are written longer where they go, after so much text that they had room only as they came.
GROWS_TOO_LONG = b'{"jsonrpc":"2.0","id":"a","method":"x","params":{"y":[%s"%s"]}}' % (
    b"1e15," * 1_000,
    b"x" * (MAX_REQUEST_BYTES - 6_000),
)


@pytest.mark.parametrize(
    "given",
    [
        b'{"id":"a","method":"ping"}',
        line(id="a", method=1),
        line(id="a", method="x", params={"y": "x" * MAX_REQUEST_BYTES}),
        GROWS_TOO_LONG,
    ],
    ids=["no version", "no method", "too long", "too long as it would go out"],
)
def test_a_request_that_does_not_pass_is_refused_under_its_id(given: bytes) -> None:
    relay = Relay()
    lines = relay.from_host(given)
    assert [(each["id"], each["error"]["code"]) for each in read(lines.to_host)] == [("a", -32600)]
    assert (lines.to_core, relay.replay()) == ([], Lines())


def test_letters_beyond_ascii_take_no_more_room_than_they_did() -> None:
    given = '{"jsonrpc":"2.0","id":1,"method":"x","params":{"y":"' + "漢" * 1_300_000 + '"}}\n'
    assert Relay().from_host(given.encode()).to_core == [given.encode()]


def test_notifications_pass_as_they_are() -> None:
    relay = Relay()
    progress = line(method="notifications/progress", params={"progressToken": 1, "progress": 1})
    assert relay.from_core(progress).to_host == [progress]
    changed = line(method="notifications/roots/list_changed")
    assert read(relay.from_host(changed).to_core) == [json.loads(changed)]
