"""After many runs of every kind nothing is left: no process, mount, cgroup, descriptor or folder, and no memory in the server.

SANDBOX_SOAK_RUNS=5000 makes it the full soak, which takes minutes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import skip_where_the_host_lacks
from tests.isolation.kernel.cgroup_helpers import SOURCE

RUNS = int(os.environ.get("SANDBOX_SOAK_RUNS", "80"))
ENOUGH_FOR_MEMORY = 5000
LIMIT_S = 100 + RUNS // 3
REPOSITORY = Path(__file__).parent.parent.parent


def soak(backend: str, python: str, state_dir: Path, runs: int) -> dict[str, Any]:
    """In a separate server process, where nothing else grows."""
    state_dir.mkdir()
    environment = {"PYTHONPATH": ":".join([SOURCE, str(REPOSITORY), *sys.path]), "PATH": os.environ["PATH"]}
    words = [sys.executable, "-m", "tests.isolation.soak", backend, python, str(state_dir), str(runs)]
    answer = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=LIMIT_S, cwd=REPOSITORY)
    assert answer.returncode == 0, answer.stderr
    found: dict[str, Any] = json.loads(answer.stdout)
    return found


@pytest.mark.timeout(LIMIT_S)
@pytest.mark.parametrize(("backend", "share"), [("namespaces", 1), ("bubblewrap", 10), ("none", 10)])
def test_nothing_is_left_of_many_runs(
    backend: str, share: int, guest_python: str, tmp_path: Path, record_property: Any, capsys: Any
) -> None:
    skip_where_the_host_lacks(backend)
    runs = RUNS // share
    found = soak(backend, guest_python, tmp_path / "state", runs)
    growth = found["memory_after"] / found["memory_before"] - 1
    with capsys.disabled():
        print(f"\n{backend}: {runs} runs in {found['took_s']:.1f} s, server memory {growth:+.1%}, {found['endings']}")
    record_property("memory_growth", growth)
    assert sum(found["endings"].values()) == runs and "lost" not in found["endings"]
    assert found["after"] == found["before"]
    assert (found["closed"]["processes"], found["closed"]["groups"]) == (0, 0)
    if runs >= ENOUGH_FOR_MEMORY:
        assert growth <= 0.05
