"""Run as root, the conformance suite is run once more as a plain user, who has neither rights nor control groups."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.isolation.kernel.cgroup_helpers import SOURCE

PLAIN_USER = 54321
SUITE = ("commands", "streams", "processes", "limits", "warm_boxes", "shared_files")
ROOM = Path(__file__).parent
REPOSITORY = ROOM.parent.parent
CHECK = "import subprocess, sys, pytest, pytest_asyncio, sandbox_runtime\nsubprocess.run([sys.executable, '-c', ''], check=True)"
"""setpriv starts with root's rights what the user could not: an interpreter counts when it can start itself once more."""


@pytest.fixture
def home() -> Iterator[str]:
    """A folder of the user's own; those of pytest are closed to others."""
    folder = tempfile.mkdtemp(prefix="plain-user-")
    os.chown(folder, PLAIN_USER, PLAIN_USER)
    yield folder
    shutil.rmtree(folder)


def as_plain_user(words: list[str], home: str, timeout_s: float) -> subprocess.CompletedProcess[str]:
    packages = [path for path in sys.path if path.endswith("site-packages")]
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": home,
        "TMPDIR": home,
        "PYTHONPATH": ":".join([SOURCE, *packages]),
        "PYTHONDONTWRITEBYTECODE": "1",
        **{name: value for name, value in os.environ.items() if name == "SANDBOX_GUEST_PYTHON"},
    }
    drop = ["setpriv", f"--reuid={PLAIN_USER}", f"--regid={PLAIN_USER}", "--clear-groups", "--"]
    command = [*drop, *words]
    return subprocess.run(command, env=environment, cwd=REPOSITORY, capture_output=True, text=True, timeout=timeout_s)


def python_for_plain_users(home: str) -> str:
    """The one that runs this, or the system's: the first may lie in a folder that is closed to others."""
    for python in (sys.executable, f"/usr/bin/python{sys.version_info[0]}.{sys.version_info[1]}"):
        try:
            if as_plain_user([python, "-c", CHECK], home, 30).returncode == 0:
                return python
        except OSError:
            continue
    pytest.skip("no interpreter with the tests' packages can be reached by a plain user")


@pytest.mark.skipif(os.geteuid() != 0, reason="the suite itself is run by a plain user already")
def test_the_suite_holds_for_a_plain_user(guest_python: str, home: str) -> None:
    python = python_for_plain_users(home)
    if as_plain_user(["unshare", "-Urm", "true"], home, 30).returncode:
        pytest.skip("this host lets plain users make no namespaces")
    modules = [str(ROOM / f"test_{name}.py") for name in SUITE]
    chosen = ["-k", "single-use or namespaces or shared_files", "-q", "--tb=short"]
    apart = ["-p", "no:cacheprovider", f"--basetemp={home}/pytest"]
    answer = as_plain_user([python, "-m", "pytest", *modules, *chosen, *apart], home, 110)
    passed = re.search(r"(\d+) passed", answer.stdout)
    assert answer.returncode == 0 and passed and int(passed[1]) > 50, answer.stdout[:6000] + answer.stderr[-1000:]
