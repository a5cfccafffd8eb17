"""Programs whose exit code counts, in languages without a harness: sealed so that an exit code of 0 comes with a proof.

Contract: pure text. A sealed program asks for a token once its tests have run, and prints it; or the summary of its test runner
is read. Its text is the same in each trial, so that what was built once serves again. A program that leaves early shows
neither. A program without a seal is judged by its exit code, and the answer says so.
"""

from sandbox_runtime.judge.integrity.exit_proof.proof import ExitProof, ProofKind
from sandbox_runtime.judge.integrity.exit_proof.registry import EXIT_PROOFS, exit_proof_for
from sandbox_runtime.judge.integrity.exit_proof.runners import ends_simulation

__all__ = ["EXIT_PROOFS", "ExitProof", "ProofKind", "ends_simulation", "exit_proof_for"]
