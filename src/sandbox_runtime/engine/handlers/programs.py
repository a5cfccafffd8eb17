"""The programs that call handlers: for Python injected modules of a preset, for JavaScript a file."""

from __future__ import annotations

import functools
from importlib import resources

PACKAGE = "_sandbox_handler"
"""Package name of these modules in the box."""
START_PYTHON = f"from {PACKAGE}.call import run\nrun()\n"


@functools.cache
def injected_modules() -> tuple[tuple[str, str], ...]:
    connection = _text("sandbox_runtime.engine.contexts.inside", "connection.py")
    return ((PACKAGE, ""), (f"{PACKAGE}.connection", connection), (f"{PACKAGE}.call", _text(f"{__package__}.inside", "call.py")))


@functools.cache
def javascript() -> str:
    return _text(f"{__package__}.inside", "call.js")


def _text(package: str, name: str) -> str:
    return resources.files(package).joinpath(name).read_text(encoding="utf-8")
