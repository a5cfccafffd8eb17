"""A trial as the job that is really run."""

from __future__ import annotations

import dataclasses
import json
from base64 import b64encode
from dataclasses import dataclass

from sandbox_runtime.judge.integrity.exit_proof import ExitProof, ProofKind, exit_proof_for
from sandbox_runtime.judge.integrity.harness_source import Harness, start_program
from sandbox_runtime.judge.integrity.process_choice import needs_shared_process
from sandbox_runtime.judge.integrity.tokens import Tokens
from sandbox_runtime.model import Job
from sandbox_runtime.model.judge import Guard, GuardKind, Trial

PYTHON = "python"


@dataclass(frozen=True, slots=True)
class PreparedRun:
    """stdin: what the run gets in place of the case's own. evidence: what an exit code of 0 has to be accompanied by: "harness",
    "end mark", "summary", "exit code" where nothing more can be asked for, or "output" where what was printed is compared
    outside. harness: which one runs the tests, where one does."""

    job: Job
    stdin: bytes | None
    evidence: str = "output"
    harness: Harness | None = None
    exit_proof: ExitProof | None = None


def prepare(trial: Trial, nonce: str, *, given: bool = True) -> PreparedRun:
    """given: whether interpreters of boxes have the modules of the harness loaded (see modules.given)."""
    guard, job = _effective_guard(trial), trial.job
    stdin = trial.cases[0].stdin if trial.cases else job.stdin
    if guard.kind is GuardKind.none:
        return PreparedRun(job, stdin)
    if guard.kind is GuardKind.ending:
        return _with_exit_proof(job, stdin, nonce)
    harness = Harness.one_process if needs_shared_process(guard, job) else Harness.two_processes
    order = _order(guard, stdin, Tokens.of(nonce))
    program = start_program(harness, given=given)
    return PreparedRun(dataclasses.replace(job, language=PYTHON, code=program, stdin=order), order, "harness", harness)


def _effective_guard(trial: Trial) -> Guard:
    """A Python program that must only show its end is one without tests of their own."""
    guard, language = trial.guard, trial.job.language
    if guard.kind is not GuardKind.ending or language not in ("python", "pytest"):
        return guard
    return dataclasses.replace(guard, kind=GuardKind(language), solution=trial.job.code)


def _order(guard: Guard, stdin: bytes | None, tokens: Tokens) -> bytes:
    order = {
        "kind": guard.kind.value,
        "solution": guard.solution,
        "tests": guard.tests,
        "preamble": guard.preamble,
        "entry": guard.entry,
        "stdin": b64encode(stdin or b"").decode(),
        "report": tokens.report,
        "end": tokens.end,
    }
    return json.dumps(order, ensure_ascii=True).encode()


def _with_exit_proof(job: Job, stdin: bytes | None, nonce: str) -> PreparedRun:
    seal = exit_proof_for(job)
    if seal is None or (stdin and seal.kind is ProofKind.token):  # what a program reads for itself cannot be told from the token
        return PreparedRun(job, stdin, "exit code")
    sealed = seal.with_token(Tokens.of(nonce).end)
    asked = sealed.stdin if seal.kind is ProofKind.token else stdin
    return PreparedRun(sealed, asked, "summary" if seal.kind is ProofKind.summary else "end mark", exit_proof=seal)
