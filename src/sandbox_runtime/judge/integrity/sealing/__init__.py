"""Programs whose exit code counts, in languages without a harness: sealed so that an exit code of 0 comes with a proof.

Contract: pure text. A sealed program asks for a token once its tests have run, and prints it; or the summary of its test runner
is read. Its text is the same in each trial, so that what was built once serves again. A program that leaves early shows
neither. A program without a seal is judged by its exit code, and the answer says so.
"""

from sandbox_runtime.judge.integrity.sealing.runners import ends_the_simulation
from sandbox_runtime.judge.integrity.sealing.seal import Asks, Seal
from sandbox_runtime.judge.integrity.sealing.seals import SEALS, seal_of

__all__ = ["SEALS", "Asks", "Seal", "ends_the_simulation", "seal_of"]
