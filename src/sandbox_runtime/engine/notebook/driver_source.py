"""Source of the driver: as modules preloaded by a warm interpreter, and as files for all other boxes."""

from __future__ import annotations

import functools
from importlib import resources

PACKAGE = "notebook_driver"
"""Package name of the driver in the box."""
START = "start.py"
_START_SOURCE = f"""import os, sys

sys.dont_write_bytecode = True
from {PACKAGE}.start import run

run(os.path.dirname(os.path.abspath(__file__)))
"""
_IN_ORDER = ("events", "kernel", "application", "driver", "start")
"""Each after its imports."""


@functools.cache
def injected_modules() -> tuple[tuple[str, str], ...]:
    """Return name and source of each module, the package first."""
    return (PACKAGE, _source("__init__")), *((f"{PACKAGE}.{name}", _source(name)) for name in _IN_ORDER)


@functools.cache
def driver_files() -> tuple[tuple[str, bytes], ...]:
    """Return name and content of each file: the entry script and the package."""
    modules = [(f"{PACKAGE}/{name}.py", _source(name)) for name in ("__init__", *_IN_ORDER)]
    return tuple((name, source.encode()) for name, source in [(START, _START_SOURCE), *modules])


def _source(name: str) -> str:
    return resources.files(__package__).joinpath("inside", f"{name}.py").read_text(encoding="utf-8")
