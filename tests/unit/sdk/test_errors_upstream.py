"""Failures of services are recognised by status, by type and by text, and nothing of theirs gets out."""

import asyncio
import email.utils
import ssl
import time
import urllib.error
from email.message import Message
from typing import Any

import httpx
import pytest
import requests

from pedelec import PedelecError
from pedelec.catalogue import Effects
from pedelec.errors import error_from_exception
from pedelec.failures import classify, retry_after
from pedelec.recovery import upstream_error
from tests.harness.tables import each_row
from tests.unit.sdk.scripted_core import answer_of

NOW = 1_700_000_000.0
SECRET = "hunter2"
URL = f"https://user:{SECRET}@api.example/v1/{SECRET}?key={SECRET}"


def httpx_error(status: int, **headers: str) -> httpx.HTTPStatusError:
    request = httpx.Request("GET", URL)
    response = httpx.Response(status, headers=headers, text=f"vendor code {SECRET}", request=request)
    with pytest.raises(httpx.HTTPStatusError) as caught:
        response.raise_for_status()
    return caught.value


def requests_response(status: int, **headers: str) -> requests.Response:
    response = requests.Response()
    response.status_code, response.url = status, URL
    response.headers.update(headers)
    return response


def requests_error(status: int) -> requests.HTTPError:
    with pytest.raises(requests.HTTPError) as caught:
        requests_response(status).raise_for_status()
    return caught.value


def urllib_error(status: int, **headers: str) -> urllib.error.HTTPError:
    message = Message()
    for name, value in headers.items():
        message[name] = value
    return urllib.error.HTTPError(URL, status, SECRET, message, None)


def javascript_error(name: str, message: str) -> Exception:
    error = Exception(message)
    error.foreign_type_name = name  # type: ignore[attr-defined]
    return error


def retry(value: str) -> dict[str, str]:
    return {"Retry-After": value}


CASES: list[tuple[Any, str, str]] = [
    (httpx_error(401), "auth", "authRequired"),
    (httpx_error(403), "auth", "authRequired"),
    (httpx_error(403, **retry("9")), "rate_limited", "retryable"),
    (httpx_error(404), "upstream_4xx", "permanent"),
    (httpx_error(408), "timeout", "retryable"),
    (httpx_error(422), "upstream_4xx", "permanent"),
    (httpx_error(429), "rate_limited", "retryable"),
    (httpx_error(500), "upstream_5xx", "retryable"),
    (httpx_error(501), "upstream_5xx", "permanent"),
    (httpx_error(503), "upstream_5xx", "retryable"),
    (httpx.Response(429), "rate_limited", "retryable"),
    (httpx.ReadTimeout("x"), "timeout", "retryable"),
    (httpx.ConnectTimeout("x"), "timeout", "retryable"),
    (httpx.ConnectError("x"), "upstream_5xx", "retryable"),
    (httpx.ProxyError("x"), "upstream_5xx", "retryable"),
    (requests.ConnectTimeout(), "timeout", "retryable"),
    (requests.exceptions.SSLError(), "unknown", "permanent"),
    (requests.exceptions.ChunkedEncodingError(), "upstream_5xx", "retryable"),
    (urllib.error.URLError(TimeoutError()), "timeout", "retryable"),
    (urllib.error.URLError(ssl.SSLCertVerificationError()), "unknown", "permanent"),
    (OSError(101, "Network is unreachable"), "upstream_5xx", "retryable"),
    ({"statusCode": "429"}, "rate_limited", "retryable"),
    (RuntimeError("Request failed with status code 404"), "upstream_4xx", "permanent"),
    (RuntimeError("HTTP 503"), "upstream_5xx", "retryable"),
    ("status: 401", "auth", "authRequired"),
    (requests_error(429), "rate_limited", "retryable"),
    (requests_response(401), "auth", "authRequired"),
    (requests.Timeout(), "timeout", "retryable"),
    (requests.ConnectionError(), "upstream_5xx", "retryable"),
    (urllib_error(503), "upstream_5xx", "retryable"),
    (urllib.error.URLError("x"), "upstream_5xx", "retryable"),
    (TimeoutError(), "timeout", "retryable"),
    (PermissionError(), "auth", "authRequired"),
    (ConnectionError(), "upstream_5xx", "retryable"),
    (ConnectionResetError(), "upstream_5xx", "retryable"),
    (asyncio.CancelledError(), "aborted", "permanent"),
    (javascript_error("AbortError", "The user aborted a request."), "aborted", "permanent"),
    (javascript_error("AbortError", "Failed to fetch"), "upstream_5xx", "retryable"),
    (javascript_error("TimeoutError", "signal timed out"), "timeout", "retryable"),
    (javascript_error("TypeError", "Failed to fetch"), "upstream_5xx", "retryable"),
    (
        javascript_error("TypeError", "NetworkError when attempting to fetch resource."),
        "upstream_5xx",
        "retryable",
    ),
    (javascript_error("NotAllowedError", "denied"), "auth", "authRequired"),
    ({"status": 502, "headers": {}}, "upstream_5xx", "retryable"),
    (RuntimeError("Rate limit exceeded"), "rate_limited", "retryable"),
    (RuntimeError("Invalid API key"), "auth", "authRequired"),
    (RuntimeError("The API key is missing"), "not_configured", "userInput"),
    (RuntimeError("request timed out"), "timeout", "retryable"),
    (RuntimeError("Service temporarily unavailable"), "upstream_5xx", "retryable"),
    ("connection refused", "upstream_5xx", "retryable"),
    (RuntimeError("no idea"), "unknown", "permanent"),
    (httpx.Response(200), "unknown", "permanent"),
    (None, "unknown", "permanent"),
    (object(), "unknown", "permanent"),
]


