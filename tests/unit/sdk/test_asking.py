"""Calls that wait for a person: approvals, handlers' questions, and how they end."""

import asyncio
import json
from typing import Any

import pytest

from pedelec import Pedelec, PedelecError, define_tool
from pedelec.context import ToolContext
from tests.unit.sdk.scripted_core import Json, ScriptedCore, open_session, settle

WHERE = {"sessionId": "s1"}


def erase(handler: Any = lambda: "erased", **fields: Any) -> Any:
    fields = {"approval": "always", **fields}
    return define_tool(
        name="erase", description="Erases.", args_schema={"type": "object"}, handler=handler, **fields
    )


def asker(question: Any = "Which colour?", **more: Any) -> Any:
    async def paint(args: Json, ctx: ToolContext) -> Any:
        return await ctx.ask(question, **more)

    return define_tool(name="paint", description="Paints.", args_schema={"type": "object"}, handler=paint)


async def asked(
    core: ScriptedCore, *tools: Any, tool: str = "erase", args: object = None, **fields: Any
) -> str:
    """A page with these tools, one of which has been called and waits; the call's id."""
    await open_session(core, tools=tools)
    call = core.send_call(tool, args, **fields)
    await settle()
    return call


def code_of(result: Any) -> str:
    return str(result["error"]["code"])


async def test_a_call_that_needs_approval_runs_once_the_person_allows_it() -> None:
    core = ScriptedCore()
    ran: list[Json] = []
    call = await asked(core, erase(ran.append), args={"id": "s1\u202e"})
    question = core.host.dialog.now
    assert question is not None
    assert (question.kind, question.tool, question.arguments) == ("approval", "erase", 'id: "s1\\u202e"')
    assert "erase" in question.message
    assert (ran, core.results_of(call)) == ([], [])
    core.host.dialog.answer()
    assert await core.result_of(call) is None
    assert ran == [{"id": "s1\u202e"}]
    assert core.host.dialog.now is None


async def test_a_call_that_the_person_denies_never_reaches_its_handler() -> None:
    core, ran = ScriptedCore(), []
    call = await asked(core, erase(lambda: ran.append(1)))
    core.host.dialog.answer(accepted=False)
    result = await core.result_of(call)
    assert code_of(result) == "TOOL_DENIED"
    assert (result["error"]["class"], result["error"]["effects"]) == ("permanent", "none")
    assert "erase(" not in str(result["error"]["recoverySteps"])
    assert ran == []


async def test_a_call_that_nobody_decides_is_answered_before_its_deadline() -> None:
    core = ScriptedCore()
    call = await asked(core, erase(), timeoutMs=50)
    result = await core.result_of(call)
    assert (code_of(result), result["error"]["class"]) == ("TOOL_UNANSWERED", "userInput")
    assert "erase()" in str(result["error"]["recoverySteps"])
    assert core.host.dialog.now is None


async def test_a_dialog_that_cannot_be_shown_is_an_answer_too() -> None:
    core = ScriptedCore()
    core.host.dialog.is_broken = True
    call = await asked(core, erase())
    assert code_of(await core.result_of(call)) == "TOOL_UNANSWERED"


@pytest.mark.parametrize(("tool", "effects"), [("erase", "none"), ("paint", "unknown")])
async def test_where_no_dialog_can_be_shown_the_agent_is_told_what_to_set_up(tool: str, effects: str) -> None:
    core = ScriptedCore()
    core.host.dialog.can_show = False
    call = await asked(core, erase(), asker(), tool=tool)
    error = (await core.result_of(call))["error"]
    assert (error["code"], error["effects"]) == ("NOT_CONFIGURED", effects)
    assert "client.on_question" in str(error["recoverySteps"])


async def test_a_function_of_its_own_asks_where_no_dialog_can_be_shown() -> None:
    core = ScriptedCore()
    core.host.dialog.can_show = False
    client = Pedelec(host=core.host)
    client.on_question(lambda: True)
    await client.create_session(tools=[erase()])
    assert await core.result_of(core.send_call("erase")) == "erased"


