"""What came of a guarded run: whether its end was shown, and what it did to its own grading."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass, field

from sandbox_runtime.judge.integrity.assertions import failed_by_assertion
from sandbox_runtime.judge.integrity.exit_proof import ExitProof, ends_simulation
from sandbox_runtime.judge.integrity.preparation import PreparedRun
from sandbox_runtime.judge.integrity.tokens import HarnessReport, Tokens, read_report
from sandbox_runtime.model import Ending, JobResult, Outcome, Output
from sandbox_runtime.model.judge import Guard, GuardKind, Trial

VERILOG = "verilog"
EARLY_EXIT, EXIT_CODE, FORGED = "early_exit", "exit_code", "forged_end"


@dataclass(frozen=True, slots=True)
class Finding:
    """finished: the run ended well and everything that was asked for was shown. stdout: without what the guard printed.
    wrong_answer: an assertion of the tests failed."""

    finished: bool
    tamper: tuple[str, ...] = ()
    message: str = ""
    stdout: Output = field(default_factory=Output)
    wrong_answer: bool = False


def inspect(trial: Trial, prepared: PreparedRun, nonce: str, result: JobResult) -> Finding:
    """result: of prepared.job with prepared.stdin. A run that did not end with exit code 0 is finished in no case; how it ended
    is the outcome's to tell."""
    run = result.run
    if run is None:
        return Finding(False)
    if prepared.evidence == "harness":
        found = _harness_finding(read_report(run.stdout, Tokens.of(nonce)), run)
    elif prepared.exit_proof is not None:
        found = _exit_proof_finding(prepared.exit_proof, Tokens.of(nonce), result, run)
        if trial.job.language == VERILOG and ends_simulation(trial.extracted_code):
            found = Finding(False, (EARLY_EXIT,), "the design ends the simulation by itself", found.stdout)
    else:
        found = Finding(run.ok, (), "", run.stdout)
    if trial.guard.kind is GuardKind.ending and not found.tamper and failed_by_assertion(trial.job.language, run):
        found = dataclasses.replace(found, wrong_answer=True, message="an assertion failed")
    return _check_patterns(trial.guard, found, run)


def _harness_finding(told: HarnessReport, run: Outcome) -> Finding:
    tamper = list(told.words)
    if told.forged:
        tamper.append(FORGED)
    if run.ok and told.result in ("failed", "wrong_answer"):
        tamper.append(EXIT_CODE)
    if run.ok and not told.result and EARLY_EXIT not in tamper:
        tamper.append(EARLY_EXIT)
    finished = run.ok and told.result == "passed" and not tamper
    is_wrong = told.result == "wrong_answer" and run.ending is Ending.exited
    message = "" if finished else _message(told, tamper, run)
    return Finding(finished, tuple(dict.fromkeys(tamper)), message, told.stdout, is_wrong)


def _exit_proof_finding(seal: ExitProof, tokens: Tokens, result: JobResult, run: Outcome) -> Finding:
    shown, rest = seal.read(result, tokens.end)
    if not run.ok:
        return Finding(False, (), "", rest)
    if not shown:
        return Finding(False, (EARLY_EXIT,), "the program left with exit code 0 before its tests had ended", rest)
    return Finding(True, (), "", rest)


def _check_patterns(guard: Guard, found: Finding, run: Outcome) -> Finding:
    if not found.finished or not (guard.must_match or guard.must_not_match):
        return found
    printed = found.stdout.text + run.stderr.text
    if guard.must_match and not re.search(guard.must_match, printed):
        return Finding(False, found.tamper, f"the output does not hold {guard.must_match!r}", found.stdout)
    if guard.must_not_match and (hit := re.search(guard.must_not_match, printed)):
        return Finding(False, found.tamper, f"the output holds {hit[0][:80]!r}", found.stdout)
    return found


def _message(told: HarnessReport, tamper: list[str], run: Outcome) -> str:
    if tamper:
        return f"the program interfered with its own tests: {', '.join(dict.fromkeys(tamper))}"
    if told.message:
        return told.message
    return "" if told.result or not run.ok else "the program left before its tests had ended"
