"""The targets that people know."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.requirement("fusion-1.01")
@pytest.mark.parametrize(
    ("words", "command"),
    [
        (["run"], "serve --host 127.0.0.1 --port 8080"),
        (["run", "HOST=0.0.0.0", "PORT=9000"], "serve --host 0.0.0.0 --port 9000"),
        (["run-online"], "serve --host 127.0.0.1 --port 8080"),
        (["run-dev"], "serve --host 127.0.0.1 --port 8080 --reload"),
        (["test-case", "CASE=fork_bomb"], '-k "fork_bomb"'),
        (["test-case-pdb", "CASE=fork_bomb"], "--pdb"),
        (["check"], "mypy"),
        (["test-mcp"], "scripts/mcp/conformance.py"),
    ],
)
def test_a_target_does_what_its_name_says(words: list[str], command: str) -> None:
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    told = subprocess.run(["make", "-n", *words], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True).stdout
    last = [line for line in told.splitlines() if command in line]
    assert last and (("--reload" in last[0]) is (words == ["run-dev"]))
