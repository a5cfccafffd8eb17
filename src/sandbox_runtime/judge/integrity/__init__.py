"""Integrity against graded code: a program that is graded by code in its own process is kept from grading itself.

Contract: pure. prepare() makes of a trial the job that is really run; inspect() reads its result: whether the end of the tests
was shown, what the program did to its own grading (in words, below), and what it printed without our marks. Neither knows of
boxes. `inside/` is what runs there; given() hands it to spawners. Nothing of a trial is believed that was not shown: a run that
ends well without a proof is not finished.

Words of tamper: early_exit, exit_code, forged_end, fork, signals, frames, heap, tracing, memory, disguise, test_code, builtins,
modules, rebinding, comparison, skipping, pytest_files. docs/concepts/integrity.md tells what each means, and what is not seen.
"""

from sandbox_runtime.judge.integrity.harness_source import Harness, harness_modules
from sandbox_runtime.judge.integrity.inspection import Finding, inspect
from sandbox_runtime.judge.integrity.preparation import PreparedRun, prepare

__all__ = ["Finding", "Harness", "PreparedRun", "harness_modules", "inspect", "prepare"]
