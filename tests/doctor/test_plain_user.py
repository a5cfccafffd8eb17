"""The whole corpus in deployments of a user who is not root, on both backends at once."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import site
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import skip_where_the_host_lacks

import sandbox_runtime
from sandbox_runtime.doctor import load_corpus
from sandbox_runtime.doctor.diagnosis import WEAKER_AS_PLAIN_USER
from sandbox_runtime.model import Layer

pytestmark = [pytest.mark.root, pytest.mark.attack, pytest.mark.slow]

USER = 12345
BACKENDS = ("namespaces", "bubblewrap")
SANDBOX = "from sandbox_runtime.cli.main import main; main()"
LIMIT_S = 560


@pytest.fixture(scope="module")
def reports(guest_python: str) -> Iterator[dict[str, dict[str, Any]]]:
    """What doctor --attack says, by backend."""
    if os.geteuid() != 0:
        pytest.skip("only root can become another user; as a plain user the other tests are this one")
    for backend in BACKENDS:
        skip_where_the_host_lacks(backend)
    home = tempfile.mkdtemp(prefix="plain-user-")
    os.chown(home, USER, USER)
    with contextlib.ExitStack() as open_named_backend:
        open_named_backend.callback(shutil.rmtree, home)
        python = interpreter_for_all(home)
        running = {name: doctor(python, home, guest_python, name) for name in BACKENDS}
        for process in running.values():
            open_named_backend.callback(process.wait, LIMIT_S)
            open_named_backend.callback(process.kill)
        yield {name: json.loads(finish(process)) for name, process in running.items()}


def as_plain_user(python: str, home: str, code: str, *arguments: str, **environment: str) -> subprocess.Popen[bytes]:
    paths = [str(Path(sandbox_runtime.__file__).parent.parent), *site.getsitepackages()]
    env = {"PATH": os.environ["PATH"], "HOME": home, "PYTHONPATH": ":".join(paths), "PYTHONDONTWRITEBYTECODE": "1", **environment}
    # setpriv still has root's rights while it starts a program; env, started by it, has none.
    become = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "/usr/bin/env"]
    return subprocess.Popen(
        [*become, python, "-c", code, *arguments], env=env, cwd=home, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def interpreter_for_all(home: str) -> str:
    """Ours may lie where only root can read."""
    complaint = b""
    for python in (sys.executable, f"/usr/bin/python{sys.version_info[0]}.{sys.version_info[1]}"):
        if os.access(python, os.X_OK):
            process = as_plain_user(python, home, "import sandbox_runtime.cli.main, pydantic, rich")
            complaint = process.communicate(timeout=60)[1]
            if process.returncode == 0:
                return python
    pytest.skip(f"no interpreter that another user can start sees this package: {complaint.decode()[-200:]}")


def doctor(python: str, home: str, guest_python: str, backend: str) -> subprocess.Popen[bytes]:
    arguments = ("doctor", "--attack", "--json", "-", "--isolation", backend)
    state = {"SANDBOX_STATE_DIR": f"{home}/{backend}", "SANDBOX_GUEST_PYTHON": guest_python}
    return as_plain_user(python, home, SANDBOX, *arguments, **state)


def finish(process: subprocess.Popen[bytes]) -> bytes:
    out, err = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 0, err.decode() or out.decode()
    return out


@pytest.mark.parametrize("backend", BACKENDS)
def test_nothing_gets_out_of_a_plain_users_boxes(backend: str, reports: dict[str, dict[str, Any]]) -> None:
    report = reports[backend]
    assert report["failures"] == []
    assert report["host"]["user"] == f"plain user {USER}"
    assert {row["attack"] for row in report["attacks"]} == {one.name for one in load_corpus()}
    assert {row["state"] for row in report["attacks"]} <= {"held", "not_applicable"}


@pytest.mark.parametrize("backend", BACKENDS)
def test_only_limits_over_many_processes_are_weaker_for_a_plain_user(backend: str, reports: dict[str, dict[str, Any]]) -> None:
    standing = {row["layer"]: row["standing"] for row in reports[backend]["layers"]}
    assert {layer for layer, state in standing.items() if state != "proven"} <= {layer.value for layer in WEAKER_AS_PLAIN_USER}
    needy = {one.name for one in load_corpus() if one.needs}
    for row in reports[backend]["attacks"]:
        if row["state"] == "not_applicable":
            assert row["attack"] in needy or {Layer(name) for name in row["layers"]} <= WEAKER_AS_PLAIN_USER