@pytest.mark.parametrize("reason", ["cancelled", "timeout"])
async def test_a_cancelled_call_takes_its_question_away_and_never_runs(reason: str) -> None:
    core, ran = ScriptedCore(), []
    call = await asked(core, erase(lambda: ran.append(1)))
    core.send({"type": "tool_cancel", "seq": 9, "toolRequestId": call, "reason": reason, **WHERE})
    assert code_of(await core.result_of(call)) == "TOOL_CANCELLED"
    assert (core.host.dialog.now, ran) == (None, [])


async def test_the_end_of_the_session_takes_its_questions_away() -> None:
    core = ScriptedCore()
    session = await open_session(core, tools=(erase(),))
    core.send_call("erase")
    core.send_call("erase")
    await settle()
    assert len(core.host.dialog.shown) == 1
    core.send({"type": "ended", "seq": 9, "reason": "requested", **WHERE})
    await settle()
    assert (core.host.dialog.now, session.get_status()) == (None, "ended")
    assert len(core.host.dialog.shown) == 1, "the second one is never shown"


async def test_several_calls_are_asked_about_one_after_the_other() -> None:
    core = ScriptedCore()
    await open_session(core, tools=(erase(lambda args: args["n"]),))
    calls = [core.send_call("erase", {"n": n}) for n in range(3)]
    await settle()
    for n, accepted in enumerate((True, False, True)):
        assert len(core.host.dialog.shown) == n + 1
        core.host.dialog.answer(accepted=accepted)
        await settle()
    results = [await core.result_of(call) for call in calls]
    assert (results[0], code_of(results[1]), results[2]) == (0, "TOOL_DENIED", 2)


async def test_two_clients_of_a_page_share_its_dialog() -> None:
    core = ScriptedCore()
    await open_session(core, tools=(erase(),))
    core.answers["create_session"] = lambda frame: {
        "type": "response",
        "requestId": frame["requestId"],
        "ok": True,
        "result": {"sessionId": "s2"},
    }
    await open_session(core, tools=(erase(),))
    core.transports[0].core_send(_call_frame("a", "s1"))
    core.transports[1].core_send(_call_frame("b", "s2"))
    await settle()
    assert len(core.host.dialog.shown) == 1
    core.host.dialog.answer()
    await settle()
    assert len(core.host.dialog.shown) == 2


def _call_frame(call: str, session: str) -> str:
    frame = {"type": "tool_call", "seq": 1, "toolRequestId": call, "turnId": "t", "turnStartedAt": 1}
    return json.dumps(frame | {"sessionId": session, "tool": "erase", "timeoutMs": 60_000, "args": {}})


# --- which calls -------------------------------------------------------------------------------------------


def by_count(args: Json) -> bool:
    return bool(args["count"] > 1)


async def by_count_later(args: Json) -> bool:
    await asyncio.sleep(0)
    return by_count(args)


@pytest.mark.parametrize("says", [by_count, by_count_later])
async def test_only_the_consequential_calls_of_a_tool_are_asked_about(says: Any) -> None:
    core = ScriptedCore()
    await open_session(core, tools=(erase(approval="consequential", consequential=says),))
    assert await core.call("erase", {"count": 1}) == "erased"
    call = core.send_call("erase", {"count": 2})
    await settle()
    assert core.results_of(call) == []
    core.host.dialog.answer()
    assert await core.result_of(call) == "erased"


