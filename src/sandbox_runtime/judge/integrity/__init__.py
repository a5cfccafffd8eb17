"""Integrity of grading: keep a program from grading itself when its tests run in its own process.

Contract: pure. prepare() turns a trial into the job that actually runs. inspect() reads its result: whether the tests provably
ran to the end, how the program tampered with its grading (words below), and its output without our messages. Neither uses boxes.
`inside/` is the code that runs there; harness_modules() returns it for spawners. A successful exit without proof does not count.

Tamper words: early_exit, exit_code, forged_end, fork, signals, frames, heap, tracing, memory, disguise, test_code, builtins,
modules, rebinding, comparison, skipping, pytest_files. docs/concepts/integrity.md explains each, and what is not detected.
"""

from sandbox_runtime.judge.integrity.harness_source import Harness, harness_modules
from sandbox_runtime.judge.integrity.inspection import Finding, inspect
from sandbox_runtime.judge.integrity.preparation import PreparedRun, prepare

__all__ = ["Finding", "Harness", "PreparedRun", "harness_modules", "inspect", "prepare"]
