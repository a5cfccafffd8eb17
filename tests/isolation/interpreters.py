"""Find Python interpreters on this machine."""

from __future__ import annotations

import glob
import os
import shutil
import subprocess
from collections.abc import Iterator

VERSIONS = ("3.10", "3.11", "3.12", "3.13")
QUESTION = "import os, sys; print('%d.%d' % sys.version_info[:2], os.path.realpath(sys.executable))"


def version_of(python: str) -> str:
    """Return the version, such as "3.11"; empty if it is not an interpreter or only a script that starts one."""
    try:
        answer = subprocess.run([python, "-c", QUESTION], capture_output=True, text=True, timeout=30, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return ""
    version, executable = answer.split()
    return version if executable == os.path.realpath(python) else ""


def find_interpreter(version: str) -> str | None:
    """Through PATH, or among those of pyenv."""
    return next((path for path in _candidates(version) if version_of(path) == version), None)


def _candidates(version: str) -> Iterator[str]:
    on_path = shutil.which(f"python{version}")
    if on_path:
        yield on_path
    root = os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv")
    yield from sorted(glob.glob(f"{root}/versions/{version}.*/bin/python{version}"))
