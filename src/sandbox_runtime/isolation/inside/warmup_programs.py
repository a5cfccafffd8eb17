"""Programs of no consequence, in whose steps others follow: what they touch is ready when a real one begins."""

from __future__ import annotations

from collections.abc import Sequence

_SMALL = "print(sum(range(10)), [str(n) for n in {1: 2}], file=say)\n"
_EXERCISES = {
    "numpy": "numpy.arange(6).reshape(2, 3).sum(axis=0)",
    "pandas": "print(pandas.DataFrame({'a': [1, 2], 'b': [1.5, 2.5]}).sum(), pandas.Series([1, 2]).sum(), file=say)",
}
"""What programs that import a module go on to do with it, as a rule."""


def rehearsal(modules: Sequence[str]) -> str:
    """What it has to say goes to `say`, which has to be there."""
    imports = [f"import {name}\n" for name in modules]
    return "".join([_SMALL, *imports, *(f"{_EXERCISES[name]}\n" for name in modules if name in _EXERCISES)])


def program(modules: Sequence[str]) -> str:
    """The same as a program of its own."""
    return f"say = None\n{rehearsal(modules)}"
