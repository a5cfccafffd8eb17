"""Run the tests, and run failed ones once more.

Tests run in one process more than there are cores, because many wait for a limit or a process. Up to ten that failed run once
more, alone. One that passes then depends on how busy the machine is, which is a defect of the test or of the product: it is
listed at the end. One that fails again fails the run.

    python scripts/run_tests.py [--all] [arguments of pytest]

Without --all the tests that are marked slow do not run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

CACHE = Path(".pytest_cache/v/cache/lastfailed")
MAX_PROCESSES = 6
PARALLEL = ["-n", str(min((os.cpu_count() or 1) + 1, MAX_PROCESSES)), "--dist", "loadfile", "--no-loadscope-reorder"]
ALONE = ["-n", "0", "--last-failed", "--last-failed-no-failures", "none"]
SELECTORS = {"--lf", "--last-failed", "--ff", "--failed-first"}
TESTS_FAILED = 1
MAX_RERUN = 10
FAST = ["-m", "not slow"]


def main(words: list[str]) -> int:
    words = [word for word in words if word != "--all"] if "--all" in words else [*FAST, *words]
    if not SELECTORS.intersection(words):
        CACHE.unlink(missing_ok=True)
    status = _pytest([*PARALLEL, *words])
    failed = _failed()
    if status != TESTS_FAILED or not 0 < len(failed) <= MAX_RERUN:
        return status
    _print_names("These failed and run once more, alone:", failed)
    status = _pytest([*words, *ALONE])
    again = _failed()
    flaky = [name for name in failed if name not in again]
    if flaky:
        _print_names("NEEDED A SECOND RUN, alone, to pass. Fix what they depend on:", flaky)
    if again:
        _print_names("FAILED TWICE:", again)
    return status


def _pytest(words: list[str]) -> int:
    return subprocess.run([sys.executable, "-m", "pytest", *words]).returncode


def _failed() -> list[str]:
    return sorted(json.loads(CACHE.read_text())) if CACHE.exists() else []


def _print_names(headline: str, names: list[str]) -> None:
    line = "=" * 100
    print("", line, headline, *(f"  {name}" for name in names), line, sep="\n", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
