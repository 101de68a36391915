"""Errors and results that `pedelec.recovery` makes."""

from pedelec import ToolError
from pedelec.recovery import (
    Alternative,
    choose_one,
    first_that_works,
    gather_parts,
    require_version,
    stale_call,
    upstream_error,
)
from tests.literal_agent.calls import Call
from tests.literal_agent.scenarios import MOVE, after, agrees, busy, fails, moving, picks, scenario, tool
from tests.literal_agent.stage import Json, Stage

CITIES = [
    {"id": "c1", "name": "Springfield", "state": "Illinois"},
    {"id": "c2", "name": "Springfield", "state": "Ohio"},
    {"id": "c3", "name": "Boston", "state": "Massachusetts"},
]


async def weather_page(stage: Stage, **options: object) -> None:
    def get_weather(args: Json) -> Json:
        return {"city": choose_one(args["city"], CITIES, **options)["id"], "days": args["days"]}  # type: ignore[arg-type]

    await stage.open_page(tool("get_weather", get_weather))


@scenario("AMBIGUOUS_CHOICE", reachable=True, user=picks("Springfield (Ohio)"))
async def two_of_one_name(stage: Stage) -> Call:
    await weather_page(stage)
    return Call("get_weather", {"city": "Springfield", "days": 2})


@scenario("AMBIGUOUS_CHOICE", reachable=True, user=picks("Boston"))
async def nearly_a_name_where_it_matters(stage: Stage) -> Call:
    await weather_page(stage, consequential=True)
    return Call("get_weather", {"city": "Bosten", "days": 2})


@scenario("AMBIGUOUS_CHOICE", reachable=False)
async def two_of_one_name_and_a_user_who_means_neither(stage: Stage) -> Call:
    await weather_page(stage)
    return Call("get_weather", {"city": "Springfield", "days": 2})


@scenario("NO_MATCH", reachable=False)
async def a_name_like_no_other(stage: Stage) -> Call:
    await weather_page(stage)
    return Call("get_weather", {"city": "Qxzy", "days": 2})


async def overview_page(stage: Stage, traffic: object, weather: object = lambda: 21) -> None:
    sources = {"weather": weather, "traffic": traffic}

    async def get_overview(args: Json) -> Json:
        wanted = args.get("parts", list(sources))
        return await gather_parts({name: sources[name] for name in wanted}, argument="parts")  # type: ignore[misc]

    await stage.open_page(tool("get_overview", get_overview))


@scenario("None", reachable=True)
async def a_part_that_comes_later(stage: Stage) -> Call:
    await overview_page(stage, after(stage, 4, busy(4)))
    return Call("get_overview", {"day": "today"})


@scenario("None", reachable=False)
async def a_part_that_never_comes(stage: Stage) -> Call:
    await overview_page(stage, fails(ToolError.permanent("NO_ROADS", "There are no roads here.")))
    return Call("get_overview", {"day": "today"})


@scenario("NO_PART_WORKED", reachable=True)
async def nothing_yet(stage: Stage) -> Call:
    await overview_page(stage, after(stage, 4, busy(4)), after(stage, 9, busy(9)))
    return Call("get_overview", {"day": "today"})


@scenario("NO_PART_WORKED", reachable=False)
async def nothing_at_all(stage: Stage) -> Call:
    await overview_page(stage, fails(ValueError()), fails(KeyError()))
    return Call("get_overview", {"day": "today"})


async def message_page(stage: Stage, error: BaseException, second: str = "sends an e-mail") -> None:
    async def tell_team(args: Json) -> Json:
        ways = [
            Alternative("chat", fails(error), "posts to the chat"),
            Alternative("mail", lambda: "sent", second),
        ]
        return await first_that_works(ways, allow=[args.get("channel", "")], argument="channel")

    await stage.open_page(tool("tell_team", tell_team))


@scenario("FALLBACK_NEEDS_CONSENT", reachable=True, user=agrees)
async def another_way_that_the_user_permits(stage: Stage) -> Call:
    await message_page(stage, ConnectionRefusedError())
    return Call("tell_team", {"text": "Done"})


@scenario("FALLBACK_NEEDS_CONSENT", reachable=False)
async def another_way_that_the_user_does_not_want(stage: Stage) -> Call:
    await message_page(stage, ConnectionRefusedError())
    return Call("tell_team", {"text": "Done"})


@scenario("NO_CHANNEL_WORKED", reachable=False)
async def a_way_that_may_have_worked(stage: Stage) -> Call:
    await message_page(stage, TimeoutError(), "posts to the chat")
    return Call("tell_team", {"text": "Done"})


@scenario("UPSTREAM_FAILED", reachable=True)
async def a_service_that_is_down_for_a_moment(stage: Stage) -> Call:
    failure = {"status": 503, "headers": {"Retry-After": "30"}}
    error = upstream_error(failure, service="the map service")
    await stage.open_page(*moving(after(stage, 30, error)))
    return MOVE


@scenario("UPSTREAM_FAILED", reachable=True, user=agrees)
async def a_service_that_wants_the_user_to_sign_in(stage: Stage) -> Call:
    signed_in = False

    def handler() -> object:
        nonlocal signed_in
        before, signed_in = signed_in, True
        return "moved" if before else upstream_error("token expired", service="the map service")

    await stage.open_page(*moving(handler))
    return MOVE


@scenario("UPSTREAM_FAILED", reachable=False)
async def a_service_that_has_nothing_of_that_name(stage: Stage) -> Call:
    await stage.open_page(*moving(fails(upstream_error({"status": 404}, service="the map service"))))
    return MOVE


@scenario("VERSION_CONFLICT", reachable=True)
async def a_document_that_has_changed(stage: Stage) -> Call:
    def set_text(args: Json) -> str:
        require_version(args["version"], 7, what="the document")
        return "written"

    look = tool("get_document", lambda: {"version": 7}, read_only=True)
    await stage.open_page(tool("set_text", set_text), look)
    return Call("set_text", {"text": "new", "version": 3})


@scenario("STALE_CALL", reachable=True, through=("get_dialog",))
async def a_dialog_that_is_closed(stage: Stage) -> Call:
    look = tool("get_dialog", lambda: None, read_only=True)
    await stage.open_page(tool("press", lambda: stale_call("the dialog was closed")), look)
    return Call("press", {"button": "OK"})
