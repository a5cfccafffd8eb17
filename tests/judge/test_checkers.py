"""Ways to compare an output with the expected one."""

from __future__ import annotations

import pytest

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.judge.checkers import find_checker
from sandbox_runtime.judge.checkers.program import read_checker_result
from sandbox_runtime.model import Ending, Outcome, Output, Reason

RIGHT, WRONG, LAYOUT = Reason.accepted, Reason.wrong_answer, Reason.presentation

SEEN = [
    ("exact", "a b\n", "a b\n", RIGHT),
    ("exact", "a b\n", "a b", LAYOUT),
    ("exact", "a b\n", "a c\n", WRONG),
    ("trimmed", "a b\nc\n", "  a b \nc\n\n", RIGHT),
    ("trimmed", "a b\nc\n", "a b c\n", LAYOUT),
    ("trimmed", "a\n", "A\n", WRONG),
    ("lines", "1\n2\n", "1\n2\n\n", RIGHT),
    ("lines", "1\n2\n", "1\n2", RIGHT),
    ("lines", "", "\n", RIGHT),
    ("lines", "YES\n", "  yes \n", RIGHT),
    ("lines", "1\n2\n", "1 2\n", LAYOUT),
    ("lines", "1\n2\n", "1\n\n2\n", LAYOUT),
    ("lines", "1\n2\n", "1\n3\n", WRONG),
    ("lines", "1 2\n", "1  2\n", WRONG),
    ("lines", "3.14159265\n", "3.1415926\n", RIGHT),
    ("lines", "100000\n", "100000.9\n", RIGHT),
    ("lines", "100000\n", "100002\n", WRONG),
    ("lines", "0\n", "0.0000000000000001\n", RIGHT),
    ("lines", "0\n", "0.00001\n", WRONG),
    ("lines", "1.0 2.0\n", "1.0 2.000000001\n", WRONG),
    ("lines", "10\n", "1_0\n", WRONG),
    ("lines", "nan\n", "0\n", WRONG),
    ("lines", "inf\n", "-inf\n", WRONG),
    ("lines", "1e400\n", "7\n", WRONG),
    ("tokens", "1.0  2.0\n", "1.0\n2.000001\n", RIGHT),
    ("tokens", "Yes\n", "yes", RIGHT),
    ("tokens", "1000000\n", "1000000.1\n", WRONG),
    ("tokens", "1 2\n", "1 2 3\n", WRONG),
    ("tokens", "", "", RIGHT),
    ("unordered", "a\nb\nb\n", "b\na\nb", RIGHT),
    ("unordered", "a\nb\nb\n", "b\na\na", WRONG),
    ("unordered", "a\n", "a\nc\n", WRONG),
]


@pytest.mark.parametrize(("name", "expected", "printed", "reason"), SEEN)
def test_what_a_checker_finds(name: str, expected: str, printed: str, reason: Reason) -> None:
    assert find_checker(name, {})(expected, printed).reason is reason


def test_floats_have_the_tolerances_of_the_problem() -> None:
    loose = find_checker("floats", {"absolute": 0.1, "relative": 0})
    assert loose("1.0 x", "1.05 x").passed and not loose("1.0", "1.2").passed and not loose("x", "y").passed
    relative = find_checker("floats", {"absolute": 0, "relative": 1e-3})
    assert relative("1000000", "1000900").passed and not relative("1", "1.01").passed


@pytest.mark.parametrize("printed", ["\x00\ufffd\ud800", "9" * 5000, "\u2028\x0b\x0c", "٣"])
@pytest.mark.parametrize("name", ["exact", "trimmed", "lines", "tokens", "floats", "unordered"])
def test_no_output_is_too_odd(name: str, printed: str) -> None:
    assert find_checker(name, {})("3", printed).reason in (WRONG, LAYOUT)


def test_a_message_tells_where_and_stays_short() -> None:
    message = find_checker("lines", {})("a\n" * 3, f"a\n{'x' * 10_000}\na").message
    assert message.startswith("line 2: ") and len(message) < 300


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("none", {}),
        ("lines", {"absolute": 1}),
        ("floats", {"absolute": -1}),
        ("floats", {"relative": "1"}),
        ("floats", {"nan": 1}),
    ],
)
def test_a_checker_that_does_not_exist_or_options_that_make_no_sense_are_refused(name: str, options: dict[str, object]) -> None:
    with pytest.raises(InvalidRequest):
        find_checker(name, options)


@pytest.mark.parametrize(("code", "reason"), [(0, RIGHT), (1, WRONG), (2, LAYOUT), (7, WRONG)])
def test_exit_codes_of_checker_programs(code: int, reason: Reason) -> None:
    found = read_checker_result(Outcome(Ending.exited, code, stderr=Output(b"some words\n")))
    assert found is not None and found.reason is reason and found.message in ("", "some words")


@pytest.mark.parametrize(
    "outcome",
    [
        Outcome(Ending.exited, 3),
        Outcome(Ending.exited, 139),
        Outcome(Ending.signaled, signal=11),
        Outcome(Ending.timed_out),
        Outcome(Ending.exited, 1, stderr=Output(b"Traceback\nNameError: name 'x' is not defined\n")),
    ],
)
def test_a_checker_that_fails_says_nothing_of_the_answer(outcome: Outcome) -> None:
    assert read_checker_result(outcome) is None


def test_a_python_checker_that_cannot_read_the_answer_finds_it_wrong() -> None:
    trace = b"Traceback (most recent call last):\nValueError: invalid literal for int()\n"
    found = read_checker_result(Outcome(Ending.exited, 1, stderr=Output(trace)))
    assert found is not None and found.reason is WRONG