@pytest.mark.parametrize(
    ("fields", "is_asked"),
    [
        ({}, True),
        ({"consequential": True}, True),
        ({"read_only": True}, False),
        ({"read_only": True, "consequential": True}, True),
        ({"consequential": lambda: 1 / 0}, True),
        ({"consequential": lambda: None}, True),
        ({"consequential": lambda: False}, False),
    ],
    ids=[
        "nothing is said",
        "consequential",
        "read-only",
        "read-only and consequential",
        "a decision that fails",
        "a decision for nothing",
        "a decision against",
    ],
)
async def test_what_nobody_says_is_harmless_is_asked_about(fields: Any, is_asked: bool) -> None:
    core = ScriptedCore()
    await asked(core, erase(approval="consequential", **fields))
    assert (core.host.dialog.now is not None) is is_asked


async def test_a_page_that_took_the_session_up_asks_where_core_says_so() -> None:
    core, ran = ScriptedCore(), []
    session = await Pedelec(host=core.host).resume_session("s1")
    session.on_tool("erase", lambda: ran.append(1))
    call = core.send_call("erase", approval="consequential")
    await settle()
    core.host.dialog.answer(accepted=False)
    assert code_of(await core.result_of(call)) == "TOOL_DENIED"
    assert ran == []


async def test_a_handler_set_by_name_is_guarded_too() -> None:
    core, ran = ScriptedCore(), []
    session = await open_session(core, tools=(erase(None),))
    session.on_tool("erase", lambda: ran.append("named"))
    core.send_call("erase")
    await settle()
    assert (core.host.dialog.now is not None, ran) == (True, [])


def test_tools_that_ask_have_five_minutes_unless_they_say_otherwise() -> None:
    assert erase().to_wire()["timeoutMs"] == 300_000
    assert erase(approval=None, asks=True).to_wire()["timeoutMs"] == 300_000
    assert erase(timeout_ms=5).to_wire()["timeoutMs"] == 5
    assert "timeoutMs" not in erase(approval=None).to_wire()
    assert erase(approval="consequential", consequential=by_count).to_wire() == {
        "name": "erase",
        "description": "Erases.",
        "argsSchema": {"type": "object"},
        "timeoutMs": 300_000,
        "consequential": True,
        "approval": "consequential",
    }


@pytest.mark.parametrize(
    "fields", [{"approval": "never"}, {"approval": True}, {"consequential": "yes"}, {"asks": 1}], ids=str
)
def test_a_rule_that_is_none_is_refused(fields: Any) -> None:
    with pytest.raises(PedelecError, match="INVALID_INPUT") as refused:
        erase(**fields)
    assert (refused.value.details or {})["field"] in fields


# --- questions of handlers
# ------------------------------------------------------------------------------------


async def test_a_handler_gets_the_person_s_words() -> None:
    core = ScriptedCore()
    call = await asked(core, asker("Which\u202e colour?", name="colour"), tool="paint")
    question = core.host.dialog.now
    assert question is not None
    assert (question.kind, question.message, question.name) == ("question", "Which\\u202e colour?", "colour")
    core.host.dialog.answer(answer="green")
    assert await core.result_of(call) == "green"


async def test_a_handler_gets_the_value_of_the_option_that_was_chosen() -> None:
    core = ScriptedCore()
    options = [{"label": "Red", "value": {"hex": "#f00"}}, {"label": "Blue", "value": {"hex": "#00f"}}]
    call = await asked(core, asker(options=options), tool="paint")
    core.host.dialog.answer(answer='{"hex":"#00f"}')
    assert await core.result_of(call) == {"hex": "#00f"}


async def test_a_handler_gets_all_fields_of_its_form() -> None:
    core = ScriptedCore()
    schema = {"type": "object", "properties": {"n": {"type": "integer"}, "s": {"type": "string"}}}
    call = await asked(core, asker(schema=schema), tool="paint")
    core.host.dialog.answer(n=3, s="x", more=1)
    assert await core.result_of(call) == {"n": 3, "s": "x"}


async def test_an_answer_that_does_not_fit_is_no_answer() -> None:
    core = ScriptedCore()
    call = await asked(core, asker(options=["a"]), tool="paint")
    core.host.dialog.answer(answer="b")
    assert code_of(await core.result_of(call)) == "TOOL_UNANSWERED"


