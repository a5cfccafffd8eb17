"""The programs that call handlers: for Python as modules of a preset, for JavaScript as a file."""

from __future__ import annotations

import functools
from importlib import resources

PACKAGE = "_sandbox_handler"
"""The name of our modules in the box."""
START_PYTHON = f"from {PACKAGE}.calling import run\nrun()\n"


@functools.cache
def given() -> tuple[tuple[str, str], ...]:
    line = _text("sandbox_runtime.engine.contexts.inside", "line.py")
    return ((PACKAGE, ""), (f"{PACKAGE}.line", line), (f"{PACKAGE}.calling", _text(f"{__package__}.inside", "calling.py")))


@functools.cache
def javascript() -> str:
    return _text(f"{__package__}.inside", "calling.js")


def _text(package: str, name: str) -> str:
    return resources.files(package).joinpath(name).read_text(encoding="utf-8")
