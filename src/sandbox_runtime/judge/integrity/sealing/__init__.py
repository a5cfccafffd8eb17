"""Programs whose exit code counts, in languages without a harness: sealed so that an exit code of 0 comes with a proof.

Contract: pure text. A sealed program reads a token from standard input once its tests have run, and prints it; or the summary of
its test runner is read. The text of a sealed program is the same in each trial, so that what was built once serves again. Names a
program that leaves early: no token, no summary. A language without a seal is judged by its exit code, and the answer says so.
"""

from sandbox_runtime.judge.integrity.sealing.seal import Seal
from sandbox_runtime.judge.integrity.sealing.seals import SEALS, seal_of

__all__ = ["SEALS", "Seal", "seal_of"]
