"""Exit proofs: for languages without a harness, change a program so that exit code 0 comes with a proof.

Contract: pure text. The program requests a token after its tests have run, and prints it; or the summary of its test runner is
read. Its text is the same in each trial, so that builds can be reused. A program that exits early shows neither. A program
without an exit proof is judged by its exit code, and the response says so.
"""

from sandbox_runtime.judge.integrity.exit_proof.proof import ExitProof, ProofKind
from sandbox_runtime.judge.integrity.exit_proof.registry import EXIT_PROOFS, exit_proof_for
from sandbox_runtime.judge.integrity.exit_proof.runners import ends_simulation

__all__ = ["EXIT_PROOFS", "ExitProof", "ProofKind", "ends_simulation", "exit_proof_for"]
