"""The forms a handler may have, and which handler answers."""

import asyncio
import functools
import operator
from collections.abc import Callable
from typing import Any

import pytest

from pedelec.context import ToolContext
from pedelec.errors import PedelecError
from pedelec.handlers import GENERIC_PARAMETERS, TOOL_PARAMETERS, HandlerTable, bind
from tests.harness.tables import each_row


class Thing:
    def method(self, args: Any, ctx: Any) -> Any:
        return (args, ctx)

    @classmethod
    def class_method(cls, args: Any) -> Any:
        return (args,)

    @staticmethod
    def static_method() -> Any:
        return ()

    def __call__(self, args: Any, ctx: Any) -> Any:
        return (args, ctx)

    def no_self() -> None:  # type: ignore[misc]
        """Cannot be called on an instance."""


def keyword_context(args: Any, *, ctx: Any) -> Any:
    return (args, ctx)


def only_keyword_context(*, ctx: Any) -> Any:
    return (ctx,)


def by_annotation(args: Any, where: ToolContext | None = None) -> Any:
    return (args, where)


def with_annotation(args: Any, where: ToolContext = None) -> Any:  # type: ignore[assignment]
    return (args, where)


def optional_args(args: Any = None, ctx: Any = None) -> Any:
    return (args, ctx)


def positional_only(args: Any, ctx: Any, /) -> Any:
    return (args, ctx)


def everything(*values: Any, **named: Any) -> Any:
    return values


def with_more(args: Any, ctx: Any, more: int = 3) -> Any:
    return (args, ctx, more)


@each_row(
    ("handler", "given"),
    [
        (lambda: (), ()),
        (lambda args: (args,), ("A",)),
        (lambda args, ctx: (args, ctx), ("A", "C")),
        (lambda payload, context: (payload, context), ("A", "C")),
        (lambda args, index=7: (args, index), ("A", 7)),
        (lambda args, _ctx=None: (args, _ctx), ("A", "C")),
        (with_annotation, ("A", "C")),
        (optional_args, ("A", "C")),
        (positional_only, ("A", "C")),
        (keyword_context, ("A", "C")),
        (only_keyword_context, ("C",)),
        (everything, ("A", "C")),
        (with_more, ("A", "C", 3)),
        (functools.partial(with_more, "X", more=4), ("X", "A", 4)),
        (functools.partial(keyword_context, ctx="mine"), ("A", "mine")),
        (functools.partial(optional_args, ctx="mine"), ("A", "mine")),
        (Thing().method, ("A", "C")),
        (Thing.class_method, ("A",)),
        (Thing.static_method, ()),
        (Thing(), ("A", "C")),
        (tuple, ("A",)),
        (functools.lru_cache(lambda args: (args,)), ("A",)),
    ],
)
def test_a_handler_is_passed_what_it_has_parameters_for(handler: Any, given: tuple[Any, ...]) -> None:
    assert bind(handler, TOOL_PARAMETERS)("A", "C") == given


def test_a_builtin_without_a_signature_is_passed_the_arguments() -> None:
    assert bind(max, TOOL_PARAMETERS)([1, 3, 2], "C") == 3
    assert bind(operator.itemgetter("a"), TOOL_PARAMETERS)({"a": 1}, "C") == 1


@pytest.mark.parametrize(
    ("handler", "given"),
    [
        (lambda: (), ()),
        (lambda tool: (tool,), ("T",)),
        (lambda tool, args: (tool, args), ("T", "A")),
        (lambda tool, args, ctx: (tool, args, ctx), ("T", "A", "C")),
        (everything, ("T", "A", "C")),
    ],
)
def test_a_generic_handler_is_passed_the_tool_too(handler: Any, given: tuple[Any, ...]) -> None:
    assert bind(handler, GENERIC_PARAMETERS)("T", "A", "C") == given


async def coroutine() -> None:
    pass


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: None, "NoneType is not callable"),
        (lambda: "name", "str is not callable"),
        (lambda: lambda a, b, c: None, "requires 3 positional"),
        (lambda: lambda a, *, key: None, "keyword 'key'"),
        (
            lambda: Thing().no_self,  # type: ignore[misc]
            "no call can satisfy",
        ),
        (coroutine, "without calling it"),
    ],
)
def test_what_cannot_be_called_is_refused_with_a_sentence(make: Callable[[], Any], reason: str) -> None:
    with pytest.raises(PedelecError) as caught:
        bind(make(), TOOL_PARAMETERS)
    assert caught.value.code == "INVALID_INPUT"
    assert reason in caught.value.message
    assert "(args, ctx)" in caught.value.message


def answer(table: HandlerTable, tool: str) -> Any:
    handler = table.find(tool)
    return None if handler is None else handler("A", "C")


def named(text: str) -> Callable[[], str]:
    return lambda: text


def test_named_comes_before_inline_before_generic() -> None:
    table = HandlerTable()
    table.replace_inline({"a": bind(named("inline"), TOOL_PARAMETERS)})
    off_generic = table.set_generic(lambda tool, args, ctx: f"generic {tool}")
    off_named = table.set_named("a", named("named"))
    assert (answer(table, "a"), answer(table, "b")) == ("named", "generic b")
    off_named()
    assert answer(table, "a") == "inline"
    table.replace_inline({})
    assert answer(table, "a") == "generic a"
    off_generic()
    assert answer(table, "a") is None


def test_a_disposer_removes_only_what_it_registered_and_may_be_called_twice() -> None:
    table = HandlerTable()
    same_function = named("first")
    first = table.set_named("a", same_function)
    second = table.set_named("a", same_function)
    first()
    first()
    assert answer(table, "a") == "first"
    second()
    second()
    assert answer(table, "a") is None
    old = table.set_generic(named("old"))
    table.set_generic(named("new"))
    old()
    assert answer(table, "x") == "new"


@pytest.mark.parametrize("name", ["__proto__", "constructor", "toString", "hasOwnProperty", "__class__"])
def test_names_that_mean_something_elsewhere_are_ordinary(name: str) -> None:
    table = HandlerTable()
    assert table.find(name) is None
    table.set_named(name, named("mine"))
    assert answer(table, name) == "mine"


def test_a_call_that_has_its_handler_keeps_it() -> None:
    table = HandlerTable()
    table.set_named("a", named("old"))
    running = table.find("a")
    table.set_named("a", named("new"))
    assert running is not None
    assert running("A", "C") == "old"


async def test_a_coroutine_passed_by_mistake_is_closed() -> None:
    started = coroutine()
    with pytest.raises(PedelecError):
        bind(started, TOOL_PARAMETERS)
    with pytest.raises(RuntimeError, match="already awaited"):
        await asyncio.wait_for(started, 1)
