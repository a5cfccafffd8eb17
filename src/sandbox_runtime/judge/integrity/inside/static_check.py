"""Whether a solution can be harmless only: no classes, no attributes set, no modules beyond the usual, no way to names by text.

Most solutions are. They cannot make objects that lie about themselves, nor change what belongs to others, so their tests run as
they are and nothing is looked for afterwards. Read from the compiled code, where nothing can hide behind spelling."""

from __future__ import annotations

import builtins
import opcode
from types import CodeType

from .reporter import BUILTINS  # type: ignore[import-not-found, import-untyped, unused-ignore]  # given beside us

globals()["__builtins__"] = BUILTINS

_MODULES = frozenset(
    (
        "__future__", "array", "bisect", "cmath", "collections", "collections.abc", "copy", "dataclasses", "datetime",
        "decimal", "fractions", "functools", "hashlib", "heapq", "itertools", "json", "math", "numbers", "numpy",
        "numpy.linalg", "operator", "queue", "random", "re", "statistics", "string", "sys", "textwrap", "time", "typing",
    )
)  # fmt: skip
_UNSAFE_NAMES = frozenset(
    (
        "type", "setattr", "getattr", "delattr", "vars", "globals", "locals", "exec", "eval", "compile", "object", "super",
        "breakpoint", "help", "open", "modules", "meta_path", "path_hooks", "excepthook", "unraisablehook", "displayhook",
        "addaudithook", "settrace", "setprofile", "monitoring", "attrgetter", "methodcaller", "get_type_hints",
        "make_dataclass", "new_class", "as_strided", "lib", "testing", "memmap", "loads", "load", "gi_frame", "cr_frame",
        "ag_frame", "tb_frame", "f_back", "types", "inspect", "os", "signal", "gc", "builtins", "abc", "enum", "threading",
        "weakref", "ctypes", "ctypeslib", "importlib", "subprocess", "pickle", "marshal", "seterrcall", "update_wrapper", "wraps",
    )
)  # fmt: skip
"""Names that lead to classes, to other modules, or from texts to names."""
_SAFE_DUNDERS = frozenset({"__name__", "__doc__", "__annotations__", "__len__", "__future__"})
_OPCODES = opcode.opmap
_MUTATING_OPCODES = bytes(
    _OPCODES[name]
    for name in ("LOAD_BUILD_CLASS", "STORE_ATTR", "DELETE_ATTR", "STORE_GLOBAL", "DELETE_GLOBAL")
    if name in _OPCODES
)
_IMPORT_NAME, _EXTENDED_ARG = _OPCODES["IMPORT_NAME"], _OPCODES["EXTENDED_ARG"]
_BUILTINS = frozenset(vars(builtins))


def is_harmless(code: CodeType) -> bool:
    """code: of the whole solution. One that gives a builtin another meaning is not plain."""
    own = _stored_names(code)
    if not own.isdisjoint(_BUILTINS):
        return False
    waiting = [code]
    while waiting:
        one = waiting.pop()
        if not _is_harmless_code(one, own):
            return False
        waiting += [constant for constant in one.co_consts if type(constant) is CodeType]
    return True


def _is_harmless_code(code: CodeType, own: set[str]) -> bool:
    for name in code.co_names:
        if name in _UNSAFE_NAMES or (name.startswith("_") and not _is_own(name, own)):
            return False
    operations = code.co_code[::2]
    if any(change in operations for change in _MUTATING_OPCODES):
        return False
    return _IMPORT_NAME not in operations or _imports_only_safe_modules(code, operations)


def _is_own(name: str, own: set[str]) -> bool:
    return name in _SAFE_DUNDERS if name.startswith("__") else name in own


def _imports_only_safe_modules(code: CodeType, operations: bytes) -> bool:
    arguments = code.co_code[1::2]
    for place, operation in enumerate(operations):
        if operation == _IMPORT_NAME:
            if place and operations[place - 1] == _EXTENDED_ARG:
                return False
            if code.co_names[arguments[place]] not in _MODULES:
                return False
    return True


def _stored_names(code: CodeType) -> set[str]:
    """Names that the outermost code binds."""
    store = _OPCODES["STORE_NAME"]
    operations, arguments = code.co_code[::2], code.co_code[1::2]
    return {
        code.co_names[arguments[place]]
        for place, one in enumerate(operations)
        if one == store and arguments[place] < len(code.co_names)
    }