async def test_a_question_that_is_dismissed_is_denied_and_the_handler_may_have_done_something() -> None:
    core = ScriptedCore()
    call = await asked(core, asker(), tool="paint")
    core.host.dialog.answer(accepted=False)
    error = (await core.result_of(call))["error"]
    assert (error["code"], error["effects"]) == ("TOOL_DENIED", "unknown")
    assert "Which colour?" in error["message"]


@pytest.mark.parametrize(
    ("question", "more"),
    [
        (" ", {}),
        (3, {}),
        ("Q", {"options": []}),
        ("Q", {"options": ["a"], "schema": {}}),
        ("Q", {"schema": {"type": "array"}}),
        ("Q", {"name": ""}),
    ],
    ids=str,
)
async def test_a_question_that_nobody_could_answer_is_the_handler_s_error(question: Any, more: Any) -> None:
    core = ScriptedCore()
    call = await asked(core, asker(question, **more), tool="paint")
    assert code_of(await core.result_of(call)) == "INVALID_INPUT"
    assert core.host.dialog.shown == []


# --- who is told
# ------------------------------------------------------------------------------------------------


async def test_waiting_is_a_status_of_the_session() -> None:
    core = ScriptedCore()
    session = await open_session(core, tools=(erase(), asker()))
    changes: list[str] = []
    session.on_status(changes.append)
    core.send_call("erase")
    core.send_call("paint")
    await settle()
    assert session.get_status() == "waiting_user"
    core.host.dialog.answer()
    await settle()
    assert session.get_status() == "waiting_user"
    core.host.dialog.answer(answer="red")
    await settle()
    assert changes[0] == "waiting_tool_result"
    assert (changes[1], changes[-1], session.get_status()) == ("waiting_user", "idle", "idle")


async def test_core_hears_what_is_asked_and_when_it_is_over() -> None:
    core = ScriptedCore()
    call = await asked(core, erase(), args={"id": 1})
    (waiting,) = core.sent("tool_waiting")
    assert waiting == {
        "type": "tool_waiting",
        "sessionId": "s1",
        "toolRequestId": call,
        "questionId": waiting["questionId"],
        "kind": "approval",
        "message": "An AI agent wants to use “erase” on this page. Allow it?",
        "arguments": "id: 1",
        "schema": {"type": "object", "properties": {}},
        "hidden": False,
    }
    assert core.sent("tool_resumed") == []
    core.host.dialog.answer()
    await core.result_of(call)
    (resumed,) = core.sent("tool_resumed")
    assert resumed == {"type": "tool_resumed", **{key: waiting[key] for key in list(waiting)[1:4]}}
    kinds = [frame["type"] for frame in core.frames]
    assert kinds.index("tool_resumed") < kinds.index("submit_tool_result")


async def test_core_hears_again_when_the_page_is_hidden_or_comes_back_to_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pedelec.connection.RECONNECT_CAP_SECONDS", 0)
    core = ScriptedCore()
    await asked(core, erase())
    core.host.hide()
    await settle()
    assert [frame["hidden"] for frame in core.sent("tool_waiting")] == [False, True]
    core.transport.core_close("cut")
    await core.until(lambda: len(core.sent("tool_waiting")) == 3)
    assert len({frame["questionId"] for frame in core.sent("tool_waiting")}) == 1
    assert len(core.host.dialog.shown) == 1


async def test_an_answer_that_the_agent_s_client_brought_counts_and_closes_the_dialog() -> None:
    core = ScriptedCore()
    call = await asked(core, asker(), tool="paint")
    where = {**WHERE, "toolRequestId": call, "questionId": core.sent("tool_waiting")[0]["questionId"]}
    core.send({"type": "tool_answer", "action": "accept", "content": {"wrong": 1}, **where})
    await settle()
    assert core.results_of(call) == [], "what does not fit the form is no answer"
    core.send({"type": "tool_answer", "action": "accept", "content": {"answer": "red"}, **where})
    assert await core.result_of(call) == "red"
    assert core.host.dialog.now is None
    core.send({"type": "tool_answer", "action": "decline", **where})
    await settle()
    assert core.results_of(call) == ["red"]


