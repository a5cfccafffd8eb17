"""Ways to frames and to raw memory of which the interpreter tells nothing: they are replaced by ones that do.

Handlers of signals are given the frame that was interrupted: ours hand on None in its place, which every honest handler bears.
ctypes is there for its numbers; who takes more of it than that is told of. What our functions need lies in constants of their
code, where looking for it is told of too."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import sys
from collections.abc import Callable
from types import CodeType, FunctionType, ModuleType
from typing import Any

from .audit_hook import called_by_solution  # type: ignore[import-not-found, import-untyped, unused-ignore]  # given beside us
from .reporter import BUILTINS, Reporter  # type: ignore[import-not-found, import-untyped, unused-ignore]  # given beside us

globals()["__builtins__"] = BUILTINS

_HARMLESS = frozenset(
    (
        "sizeof", "alignment", "Structure", "Union", "Array", "BigEndianStructure", "LittleEndianStructure", "byref",
        "create_string_buffer", "create_unicode_buffer", "ArgumentError", "util", "_SimpleCData",
    )
)  # fmt: skip
_REAL, _LOOK = "\x1ereal", "\x1elook"
_real_signal = _signal.signal


def harden(reporter: Reporter) -> None:
    _signal.signal = _with_constants(_set_handler, {_REAL: _real_signal, _LOOK: _frameless})
    for name in ("ctypes", "_ctypes"):
        module = sys.modules.get(name)
        if type(module) is ModuleType:
            sys.modules[name] = _facade(module, reporter)


def _set_handler(signalnum, handler, /):  # type: ignore[no-untyped-def]  # annotations would lead from it to our names
    real = "\x1ereal"
    frameless = "\x1elook"
    return real(signalnum, frameless(handler))  # type: ignore[operator]


def _frameless(handler: Any) -> Any:
    if not callable(handler) or type(handler).__name__ == "builtin_function_or_method":
        return handler
    return lambda signalnum, _frame: handler(signalnum, None)


def _facade(module: ModuleType, reporter: Reporter) -> ModuleType:
    def look(name: str) -> None:
        if not name.startswith("__") and called_by_solution():
            reporter.report("memory")

    front = ModuleType(module.__name__)
    names = {name: value for name, value in vars(module).items() if name in _HARMLESS or name.startswith(("c_", "__"))}
    front.__dict__.update(names, __getattr__=_with_constants(_attribute, {_REAL: module, _LOOK: look}))
    return front


def _attribute(name, /):  # type: ignore[no-untyped-def]  # annotations would lead from it to our names
    module = "\x1ereal"
    look = "\x1elook"
    look(name)  # type: ignore[operator]
    return module.__getattribute__(name)


def _with_constants(function: Callable[..., Any], constants: dict[str, object]) -> FunctionType:
    """The function with constants in the places of their names, and with no globals to speak of."""
    code: CodeType = function.__code__
    held = tuple(constants.get(one, one) if type(one) is str else one for one in code.co_consts)
    return FunctionType(code.replace(co_consts=held), {"__builtins__": {}}, function.__name__.lstrip("_"))
