"""Modules passed as source text: our own programs that run in boxes, loaded importable for the guest's interpreter."""

from __future__ import annotations

import sys
from types import ModuleType


def load(modules: list[tuple[str, str]]) -> None:
    """Load the modules in order; a package must come before its submodules. Then call the function `preload` of each that has
    one."""
    loaded = [_create(name, source) for name, source in modules]
    for module in loaded:
        if hasattr(module, "preload"):
            module.preload()


def rehearsable(modules: list[tuple[str, str]]) -> list[str]:
    """Return the modules with a function `warm_up`, which exercises the module without lasting effects."""
    return [name for name, _ in modules if hasattr(sys.modules[name], "warm_up")]


def _create(name: str, source: str) -> ModuleType:
    module = sys.modules[name] = ModuleType(name)
    parent, _, last = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], last, module)
    else:
        module.__path__ = []
    module.__package__ = parent or name
    exec(compile(source, f"<{name}>", "exec"), module.__dict__)
    return module
