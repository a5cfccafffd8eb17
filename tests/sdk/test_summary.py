"""One word for a run, and many calls at once."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.sdk import (
    LANGUAGES,
    MAJOR_LANGUAGES,
    MINOR_LANGUAGES,
    RunCodeResponse,
    SummaryMapping,
    run_concurrent,
    summary_run_code_result,
)

OK = {"status": "Finished", "return_code": 0}
BAD = {"status": "Finished", "return_code": 1}
LATE = {"status": "TimeLimitExceeded", "return_code": None}
WORDS = SummaryMapping(Success="ok", Failed="bad", CompileFailed="CE", CompileTimeout="CTLE", RunFailed="RE", RunTimeout="TLE")


def ended(status: str, compiled: dict[str, Any] | None, ran: dict[str, Any] | None) -> RunCodeResponse:
    return RunCodeResponse.model_validate({"status": status, "message": "", "compile_result": compiled, "run_result": ran})


@pytest.mark.requirement("fusion-13.09")
@pytest.mark.parametrize(
    ("answer", "word", "plain"),
    [
        (ended("Success", None, OK), "ok", "Success"),
        (ended("Success", OK, OK), "ok", "Success"),
        (ended("Failed", None, BAD), "RE", "Failed"),
        (ended("Failed", OK, BAD), "RE", "Failed"),
        (ended("Failed", None, LATE), "TLE", "Failed"),
        (ended("Failed", BAD, None), "CE", "Failed"),
        (ended("Failed", LATE, None), "CTLE", "Failed"),
        (ended("Failed", None, None), "bad", "Failed"),
        (ended("SandboxError", None, None), "SandboxError", "SandboxError"),
    ],
)
def test_each_way_to_end_has_its_word(answer: RunCodeResponse, word: str, plain: str) -> None:
    assert summary_run_code_result(answer, WORDS) == word
    assert summary_run_code_result(answer) == plain


def test_calls_are_made_with_args_with_kwargs_or_both() -> None:
    assert run_concurrent(pow, [(2, 3), (3, 2)]) == [8, 9]
    assert run_concurrent(dict, kwargs=[{"a": 1}, {"b": 2}]) == [{"a": 1}, {"b": 2}]
    assert run_concurrent(int, [("10",), ("11",)], [{"base": 2}, {"base": 8}], concurrency=1) == [2, 9]
    assert run_concurrent(pow, []) == []


@pytest.mark.parametrize("arguments", [{}, {"args": [(1,)], "kwargs": []}, {"args": [], "concurrency": 0}])
def test_calls_that_make_no_sense_are_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest):
        run_concurrent(print, **arguments)


def test_an_error_of_one_call_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        run_concurrent(lambda number: 1 // number, [(number,) for number in (1, 0, 1)], concurrency=2)


@pytest.mark.requirement("fusion-3.04")
def test_major_and_minor_languages_are_those_of_the_protocol() -> None:
    assert len(LANGUAGES) == 29 and (LANGUAGES[0], LANGUAGES[-1]) == ("python", "racket")
    assert len(MAJOR_LANGUAGES) == 12 and len(MINOR_LANGUAGES) == 9
    assert not set(MAJOR_LANGUAGES) & set(MINOR_LANGUAGES) and {*MAJOR_LANGUAGES, *MINOR_LANGUAGES} < set(LANGUAGES)
