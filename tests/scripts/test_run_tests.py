"""What `make test` does with tests that fail."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "scripts" / "run_tests.py"
TESTS = """
import pathlib
def test_good(): pass
def test_shaky():
    mark = pathlib.Path("mark")
    before, _ = mark.exists(), mark.touch()
    assert before
def test_bad(): assert not pathlib.Path("bad").exists()
"""


def run(folder: Path) -> tuple[int, str]:
    (folder / "test_three.py").write_text(TESTS)
    (folder / "pytest.ini").write_text("[pytest]\naddopts = -p no:asyncio -p no:timeout\n")
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(
        [sys.executable, SCRIPT, "-q", "-n", "0"], cwd=folder, env=own, capture_output=True, text=True, timeout=100
    )
    return done.returncode, done.stdout + done.stderr


def test_one_that_passes_alone_is_named(tmp_path: Path) -> None:
    status, told = run(tmp_path)
    assert status == 0, told
    assert "NEEDED A SECOND RUN" in told and told.rstrip().splitlines()[-2].endswith("::test_shaky")


def test_one_that_fails_twice_fails_the_run(tmp_path: Path) -> None:
    (tmp_path / "bad").touch()
    status, told = run(tmp_path)
    assert status == 1 and "FAILED TWICE" in told
    assert told.rstrip().splitlines()[-2].endswith("::test_bad")
