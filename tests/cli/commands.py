"""The `sandbox` command as a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

COMMAND = [sys.executable, "-c", "from sandbox_runtime.cli.main import main; main()"]


def clean_environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SANDBOX_")}
    return {**kept, "COLUMNS": "200", **more}


def sandbox(
    *arguments: str, cwd: Path | None = None, stdin: bytes = b"", **environment: str
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*COMMAND, *arguments], input=stdin, capture_output=True, timeout=100, cwd=cwd, env=clean_environment(**environment)
    )