@each_row(("failure", "error_type", "error_class"), CASES)
def test_a_failure_is_recognised(failure: object, error_type: str, error_class: str) -> None:
    error = upstream_error(failure, service="the weather service", now=NOW)
    assert (error.error_type, error.error_class) == (error_type, error_class)
    assert error.code == "UPSTREAM_FAILED"
    assert error.message.startswith(("The weather service", "Access to", "The request to"))


@pytest.mark.parametrize(
    "failure", [httpx_error(401), requests_error(500), urllib_error(429), RuntimeError(f"no token={SECRET}")]
)
def test_nothing_of_the_services_words_gets_out(failure: Exception) -> None:
    told = [upstream_error(failure).to_wire(), error_from_exception(failure).to_wire()]
    assert SECRET not in str(told)
    assert "vendor" not in str(told)


def test_the_status_decides_before_type_and_text() -> None:
    error = ConnectionError("timed out")
    error.response = httpx.Response(404)  # type: ignore[attr-defined]
    assert classify(error).status == 404


def test_a_failure_that_cannot_be_looked_at_is_unknown() -> None:
    class Broken:
        def __getattr__(self, name: str) -> Any:
            raise RuntimeError(name)

    assert classify(Broken()).error_type == "unknown"


def test_only_what_never_reached_the_service_has_surely_had_no_effect() -> None:
    harmless = [
        *(httpx_error(429), httpx_error(401), httpx.ConnectError("x"), httpx.ConnectTimeout("x")),
        *(ConnectionRefusedError(), urllib.error.URLError(ConnectionRefusedError())),
    ]
    unsure = [httpx_error(500), httpx.ReadTimeout("x"), TimeoutError(), ConnectionResetError()]
    assert {classify(failure).effects for failure in harmless} == {Effects.NONE}
    assert {classify(failure).effects for failure in unsure} == {Effects.UNKNOWN}


# --- Retry-After ----------------------------------------------------------------------------------------


def at(seconds: float) -> str:
    return email.utils.formatdate(seconds, usegmt=True)


