"""What handlers may be given and what their ends are called: needs no box."""

from __future__ import annotations

import json

import pytest

from sandbox_runtime.engine.handlers import HandlerExitCode, check_code, check_event, exit_code, timeout_s
from sandbox_runtime.engine.handlers.result import HandlerResult, parse_result
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model import Ending, Outcome


@pytest.mark.parametrize(("timeout", "expected"), [(5, 5), (0, 300), (-1, 300), (9999, 3600), (0.5, 0.5)])
def test_the_event_may_set_the_time(timeout: float, expected: float) -> None:
    assert timeout_s({"__timeout": timeout, "timeout": 1}) == expected


def test_rules_of_what_is_given() -> None:
    assert timeout_s({}) == 300
    for wrong in ("5", True, float("nan"), float("inf"), 10**400):
        with pytest.raises(InvalidRequest, match="__timeout"):
            timeout_s({"__timeout": wrong})
    with pytest.raises(InvalidRequest, match="empty"):
        check_code(" \n")
    with pytest.raises(InvalidRequest, match="102400"):
        check_code("x" * 102_401)
    with pytest.raises(InvalidRequest, match="object"):
        check_event([1])


def test_codes_of_ends_that_no_handler_told() -> None:
    assert exit_code(Outcome(Ending.lost), None) == HandlerExitCode.system_error
    assert exit_code(Outcome(Ending.out_of_memory), HandlerResult("ok")) == 137
    assert exit_code(Outcome(Ending.exited, exit_code=0), None) == HandlerExitCode.raised


def test_what_a_program_says_is_checked() -> None:
    assert parse_result(None) is None and parse_result(b"nonsense") is None and parse_result(b'{"how": "boasting"}') is None
    assert parse_result(b'{"how": "ok", "value": 5}') == HandlerResult("not_serializable", None, "the value is not JSON")
    assert parse_result(b'{"how": "ok", "value": "NaN"}') == HandlerResult("not_serializable", None, "the value is not JSON")
    assert parse_result(b'{"how": "ok", "value": "[1]"}') == HandlerResult("ok", "[1]")
    deep = "[" * 300 + "]" * 300
    assert parse_result(json.dumps({"how": "ok", "value": deep}).encode()) == HandlerResult(
        "not_serializable", None, "the value is not JSON"
    )
