"""What tests lean on, as it was before the solution ran: builtins, the modules that assert for them, the classes in those."""

from __future__ import annotations

import builtins
import operator
import os
import sys
from types import FunctionType, ModuleType
from typing import Any

from .audit_hook import is_trusted  # type: ignore[import-not-found, import-untyped, unused-ignore]  # given beside us
from .reporter import BUILTINS  # type: ignore[import-not-found, import-untyped, unused-ignore]  # given beside us

globals()["__builtins__"] = BUILTINS

_MODULES = (
    *("math", "cmath", "operator", "statistics", "fractions", "decimal", "functools", "itertools", "collections", "ast"),
    *("unittest", "unittest.case", "unittest.loader", "unittest.main", "unittest.result", "unittest.runner", "unittest.suite"),
    *("numpy", "numpy.testing", "numpy.testing._private.utils", "pytest", "pandas", "pandas.testing"),
    *("_pytest.python", "_pytest.runner", "_pytest.reports", "_pytest.outcomes", "_pytest.python_api", "_pytest.raises"),
)
_CLASSES = (
    *(("fractions", "Fraction"), ("collections", "Counter"), ("collections", "UserList"), ("collections", "UserDict")),
    *(("unittest.case", "TestCase"), ("unittest.result", "TestResult"), ("unittest.suite", "TestSuite")),
    *(("unittest.loader", "TestLoader"), ("unittest.runner", "TextTestRunner"), ("_pytest.python", "Function")),
    *(("_pytest.reports", "TestReport"), ("_pytest.runner", "CallInfo")),
    *(("ast", "NodeVisitor"), ("ast", "NodeTransformer")),
)
_is, _dict_of = operator.is_, type.__dict__["__dict__"].__get__


class NameSnapshot:
    """The names of a module or class, and what they stood for."""

    __slots__ = ("_names", "_owner", "_values")

    def __init__(self, owner: Any) -> None:
        kept = dict(_namespace(owner))
        for name in ("__builtins__", "__warningregistry__", "_"):
            kept.pop(name, None)
        self._owner = owner
        self._names = tuple(kept)
        self._values = tuple(kept.values())

    def is_replaced(self) -> bool:
        return not all(map(_is, map(_namespace(self._owner).get, self._names), self._values))


class PristineState:
    """Taken once, before any solution; costs a box nothing."""

    def __init__(self) -> None:
        self._builtins = NameSnapshot(builtins)
        self._modules = {name: sys.modules[name] for name in _MODULES if name in sys.modules}
        self._names = [NameSnapshot(module) for module in self._modules.values()]
        for module, name in _CLASSES:
            if module in self._modules:
                self._names.append(NameSnapshot(vars(self._modules[module])[name]))

    def builtins_replaced(self) -> bool:
        return self._builtins.is_replaced()

    def modules_replaced(self) -> bool:
        """Those that were loaded later are looked at for code that is not their own."""
        if any(names.is_replaced() for names in self._names):
            return True
        return any(self._is_wrong(name) for name in _MODULES if name in sys.modules)

    def _is_wrong(self, name: str) -> bool:
        module, original = sys.modules[name], self._modules.get(name)
        if original is not None:
            return module is not original
        if type(module) is not ModuleType or not is_trusted(os.path.realpath(getattr(module, "__file__", None) or "/")):
            return name not in sys.builtin_module_names
        return any(map(_is_foreign, vars(module).values()))


def _namespace(owner: Any) -> Any:
    return owner.__dict__ if isinstance(owner, ModuleType) else _dict_of(owner)


def _is_foreign(value: object) -> bool:
    """A function, or a method of a class, that came from elsewhere. Some libraries make functions from text."""
    if isinstance(value, FunctionType):
        filename = value.__code__.co_filename
        return not is_trusted(filename) and not filename.startswith("<")
    if not isinstance(value, type):
        return False
    methods = (getattr(one, "__func__", one) for one in _dict_of(value).values())
    return any(isinstance(one, FunctionType) and _is_foreign(one) for one in methods)
