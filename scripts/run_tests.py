"""Every test, and what failed once more.

Tests run side by side, on machines that may be busy with other things: one more at a time than there are cores, because many wait
for a limit or a process for a while. Up to ten that failed are run once more, alone. One that passes then depends on how busy the
machine is, which is a fault of the test or of the product: it is named at the end, so that it is mended. One that fails again has
failed the run.

    python scripts/run_tests.py [words for pytest]
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

CACHE = Path(".pytest_cache/v/cache/lastfailed")
MOST_AT_ONCE = 6
# Files in the order of their names: the last ones are short, so that no process waits long for another.
SIDE_BY_SIDE = ["-n", str(min((os.cpu_count() or 1) + 1, MOST_AT_ONCE)), "--dist", "loadfile", "--no-loadscope-reorder"]
ALONE = ["-n", "0", "--last-failed", "--last-failed-no-failures", "none"]
CHOOSING = {"--lf", "--last-failed", "--ff", "--failed-first"}
TESTS_FAILED = 1
MOST_AGAIN = 10


def main(words: list[str]) -> int:
    if not CHOOSING.intersection(words):
        CACHE.unlink(missing_ok=True)
    status = _pytest([*SIDE_BY_SIDE, *words])
    failed = _failed()
    if status != TESTS_FAILED or not 0 < len(failed) <= MOST_AGAIN:
        return status
    _tell("These failed, and are run once more with nothing beside them:", failed)
    status = _pytest([*words, *ALONE])
    again = _failed()
    shaky = [name for name in failed if name not in again]
    if shaky:
        _tell("NEEDED A SECOND RUN, alone on the machine, to pass. Mend what they depend on:", shaky)
    if again:
        _tell("FAILED TWICE:", again)
    return status


def _pytest(words: list[str]) -> int:
    return subprocess.run([sys.executable, "-m", "pytest", *words]).returncode


def _failed() -> list[str]:
    return sorted(json.loads(CACHE.read_text())) if CACHE.exists() else []


def _tell(headline: str, names: list[str]) -> None:
    line = "=" * 100
    print("", line, headline, *(f"  {name}" for name in names), line, sep="\n", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
