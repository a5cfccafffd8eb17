"""Modules that come as text: programs of ours that live in boxes, put where the guest's interpreter can import them."""

from __future__ import annotations

import sys
from types import ModuleType


def load(modules: list[tuple[str, str]]) -> None:
    """In order; a package comes before what lies in it. Then the function preload of each that has one is called."""
    made = [_create(name, source) for name, source in modules]
    for module in made:
        if hasattr(module, "preload"):
            module.preload()


def rehearsable(modules: list[tuple[str, str]]) -> list[str]:
    """Those with a function practise: it does what the module is for, with nothing that stays."""
    return [name for name, _ in modules if hasattr(sys.modules[name], "practise")]


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
