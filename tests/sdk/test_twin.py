"""The blocking client is what the generator makes of the other one, and has all of it."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox_runtime import sdk

GENERATOR = Path(__file__).parent.parent.parent / "scripts" / "unasync.py"
PAIRS = [(sdk.SandboxClient, sdk.SyncSandboxClient), (sdk.Sandbox, sdk.SyncSandbox), (sdk.Context, sdk.SyncContext)]
METHODS = [
    (ours, twin, name) for ours, twin in PAIRS for name, _ in inspect.getmembers(ours, inspect.isfunction) if name[0] != "_"
]


@pytest.mark.requirement("sdk-1.04")
def test_the_blocking_client_is_as_it_would_be_made_now() -> None:
    done = subprocess.run([sys.executable, str(GENERATOR), "--check"], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("ours", "twin", "name"), METHODS, ids=lambda value: getattr(value, "__name__", value))
def test_each_call_has_its_twin_which_takes_the_same(ours: type, twin: type, name: str) -> None:
    plain = getattr(twin, name)
    assert list(inspect.signature(plain).parameters) == list(inspect.signature(getattr(ours, name)).parameters)
    assert not inspect.iscoroutinefunction(plain) and not inspect.isasyncgenfunction(plain)


def test_examples_in_docstrings_are_those_of_the_twin() -> None:
    assert "with SyncSandbox() as box" in str(sdk.SyncSandbox.__doc__)
    assert "await" not in str(sdk.SyncSandbox.__doc__)