async def test_a_denial_that_the_agent_s_client_brought_counts_too() -> None:
    core = ScriptedCore()
    call = await asked(core, erase())
    where = {**WHERE, "toolRequestId": call, "questionId": core.sent("tool_waiting")[0]["questionId"]}
    core.send({"type": "tool_answer", "action": "decline", **where})
    assert code_of(await core.result_of(call)) == "TOOL_DENIED"


# --- a page's own way of asking
# -----------------------------------------------------------------------------------


async def own(core: ScriptedCore, handler: Any, *tools: Any) -> Pedelec:
    client = Pedelec(host=core.host)
    client.on_question(handler)
    await client.create_session("", tools)
    return client


@pytest.mark.parametrize(
    ("says", "outcome"),
    [(True, "erased"), (False, "TOOL_DENIED"), (None, "TOOL_DENIED"), ("yes", "TOOL_DENIED")],
)
async def test_a_page_s_own_function_decides_in_place_of_the_dialog(says: Any, outcome: str) -> None:
    core, seen = ScriptedCore(), []

    async def decide(question: Json, ctx: ToolContext) -> Any:
        seen.append((question["kind"], question["tool"], question["arguments"], ctx.tool))
        await asyncio.sleep(0)
        return says

    await own(core, decide, erase())
    result = await core.call("erase", {"id": 1})
    assert (result if isinstance(result, str) else code_of(result)) == outcome
    assert (seen, core.host.dialog.shown) == ([("approval", "erase", "id: 1", "erase")], [])


@pytest.mark.parametrize(
    ("more", "says", "outcome"),
    [
        ({}, "red", "red"),
        ({"options": [1, 2]}, 2, 2),
        ({"options": [1, 2]}, 3, "TOOL_UNANSWERED"),
        ({}, 3, "TOOL_UNANSWERED"),
        ({}, None, "TOOL_DENIED"),
    ],
    ids=str,
)
async def test_a_page_s_own_function_answers_questions(more: Any, says: Any, outcome: Any) -> None:
    core = ScriptedCore()
    await own(core, lambda: says, asker(**more))
    result = await core.call("paint")
    assert (code_of(result) if isinstance(result, dict) else result) == outcome


async def test_a_page_s_own_function_hears_that_its_question_is_over() -> None:
    core, heard = ScriptedCore(), []

    async def decide(question: Json, ctx: ToolContext) -> None:
        heard.append(await ctx.cancelled)

    await own(core, decide, erase())
    call = core.send_call("erase")
    await settle()
    core.send({"type": "tool_cancel", "seq": 9, "toolRequestId": call, "reason": "cancelled", **WHERE})
    assert code_of(await core.result_of(call)) == "TOOL_CANCELLED"
    await settle()
    assert heard == ["answered"]


async def test_a_page_s_own_function_that_fails_leaves_the_call_undone(
    caplog: pytest.LogCaptureFixture,
) -> None:
    core = ScriptedCore()
    await own(core, lambda: 1 / 0, erase())
    assert code_of(await core.call("erase")) == "TOOL_UNANSWERED"
    assert "on_question" in caplog.text


async def test_the_dialog_is_back_when_the_function_is_disposed_of() -> None:
    core = ScriptedCore()
    client = Pedelec(host=core.host)
    first = client.on_question(lambda: True)
    second = client.on_question(lambda: True)
    first()
    await client.create_session("", [erase()])
    assert await core.call("erase") == "erased"
    second()
    core.send_call("erase")
    await settle()
    assert core.host.dialog.now is not None