@each_row(
    ("value", "date", "now", "seconds"),
    [
        ("120", None, None, 120),
        (" 7 ", None, None, 7),
        ("1.5", None, None, 1.5),
        ("0", None, None, 0),
        (at(NOW + 90), None, NOW, 90),
        (at(NOW + 90), at(NOW + 30), NOW - 9_999, 60),
        (at(NOW - 90), None, NOW, 0),
        (at(NOW), None, None, None),
        ("Tue Nov 14 22:14:50 2023", None, NOW, 90),
        ("Tuesday, 14-Nov-23 22:14:50 GMT", None, NOW, 90),
        ("Tue, 14 Nov 2023 22:14:50 -0000", None, NOW, 90),
        ("soon", None, NOW, None),
        ("-5", None, NOW, None),
        ("", None, NOW, None),
        (None, None, NOW, None),
    ],
)
def test_a_retry_after_is_seconds_from_now(
    value: str | None, date: str | None, now: float | None, seconds: float | None
) -> None:
    assert retry_after(value, date, now) == seconds


@pytest.mark.parametrize(
    "failure",
    [
        httpx_error(429, **retry("7")),
        httpx_error(503, **retry(at(NOW + 7))),
        requests_response(429, **retry("7")),
        urllib_error(429, **retry("7")),
        {"status": 429, "headers": {"retry-after": "7"}},
        {"status": 429, "headers": {"Retry-After": 7}},
        {"status": 429, "headers": {"RETRY-AFTER": b"7"}},
        {"status": 429, "headers": {"retry-after": ["7"]}},
    ],
)
def test_the_delay_that_a_service_asks_for_is_passed_on(failure: object) -> None:
    assert upstream_error(failure, now=NOW).retry_after_seconds == 7


def test_a_date_without_a_zone_is_in_gmt_wherever_the_page_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        assert retry_after("Tue Nov 14 22:14:50 2023", None, NOW) == 90
    finally:
        monkeypatch.undo()
        time.tzset()


def test_one_failure_in_a_group_of_tasks_is_recognised() -> None:
    group = ExceptionGroup("tasks", [ExceptionGroup("more", [httpx_error(429, **retry("7"))])])
    assert error_from_exception(group).retry_after_seconds == 7
    assert upstream_error(group).error_type == "rate_limited"
    own = PedelecError("MINE", "Mine.")
    assert error_from_exception(ExceptionGroup("tasks", [own])) is own


def test_several_failures_in_a_group_of_tasks_are_all_told() -> None:
    error = error_from_exception(ExceptionGroup("tasks", [TimeoutError("slow"), KeyError("x")]))
    assert error.message == "TimeoutError: slow; KeyError: 'x'"
    assert (error.code, error.error_class) == ("TOOL_HANDLER_ERROR", "permanent")
    late = error_from_exception(ExceptionGroup("tasks", [TimeoutError(), httpx_error(429, **retry("7"))]))
    assert (late.error_class, late.retry_after_seconds) == ("retryable", 7)


async def test_a_failure_for_good_is_followed_by_no_repeat() -> None:
    error = upstream_error(httpx_error(404), service="the weather service")
    envelope = (await answer_of(lambda: error))["error"]
    (step,) = envelope["recoverySteps"]
    assert step.startswith("Do not repeat the same call: change what it asks of the weather service, or tell")


def test_a_delay_means_nothing_where_a_retry_is_of_no_use() -> None:
    assert upstream_error(httpx_error(404, **retry("7"))).retry_after_seconds is None


# --- what a handler lets through ----------------------------------------------------------------------------


def raised(error: BaseException) -> Any:
    def handler() -> None:
        raise error

    return handler


async def test_an_exception_of_a_handler_gets_the_class_of_its_failure() -> None:
    envelope = (await answer_of(raised(httpx_error(429, **retry("7")))))["error"]
    assert envelope["code"] == "TOOL_HANDLER_ERROR"
    assert (envelope["class"], envelope["retryAfterSeconds"]) == ("retryable", 7)
    assert envelope["errorType"] == "rate_limited"
    assert envelope["message"] == "HTTPStatusError: the service gets too many requests (HTTP 429)"


@pytest.mark.parametrize(
    "error",
    [ValueError("connection refused"), KeyError("timed out"), TypeError("rate limit"), RuntimeError("plain")],
)
async def test_a_programming_error_stays_one_whatever_its_text(error: Exception) -> None:
    assert error_from_exception(error).error_class == "permanent"


def test_an_error_of_pedelec_speaks_for_itself() -> None:
    error = PedelecError("MINE", "timed out")
    assert error_from_exception(error) is error
