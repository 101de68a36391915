"""What happens to a page while it has tools: it hangs, hides, starts slowly, loses Core, and lives long."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Route

from pedelec.connection import RECONNECT_CAP_SECONDS
from pedelec.session import MAX_REMEMBERED_CALLS
from tests.browser.browser_page import LOADER, BrowserPage
from tests.browser.many_calls import call_many
from tests.contract.browser_stage import browser_stage
from tests.harness import CoreProcess

_BLOCKING = {
    "python": """
        import time

        def block():
            end = time.monotonic() + 2
            while time.monotonic() < end:
                pass
    """,
    "javascript": """
        import js

        block = js.Function("const end = performance.now() + 2000; while (performance.now() < end);")
    """,
}


@pytest.mark.parametrize("block", _BLOCKING.values(), ids=list(_BLOCKING))
def test_a_handler_that_blocks_the_page_is_answered_by_core_and_the_page_recovers(
    shared: BrowserPage, block: str
) -> None:
    with browser_stage(shared) as stage:
        stage.run(block)
        stage.run(
            "session = await open_session('block', next=lambda: 'works')\nsession.on_tool('block', block)"
        )
        assert stage.start_call("block", timeout_ms=500).answer()["error"]["code"] == "TOOL_TIMEOUT"
        # The page learns that its result came too late: Core had answered without waiting for it.
        stage.run("await heard.until('error', 'SUBMIT_TOOL_RESULT_FAILED', 'TOOL_TIMEOUT')")
        assert stage.call("next") == "works"
        assert stage.read("session.get_status()") == "idle"


# --- hidden tabs ---------------------------------------------------------------------------------------

_HIDE = """
const names = ["setTimeout", "setInterval", "requestAnimationFrame", "requestIdleCallback"];
const usual = Object.fromEntries(names.map((name) => [name, globalThis[name]]));
const putOff = [];
for (const name of names) globalThis[name] = (...args) => { putOff.push([name, args]); return 0; };
globalThis.__show = () => {
  Object.assign(globalThis, usual);
  for (const [name, args] of putOff) globalThis[name](...args);
};
"""
"""Browsers draw nothing of a hidden tab and make its timers wait, up to a minute. Here they never fire."""


def test_no_call_waits_for_a_timer_so_that_a_hidden_tab_is_as_fast_as_a_visible_one(
    shared: BrowserPage,
) -> None:
    with browser_stage(shared) as stage:
        stage.run(
            """
            import js

            async def waits(args):
                await asyncio.sleep(0)
                await js.Promise.resolve(1)
                return args

            async def gathers(args):
                return await asyncio.gather(waits(1), waits(2))

            session = await open_session(
                plain=lambda args: args,
                waits=waits,
                gathers=gathers,
                sleeps=lambda: asyncio.sleep(0.01, "slept"),
                javascript=js.Function("return 1"),
                promise=js.Function("return Promise.resolve(2).then((n) => n)"),
            )
            """
        )
        thread = stage.read("session.session_id")
        shared.run(_HIDE)
        asleep = shared.start_call("sleeps", thread=thread)
        expected = {"plain": {"n": 1}, "waits": {"n": 1}, "gathers": [1, 2], "javascript": 1, "promise": 2}
        answers = {tool: shared.call(tool, '{"n": 1}', thread=thread)["result"] for tool in expected}
        assert answers == expected
        assert call_many(shared.core, thread, "waits", 50) == [{"n": n} for n in range(50)]
        assert (
            shared.answers(thread) == len(expected) + 50
        )  # the one that asked for a timer still waits for it
        shared.run("__show()")
        assert asleep.finish().json["result"] == "slept"


# --- Python that starts, Core that goes and comes -------------------------------------------------------


def test_a_call_that_comes_while_python_starts_is_held_until_the_page_is_ready(
    shared: BrowserPage, page: BrowserPage
) -> None:
    with browser_stage(shared) as stage:
        stage.run(
            """
            tools = [define_tool(name="probe", description="A.", args_schema={"type": "object"})]
            session = await new_client().create_session(tools=tools, auto_end_on_disconnect=False)
            """
        )
        thread = stage.read("session.session_id")  # which goes on without its page
    held: list[Route] = []
    may_start = Event()

    def decide(route: Route) -> None:
        if may_start.is_set():
            route.continue_()
        else:
            held.append(route)

    page.page.route("**/pyodide.asm.wasm*", decide)
    with page.page.expect_request("**/pyodide.asm.wasm*"):
        page.open(
            f"""{LOADER}
            <script type="text/pedelec">
                from pedelec import Pedelec
                session = await Pedelec().resume_session("{thread}")
                session.on_tool("probe", lambda args: ["after the start", args])
            </script>"""
        )
    call = page.start_call("probe", '{"n": 1}', thread=thread)
    _wait_for_running_calls(page.core, 1)
    assert page.events("ready") == []
    may_start.set()
    for route in held:
        route.continue_()
    page.run("await pedelec.ready")
    assert call.finish().json["result"] == ["after the start", {"n": 1}]


def _wait_for_running_calls(core: CoreProcess, count: int) -> None:
    for _ in range(100):
        if core.cli("status").json["result"]["runningCalls"] == count:
            return
    raise AssertionError(core.cli("status").json)


def test_a_page_finds_core_again_after_a_restart_and_delivers_what_was_ready_once(
    context: BrowserContext, site: Path, tmp_path: Path
) -> None:
    with CoreProcess(tmp_path / "state", "--site", str(site)) as core:
        page = BrowserPage(context, core, site)
        page.start()
        with browser_stage(page) as stage:
            stage.run(
                f"""
                import pedelec.connection

                pedelec.connection.RECONNECT_CAP_SECONDS = {RECONNECT_CAP_SECONDS}
                session = await open_session("a")
                started, go = asyncio.Event(), asyncio.Event()
                runs = []

                @session.on_tool("a")
                async def handler():
                    runs.append(1)
                    started.set()
                    await go.wait()
                    return "kept"
                """
            )
            lost = stage.start_call("a")
            stage.run("await started.wait()")
            port = core.port
            core.kill()
            assert lost.answer()["ok"] is False
            stage.run("await heard.until('status', 'error'); go.set(); await asyncio.sleep(0)")
            with CoreProcess(tmp_path / "state", "--site", str(site), port=port):
                stage.run("await heard.until('status', 'idle')")
                answer = stage.start_call("a").answer()
                assert (answer["result"], answer["replayed"]) == ("kept", True)
                assert stage.read("runs") == [1]
                assert stage.call("a", {"again": 1}) == "kept"
                assert stage.heard("error") == []
                stage.run("await session.end()")
            stage.take_log()  # browsers say on the console that Core was away


def test_a_request_that_core_does_not_answer_fails_in_time_and_later_ones_work(shared: BrowserPage) -> None:
    core = shared.core.process
    with browser_stage(shared) as stage:
        stage.run("client = new_client(bridge_timeout_ms=300)\nawait client.get_approval_status()")
        os.kill(core.pid, signal.SIGSTOP)
        try:
            stage.run(
                """
                try:
                    await client.create_session()
                except PedelecError as error:
                    told = [error.code, error.error_class]
                """
            )
        finally:
            os.kill(core.pid, signal.SIGCONT)
        assert stage.read("told") == ["SDK_BRIDGE_TIMEOUT", "retryable"]
        stage.run("client = new_client()\nsession = await open_session(client=client, a=lambda: 'works')")
        assert stage.call("a") == "works"


# --- a long life ---------------------------------------------------------------------------------------

_MANY = 10_000
_AT_ONCE = 8
_MEASURE = """
import gc, sys
import js
import pyodide_js


