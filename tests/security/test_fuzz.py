"""Inputs that nobody would send: no crash, no hang, no growing memory. `make fuzz` tries more of them."""

import gc
import resource
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from tests.security.mutations import CHANGES, as_text, damaged, relatives
from tests.security.targets import Frames, LocalLines, Registry

MAX_GROWTH_KIB = 64 * 1024
"""From the first tenth of the inputs to the last; what one input leaves behind is multiplied by thousands."""

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=20),
    st.sampled_from(["", "\x00", "\ud800", "#", "$ref", "object", "string", "a" * 300, 2**53, -1, 1e400]),
)
VALUES: SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=10), inner, max_size=4)
    ),
    max_leaves=8,
)
TYPES = ["hello", "create_session", "resume_session", "end_session", "submit_tool_result", "tool_progress",
         "get_approval_status", "request_approval", "offer_tools", "check_args", "ping", "nope"]  # fmt: skip
MEMBERS = ["requestId", "sessionId", "lastSeq", "toolRequestId", "result", "guidance", "tools", "tool",
           "args", "protocol", "autoEndOnDisconnect", "appName", "pageInstanceId", "id", "done"]  # fmt: skip
MESSAGES = st.builds(
    lambda name, members: {"type": name, **members},
    st.sampled_from(TYPES),
    st.dictionaries(st.sampled_from(MEMBERS), VALUES, max_size=8),
)
CREATED = st.builds(
    lambda tools, rest: {
        "type": "create_session",
        "requestId": "r",
        "guidance": "",
        "tools": tools,
        "autoEndOnDisconnect": True,
        **rest,
    },
    st.lists(VALUES, max_size=3),
    st.dictionaries(st.sampled_from(MEMBERS), VALUES, max_size=2),
)
REQUESTS = st.builds(
    lambda name, members: {"type": name, **members},
    st.sampled_from(["tool_call", "tool_list", "tool_spec", "threads", "tool_result", "status", "mcp"]),
    st.dictionaries(
        st.sampled_from(["tool", "argsText", "threadId", "timeoutMs", "callId", "invocationId"]),
        VALUES,
        max_size=5,
    ),
)
KEYWORDS = ["properties", "items", "allOf", "anyOf", "oneOf", "not", "$ref", "$defs", "pattern", "required",
            "enum", "const", "type", "additionalProperties", "patternProperties", "unevaluatedProperties",
            "minimum", "maxLength", "if", "then", "else", "$id", "$anchor", "$dynamicRef", "format",
            "dependentSchemas", "prefixItems", "contains", "uniqueItems", "$schema"]  # fmt: skip
SCHEMAS: SearchStrategy[Any] = st.recursive(
    st.one_of(
        SCALARS,
        st.sampled_from(["#", "#/$defs/a", "#a", "^(a+)+$", "(?=a)b", "[", "integer", ["string", "null"]]),
    ),
    lambda inner: st.one_of(
        st.dictionaries(st.sampled_from([*KEYWORDS, "a", "b"]), inner, max_size=4),
        st.lists(inner, max_size=3),
    ),
    max_leaves=10,
)
MANIFESTS = st.builds(
    lambda schema, rest: {
        "name": "probe",
        "description": "Probe.",
        "argsSchema": {"type": "object", **(schema if isinstance(schema, dict) else {"properties": schema})},
        **rest,
    },
    SCHEMAS,
    st.dictionaries(
        st.sampled_from(["name", "title", "timeoutMs", "resultSchema", "readOnly", "description"]),
        VALUES,
        max_size=1,
    ),
)


NOISE = st.binary(min_size=3 * CHANGES, max_size=3 * CHANGES)
FRAMES = st.tuples(st.one_of(MESSAGES, CREATED, VALUES), NOISE)
LINES = st.tuples(st.one_of(REQUESTS, VALUES), NOISE)
OFFERS = st.tuples(MANIFESTS, VALUES, NOISE)


def resident_kib() -> int:
    """Memory in use; where the system tells only of the most there ever was, that."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text().split()[1]) * (resource.getpagesize() // 1024)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def feed(inputs: SearchStrategy[Any], count: int, take: Callable[[Any], None]) -> None:
    """Try so many inputs, and look at the memory meanwhile."""
    examples = max(10, count // (2 * CHANGES))
    done = 0
    early = 0

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(inputs)
    def each(value: Any) -> None:
        nonlocal done, early
        take(value)
        done += 1
        if done == examples // 5:
            gc.collect()
            early = resident_kib()

    each()
    gc.collect()
    assert resident_kib() - early < MAX_GROWTH_KIB


@pytest.fixture
def share(request: pytest.FixtureRequest) -> int:
    """How many of the inputs each target gets."""
    return int(request.config.getoption("--fuzz")) // 3


@pytest.fixture
def lines(tmp_path: Path) -> Iterator[LocalLines]:
    target = LocalLines(tmp_path)
    yield target
    target.close()


@pytest.mark.timeout(0)
def test_any_frame_is_borne(share: int) -> None:
    target = Frames()

    def take(drawn: tuple[Any, bytes]) -> None:
        value, noise = drawn
        for frame in chain(map(as_text, relatives(value, noise)), damaged(as_text(value), noise)):
            target.take(frame)

    feed(FRAMES, share, take)
    assert len(target.hub.sessions) <= 16
    target.close()


@pytest.mark.timeout(0)
def test_anything_on_the_local_socket_is_borne(share: int, lines: LocalLines) -> None:
    def take(drawn: tuple[Any, bytes]) -> None:
        value, noise = drawn
        for text in chain(map(as_text, relatives(value, noise)), damaged(as_text(value), noise)):
            lines.take(text.encode("utf-8", "surrogatepass") + b"\n" + noise)

    feed(LINES, share, take)


@pytest.mark.timeout(0)
def test_any_manifest_and_any_arguments_are_borne(share: int) -> None:
    target = Registry()

    def take(drawn: tuple[Any, Any, bytes]) -> None:
        manifest, args, noise = drawn
        for each in relatives(manifest, noise):
            target.take([each], as_text(args))
        for text in damaged(as_text(args), noise):
            target.take([manifest], text)

    feed(OFFERS, share, take)
