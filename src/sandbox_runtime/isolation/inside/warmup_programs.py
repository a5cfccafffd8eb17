"""Harmless programs that run before a real one, so that the memory it needs is already copied."""

from __future__ import annotations

from collections.abc import Sequence

_SMALL = "print(sum(range(10)), [str(n) for n in {1: 2}], file=say)\n"
_EXERCISES = {
    "numpy": "numpy.arange(6).reshape(2, 3).sum(axis=0)",
    "pandas": "print(pandas.DataFrame({'a': [1, 2], 'b': [1.5, 2.5]}).sum(), pandas.Series([1, 2]).sum(), file=say)",
}
"""What programs usually do with a module after importing it."""


def rehearsal(modules: Sequence[str]) -> str:
    """Return a program that prints to a file object named `say`, which must be defined."""
    imports = [f"import {name}\n" for name in modules]
    return "".join([_SMALL, *imports, *(f"{_EXERCISES[name]}\n" for name in modules if name in _EXERCISES)])


def program(modules: Sequence[str]) -> str:
    """Return the rehearsal as a complete program."""
    return f"say = None\n{rehearsal(modules)}"