def measure():
    gc.collect()
    return {
        "proxies": js.__countLive(),
        "objects": sys.getallocatedblocks(),
        "memory": pyodide_js._module.HEAPU8.length,
    }
"""


def _assert_flat(before: Any, after: Any) -> None:
    """No more proxies, no more of WebAssembly's memory, and less than one object for every twenty rounds."""
    assert after["proxies"] == before["proxies"]
    assert after["memory"] == before["memory"]
    assert after["objects"] - before["objects"] < _MANY / 20, (before, after)


@pytest.mark.timeout(300)
def test_ten_thousand_calls_leave_proxies_and_memory_flat(shared: BrowserPage) -> None:
    with browser_stage(shared) as stage:
        stage.run(_MEASURE)
        stage.run(
            f"""
            handlers = [
                lambda args: args["n"],
                lambda args, ctx: ctx.progress(1) or args["n"],
                js.Function("args", "return args.n"),
                js.Function("args", "ctx", "ctx.signal; ctx.progress(1); return Promise.resolve(args.n)"),
            ]
            inline = {{f"tool{{n}}": handlers[n % len(handlers)] for n in range({_AT_ONCE})}}
            session = await open_session(**inline)
            """
        )
        thread = stage.read("session.session_id")
        _call_in_parallel(
            shared, thread, 2 * MAX_REMEMBERED_CALLS
        )  # from here on, what is remembered is full
        before = stage.read("measure()")
        _call_in_parallel(shared, thread, _MANY)
        _assert_flat(before, stage.read("measure()"))


def _call_in_parallel(page: BrowserPage, thread: str, count: int) -> None:
    """Each caller has a tool of its own: equal calls at the same time would be one."""
    share = count // _AT_ONCE
    tools = [f"tool{number}" for number in range(_AT_ONCE)]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for results in pool.map(lambda tool: call_many(page.core, thread, tool, share), tools):
            assert results == list(range(share))


def test_ten_thousand_registrations_leave_proxies_and_memory_flat(shared: BrowserPage) -> None:
    shared.run(
        """globalThis.session = await new pedelec.Pedelec().createSession();
        session.onTool("kept", () => 1);"""
    )
    with browser_stage(shared) as stage:
        stage.run(_MEASURE)
        stage.run(
            """
            session = await open_session("a")
            function = js.Function("return 1")

            def cycle(times):
                for n in range(times):
                    session.on_tool("a", lambda: n)()
                    session.on_tool("a", function)()
                    session.on_status(lambda: n)()
            """
        )
        shared.run(
            """globalThis.cycle = (times) => {
              for (let n = 0; n < times; n++) {
                session.onTool("a", () => n)();
                session.onTool(() => n)();
                session.onStatus(() => n)();
                session.onTool("kept", () => n); // in the place of the one before
              }
            };"""
        )

        def cycle(times: int) -> None:
            stage.run(f"cycle({times})")
            shared.run("cycle(given)", times)

        cycle(50)
        before = stage.read("measure()")
        cycle(_MANY // 7)  # of seven registrations each
        _assert_flat(before, stage.read("measure()"))
    shared.run("await session.end()")
