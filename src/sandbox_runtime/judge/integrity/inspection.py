"""Inspect the result of a guarded run: whether its end is proven, and how it tampered with its grading."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass, field

from sandbox_runtime.judge.integrity.assertions import failed_by_assertion
from sandbox_runtime.judge.integrity.exit_proof import ExitProof, ends_simulation
from sandbox_runtime.judge.integrity.preparation import PreparedRun
from sandbox_runtime.judge.integrity.secret_tokens import HarnessReport, Tokens, read_report
from sandbox_runtime.model import Ending, JobResult, Outcome, Output
from sandbox_runtime.model.judge import Guard, GuardKind, Trial

VERILOG = "verilog"
EARLY_EXIT, EXIT_CODE, FORGED = "early_exit", "exit_code", "forged_end"


@dataclass(frozen=True, slots=True)
class Finding:
    finished: bool
    """The run succeeded and every required proof was found."""
    tamper: tuple[str, ...] = ()
    message: str = ""
    stdout: Output = field(default_factory=Output)
    """Output without the guard's messages."""
    wrong_answer: bool = False
    """An assertion of the tests failed."""


def inspect(trial: Trial, prepared: PreparedRun, nonce: str, result: JobResult) -> Finding:
    """Inspect the result of prepared.job, run with prepared.stdin.

    A run that did not exit with code 0 is never finished; its outcome says how it ended.
    """
    run = result.run
    if run is None:
        return Finding(False)
    if prepared.evidence == "harness":
        finding = _harness_finding(read_report(run.stdout, Tokens.of(nonce)), run)
    elif prepared.exit_proof is not None:
        finding = _exit_proof_finding(prepared.exit_proof, Tokens.of(nonce), result, run)
        if trial.job.language == VERILOG and ends_simulation(trial.extracted_code):
            finding = Finding(False, (EARLY_EXIT,), "the design ends the simulation by itself", finding.stdout)
    else:
        finding = Finding(run.ok, (), "", run.stdout)
    if trial.guard.kind is GuardKind.ending and not finding.tamper and failed_by_assertion(trial.job.language, run):
        finding = dataclasses.replace(finding, wrong_answer=True, message="an assertion failed")
    return _check_patterns(trial.guard, finding, run)


def _harness_finding(report: HarnessReport, run: Outcome) -> Finding:
    tamper = list(report.words)
    if report.forged:
        tamper.append(FORGED)
    if run.ok and report.result in ("failed", "wrong_answer"):
        tamper.append(EXIT_CODE)
    if run.ok and not report.result and EARLY_EXIT not in tamper:
        tamper.append(EARLY_EXIT)
    finished = run.ok and report.result == "passed" and not tamper
    is_wrong = report.result == "wrong_answer" and run.ending is Ending.exited
    message = "" if finished else _message(report, tamper, run)
    return Finding(finished, tuple(dict.fromkeys(tamper)), message, report.stdout, is_wrong)


def _exit_proof_finding(exit_proof: ExitProof, tokens: Tokens, result: JobResult, run: Outcome) -> Finding:
    proven, rest = exit_proof.read(result, tokens.end)
    if not run.ok:
        return Finding(False, (), "", rest)
    if not proven:
        return Finding(False, (EARLY_EXIT,), "the program exited with code 0 before its tests had ended", rest)
    return Finding(True, (), "", rest)


def _check_patterns(guard: Guard, finding: Finding, run: Outcome) -> Finding:
    if not finding.finished or not (guard.must_match or guard.must_not_match):
        return finding
    printed = finding.stdout.text + run.stderr.text
    if guard.must_match and not re.search(guard.must_match, printed):
        return Finding(False, finding.tamper, f"the output does not match {guard.must_match!r}", finding.stdout)
    if guard.must_not_match and (hit := re.search(guard.must_not_match, printed)):
        return Finding(False, finding.tamper, f"the output contains {hit[0][:80]!r}", finding.stdout)
    return finding


def _message(report: HarnessReport, tamper: list[str], run: Outcome) -> str:
    if tamper:
        return f"the program interfered with its own tests: {', '.join(dict.fromkeys(tamper))}"
    if report.message:
        return report.message
    return "" if report.result or not run.ok else "the program exited before its tests had ended"
