"""The harness as text: modules for a preset, and a program that starts it."""

from __future__ import annotations

import functools
from importlib import resources

PACKAGE = "_sandbox_harness"
"""The name of our modules in the box."""
START = f"__import__('{PACKAGE}.harness').harness.run()\n"
"""The program of a box whose interpreter was given the modules."""
_ORDER = ("telling", "watching", "shielding", "originals", "comparing", "rewriting", "plainness", "collecting", "harness")


@functools.cache
def given() -> tuple[tuple[str, str], ...]:
    """Name and source of each, in the order in which they need each other."""
    return ((PACKAGE, ""), *((f"{PACKAGE}.{name}", _text(f"{name}.py")) for name in _ORDER))


@functools.cache
def whole_program() -> str:
    """For interpreters that were given nothing: brings the modules along."""
    return f"""
import sys
from types import ModuleType
for name, source in {given()!r}:
    module = sys.modules[name] = ModuleType(name)
    module.__package__ = "{PACKAGE}"
    module.__path__ = []
    setattr(sys.modules["{PACKAGE}"], name.rpartition(".")[2], module)
    exec(compile(source, f"<{{name}}>", "exec"), module.__dict__)
del name, source, module, sys, ModuleType
{START}"""


def _text(name: str) -> str:
    return resources.files(f"{__package__}.inside").joinpath(name).read_text(encoding="utf-8")
