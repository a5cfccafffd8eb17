"""What is made of a trial and of a run's output, without a box."""

from __future__ import annotations

import json

import pytest

from sandbox_runtime.judge.integrity import inspect, prepare
from sandbox_runtime.judge.integrity.exit_proof import EXIT_PROOFS
from sandbox_runtime.judge.integrity.secret_tokens import Tokens, read_report
from sandbox_runtime.languages import load_catalog
from sandbox_runtime.model import Ending, Job, JobResult, Outcome, Output
from sandbox_runtime.model.judge import Case, Guard, GuardKind, Trial

NONCE = "a nonce"
TOKENS = Tokens.of(NONCE)
PASSED = f"\x1e{TOKENS.end} passed \x1e".encode()


def python(solution: str = "", tests: str = "") -> Trial:
    return Trial(Job("python", solution + tests), guard=Guard(GuardKind.python, solution, tests))


def ending(language: str, code: str, **more: str) -> Trial:
    return Trial(Job(language, code), guard=Guard(GuardKind.ending, **more))


def ran(stdout: bytes | Output = b"", exit_code: int = 0, stderr: bytes = b"") -> JobResult:
    printed = stdout if isinstance(stdout, Output) else Output(stdout)
    return JobResult(None, Outcome(Ending.exited, exit_code, stdout=printed, stderr=Output(stderr)))


def test_the_tests_travel_over_standard_input_and_are_nowhere_in_the_program() -> None:
    prepared = prepare(python("answer = 1\n", "assert answer == 42\n"), NONCE)
    assert "42" not in prepared.job.code
    assert prepared.stdin is not None and "assert answer == 42" in json.loads(prepared.stdin)["tests"]
    assert prepared.evidence == "harness"


def test_a_box_without_the_harness_is_given_all_of_it() -> None:
    assert "class Comparer" in prepare(python(), NONCE, harness_preloaded=False).job.code


def test_a_trial_without_a_guard_is_run_as_it_is() -> None:
    trial = Trial(Job("cpp", "int main() {}"), cases=(Case(b"1"),))
    prepared = prepare(trial, NONCE)
    assert (prepared.job, prepared.stdin, prepared.evidence) == (trial.job, b"1", "output")
    assert inspect(trial, prepared, NONCE, ran(b"2")).finished


def test_our_words_are_taken_out_of_what_was_printed() -> None:
    told = read_report(Output(b"one\n" + f"\x1e{TOKENS.report} frames\x1e".encode() + b"two\n" + PASSED + b"three"), TOKENS)
    assert (told.words, told.result, told.stdout) == (("frames",), "passed", Output(b"one\ntwo\nthree"))


def test_the_end_is_found_in_the_tail_of_an_output_that_was_cut() -> None:
    told = read_report(Output(b"head", b"tail" + PASSED, 1000), TOKENS)
    assert (told.result, told.stdout) == ("passed", Output(b"head", b"tail", 1000))


@pytest.mark.parametrize(
    ("stdout", "exit_code", "finished", "tamper"),
    [
        (PASSED, 0, True, ()),
        (b"", 0, False, ("early_exit",)),
        (b"", 1, False, ()),
        (PASSED, 1, False, ()),
        (PASSED.replace(b"passed", b"failed"), 0, False, ("exit_code",)),
        (PASSED.replace(b"passed ", b"passed heap,frames"), 0, False, ("heap", "frames")),
        (b"\x1e" + b"0" * 32 + b" passed \x1e", 0, False, ("forged_end", "early_exit")),
        (b"\x1e" + b"0" * 32 + b" passed \x1e" + PASSED, 0, False, ("forged_end",)),
    ],
)
def test_only_the_token_with_exit_code_0_is_a_proof(
    stdout: bytes, exit_code: int, finished: bool, tamper: tuple[str, ...]
) -> None:
    trial = python()
    found = inspect(trial, prepare(trial, NONCE), NONCE, ran(stdout, exit_code))
    assert (found.finished, found.tamper) == (finished, tamper)


def test_what_must_be_printed_and_what_must_not_is_looked_for_in_both_streams() -> None:
    trial = ending("cobol", "", must_match=r"Mismatches: 0 in", must_not_match="FAILURE")
    prepared = prepare(trial, NONCE)
    assert prepared.evidence == "exit code"
    assert inspect(trial, prepared, NONCE, ran(b"Mismatches: 0 in 5 samples")).finished
    assert "does not match" in inspect(trial, prepared, NONCE, ran(b"Mismatches: 1 in 5 samples")).message
    assert "contains" in inspect(trial, prepared, NONCE, ran(b"Mismatches: 0 in 5", stderr=b"FAILURE")).message


def test_every_exit_proof_is_of_a_language_of_the_catalog() -> None:
    catalog = load_catalog("")
    assert all(catalog.find(name).name == name for name in EXIT_PROOFS)
