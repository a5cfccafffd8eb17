"""Turn a trial into the job that actually runs."""

from __future__ import annotations

import dataclasses
import json
from base64 import b64encode
from dataclasses import dataclass

from sandbox_runtime.judge.integrity.exit_proof import ExitProof, ProofKind, exit_proof_for
from sandbox_runtime.judge.integrity.harness_source import Harness, start_program
from sandbox_runtime.judge.integrity.process_choice import needs_shared_process
from sandbox_runtime.judge.integrity.secret_tokens import Tokens
from sandbox_runtime.model import Job
from sandbox_runtime.model.judge import Guard, GuardKind, Trial

PYTHON = "python"


@dataclass(frozen=True, slots=True)
class PreparedRun:
    job: Job
    stdin: bytes | None
    """Standard input of the run, instead of the case's."""
    evidence: str = "output"
    """What exit code 0 must come with: "harness", "end mark", "summary", "exit code" (nothing more can be required), or "output"
    (the output is compared outside the box)."""
    harness: Harness | None = None
    """The harness that runs the tests, if one does."""
    exit_proof: ExitProof | None = None


def prepare(trial: Trial, nonce: str, *, harness_preloaded: bool = True) -> PreparedRun:
    """Return the run. harness_preloaded: whether the interpreters of boxes have the harness modules loaded."""
    guard, job = _effective_guard(trial), trial.job
    stdin = trial.cases[0].stdin if trial.cases else job.stdin
    if guard.kind is GuardKind.none:
        return PreparedRun(job, stdin)
    if guard.kind is GuardKind.ending:
        return _with_exit_proof(job, stdin, nonce)
    harness = Harness.one_process if needs_shared_process(guard, job) else Harness.two_processes
    order = _order(guard, stdin, Tokens.of(nonce))
    program = start_program(harness, preloaded=harness_preloaded)
    return PreparedRun(dataclasses.replace(job, language=PYTHON, code=program, stdin=order), order, "harness", harness)


def _effective_guard(trial: Trial) -> Guard:
    """Treat a Python program that must only prove its end as a solution without tests."""
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
    proof = exit_proof_for(job)
    # A program that reads its own standard input could not tell it from the token.
    if proof is None or (stdin and proof.kind is ProofKind.token):
        return PreparedRun(job, stdin, "exit code")
    proving = proof.with_token(Tokens.of(nonce).end)
    if proof.kind is ProofKind.summary:
        return PreparedRun(proving, stdin, "summary", exit_proof=proof)
    return PreparedRun(proving, proving.stdin, "end mark", exit_proof=proof)
