"""Which handler answers a call, and how it is called.

Owns the lookup order (named, inline, found in the page, generic), the disposers, and the forms a handler may
have. Does not run handlers and knows neither sessions nor results.
"""

import functools
import inspect
import types
from collections.abc import Callable
from typing import Any

from pedelec.errors import Code, PedelecError
from pedelec.host import Handler, Host

type Bound = Callable[..., Any]
"""A handler that takes every value it could want and passes on those that it does."""

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_CONTEXT_NAMES = frozenset({"ctx", "context"})


class Registration:
    """What a registration gives back: called without arguments it takes the registration back.

    Used as a bare decorator it stands in for the function: called with arguments it calls that.
    """

    def __init__(self, function: object, dispose: Callable[[], None]) -> None:
        functools.update_wrapper(self, function, updated=())  # type: ignore[arg-type]
        self.function = function
        self._dispose = dispose

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if args or kwargs:
            return self.function(*args, **kwargs)  # type: ignore[operator]
        return self._dispose()


def bind(handler: object, parameters: tuple[str, ...], host: Host | None = None) -> Bound:
    """Make a callable of any form answer to all of `parameters`, given by position.

    It is passed as many of them as it has positional parameters. An optional parameter after the first is
    filled only if its name or annotation says that it is the context, so that `lambda args, i=i: …` keeps
    its `i`. A context may be keyword-only. A callable that shows no signature is passed the first alone
    (a generic handler: all).

    Raises:
        PedelecError: `INVALID_INPUT` where it cannot be called in any of these forms.
    """
    if isinstance(handler, Registration):
        handler = handler.function
    if host is not None and host.is_foreign(handler):
        handler = host.adapt_handler(handler)
        if handler is None:
            raise _refusal("It is not a function.", parameters)
    if not callable(handler):
        raise _refusal(_not_callable(handler), parameters)
    try:
        signature = inspect.signature(handler)
    except (TypeError, ValueError):
        if isinstance(handler, (types.FunctionType, types.MethodType, functools.partial)):
            raise _refusal("It has a signature that no call can satisfy.", parameters) from None
        return _first(handler, 1 if parameters[0] == "args" else len(parameters))
    return _fit(handler, signature, parameters)


def _fit(handler: Handler, signature: inspect.Signature, parameters: tuple[str, ...]) -> Bound:
    positional = [item for item in signature.parameters.values() if item.kind in _POSITIONAL]
    required = sum(item.default is item.empty for item in positional)
    if required > len(parameters):
        raise _refusal(f"It requires {required} positional parameters.", parameters)
    count = max(required, min(1, len(positional)))
    while count < min(len(positional), len(parameters)) and _is_context(positional[count]):
        count += 1
    if any(item.kind is item.VAR_POSITIONAL for item in signature.parameters.values()):
        count = len(parameters)
    keyword_only = [
        item
        for item in signature.parameters.values()
        if item.kind is item.KEYWORD_ONLY and item.name not in _given_keywords(handler)
    ]
    stray = [item.name for item in keyword_only if item.default is item.empty and not _is_context(item)]
    if stray:
        raise _refusal(f"It requires the keyword {stray[0]!r}.", parameters)
    context = next((item.name for item in keyword_only if _is_context(item)), None)
    if context is None or parameters[-1] != "ctx":
        return _first(handler, count)

    def with_context(*values: Any) -> Any:
        return handler(*values[: min(count, len(parameters) - 1)], **{context: values[-1]})

    return with_context


def _first(handler: Handler, count: int) -> Bound:
    def call(*values: Any) -> Any:
        return handler(*values[:count])

    return call


def _is_context(parameter: inspect.Parameter) -> bool:
    if parameter.name.strip("_") in _CONTEXT_NAMES:
        return True
    annotation = parameter.annotation
    name = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
    return name == "ToolContext"


def _given_keywords(handler: object) -> frozenset[str]:
    return frozenset(handler.keywords) if isinstance(handler, functools.partial) else frozenset()


def _not_callable(handler: object) -> str:
    if inspect.iscoroutine(handler):
        handler.close()
        return "It is a coroutine: pass the function itself, without calling it."
    return f"A {type(handler).__name__} is not callable."


def _refusal(reason: str, parameters: tuple[str, ...]) -> PedelecError:
    forms = ", ".join(f"({', '.join(parameters[:count])})" for count in range(len(parameters) + 1))
    problem = f"The handler cannot be called. {reason} It must be callable as one of {forms}."
    return PedelecError(Code.INVALID_INPUT, problem, details={"field": "handler"})


TOOL_PARAMETERS = ("args", "ctx")
GENERIC_PARAMETERS = ("tool", "args", "ctx")
QUESTION_PARAMETERS = ("question", "ctx")


class HandlerTable:
    """A session's handlers. Looked up anew by each call; a running call keeps the handler it started with.

    Both `set_…` return a disposer, which removes only what that registration set and may be called twice.
    """

    def __init__(self, host: Host | None = None) -> None:
        self._host = host
        self._named: dict[str, Bound] = {}
        self._inline: dict[str, Bound] = {}
        self._found: dict[str, Bound] = {}
        self._generic: Bound | None = None

    def set_named(self, tool: str, handler: object) -> Callable[[], None]:
        bound = bind(handler, TOOL_PARAMETERS, self._host)
        self._named[tool] = bound

        def dispose() -> None:
            if self._named.get(tool) is bound:
                del self._named[tool]

        return dispose

    def set_generic(self, handler: object) -> Callable[[], None]:
        bound = bind(handler, GENERIC_PARAMETERS, self._host)
        self._generic = bound

        def dispose() -> None:
            if self._generic is bound:
                self._generic = None

        return dispose

    def replace_inline(self, handlers: dict[str, Bound]) -> None:
        """The handlers that came with the tool definitions, bound already."""
        self._inline = dict(handlers)

    def replace_found(self, handlers: dict[str, Bound]) -> None:
        """The handlers of tools that were found in the page, bound already."""
        self._found = dict(handlers)

    def find(self, tool: str) -> Bound | None:
        """The handler of a call, to be called with `(args, ctx)`, or None."""
        bound = self._named.get(tool) or self._inline.get(tool) or self._found.get(tool)
        if bound is None and self._generic is not None:
            return functools.partial(self._generic, tool)
        return bound

    def names(self) -> set[str]:
        """The tools that have a handler of their own."""
        return {*self._named, *self._inline, *self._found}

    def has_generic(self) -> bool:
        return self._generic is not None
