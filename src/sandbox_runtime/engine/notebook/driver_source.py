"""How the driver comes into a box: as modules that its interpreter has loaded already, where boxes are forked from one that is
warm, and as files for every other."""

from __future__ import annotations

import functools
from importlib import resources

PACKAGE = "notebook_driver"
"""Its name in the box."""
START = "start.py"
_START_SOURCE = f"""import os, sys

sys.dont_write_bytecode = True
from {PACKAGE}.start import run

run(os.path.dirname(os.path.abspath(__file__)))
"""
_IN_ORDER = ("events", "kernel", "application", "driver", "start")
"""Each after those that it imports."""


@functools.cache
def injected_modules() -> tuple[tuple[str, str], ...]:
    """Name and source of each module, the package first."""
    return (PACKAGE, _source("__init__")), *((f"{PACKAGE}.{name}", _source(name)) for name in _IN_ORDER)


@functools.cache
def driver_files() -> tuple[tuple[str, bytes], ...]:
    """Name and content of each file: one to start by, and the package."""
    modules = [(f"{PACKAGE}/{name}.py", _source(name)) for name in ("__init__", *_IN_ORDER)]
    return tuple((name, source.encode()) for name, source in [(START, _START_SOURCE), *modules])


def _source(name: str) -> str:
    return resources.files(__package__).joinpath("inside", f"{name}.py").read_text(encoding="utf-8")
