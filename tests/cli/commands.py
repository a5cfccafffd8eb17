"""The `sandbox` command as a process of its own."""

from __future__ import annotations

import atexit
import functools
import os
import subprocess
import sys
from pathlib import Path

from tests.cli.prepared import Prepared

COMMAND = [sys.executable, "-c", "from sandbox_runtime.cli.main import main; main()"]
"""Started from nothing, for what is to be signalled or looked at while it runs."""
WITHIN_S = 200.0


def clean_environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SANDBOX_")}
    return {**kept, "COLUMNS": "200", **more}


def sandbox(
    *arguments: str, cwd: Path | None = None, stdin: bytes = b"", **environment: str
) -> subprocess.CompletedProcess[bytes]:
    return run("sandbox_runtime.cli.main", *arguments, cwd=cwd, stdin=stdin, env=clean_environment(**environment))


def run(
    module: str, *arguments: str, env: dict[str, str], cwd: Path | None = None, stdin: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    """The main() of that module."""
    return _prepared().run(module, arguments, stdin, cwd, env, WITHIN_S)


@functools.cache
def _prepared() -> Prepared:
    """One for all tests of this process, made when the first of them asks."""
    made = Prepared()
    atexit.register(made.close)
    return made
