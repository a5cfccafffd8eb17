"""Decide which tests must run in the process of the solution. Uses only the text of the tests, which a solution cannot change."""

from __future__ import annotations

import ast
import builtins
import re

from sandbox_runtime.model import Job
from sandbox_runtime.model.judge import Guard

_MODULES = (
    "os|io|subprocess|tempfile|shutil|pathlib|inspect|importlib|threading|multiprocessing|concurrent|signal|socket|gc|ctypes"
    "|builtins|types|contextlib|dis|pickle|weakref|logging|warnings|unittest\\.mock|mock|torch|matplotlib|flask|sqlite3"
)
_TYPES = "bool|bytes|complex|dict|float|frozenset|int|list|set|str|tuple|type"
_NEEDS_SHARED = re.compile(
    r"\b(?:mock|patch|monkeypatch|capsys|capfd|caplog|redirect_stdout|redirect_stderr|StringIO|BytesIO)\b"
    r"|\bsys\.(?:stdout|stderr|stdin|modules|argv|_getframe|settrace)\b"
    r"|\b(?:open|input|globals|locals|__import__)\("
    r"|^[ \t]*(?:async[ \t]+)?with[ \t]+(?!self\.assert|self\.subTest|pytest\.raises|np\.|numpy\.)"
    r"|\basync for\b|\.(?:send|throw)\("
    rf"|^[ \t]*assert\b[^\n\"'#]*\bis[ \t]+(?:not[ \t]+)?(?!(?:None|True|False|not|{_TYPES})\b)[A-Za-z_]"
    rf"|^[ \t]*(?:import|from)[ \t][^\n]*\b(?:{_MODULES})\b",
    re.MULTILINE,
)
"""Tests that replace parts of the solution's module, inspect its frames, files or streams, drive its generators and contexts, or
compare object identity."""
_CLASS = re.compile(r"^[ \t]*class[ \t]+(\w+)[ \t]*\(([^)\n]*)\)", re.MULTILINE)
_KNOWN_BASES = frozenset(
    ("object", "Exception", "ValueError", "TypeError", "RuntimeError", "Enum", "IntEnum", "NamedTuple", "TestCase", "")
)
_CONSTRUCTOR_CALL = re.compile(r"(?<![.\w])([A-Z]\w*)\(")
_CLASS_NAME = re.compile(r"^class[ \t]+(\w+)", re.MULTILINE)
_KNOWN_CLASSES = frozenset((*dir(builtins), "Solution", "Counter", "Decimal", "Fraction", "OrderedDict"))
_IMPORTS = (ast.Import, ast.ImportFrom)


def needs_shared_process(guard: Guard, job: Job) -> bool:
    """Whether the tests need objects that cannot be sent between processes, or files of the job."""
    if guard.shared or job.files or not guard.tests.strip():
        return True
    return _NEEDS_SHARED.search(guard.tests) is not None or _subclasses_solution(guard.tests) or _computes_with_objects(guard)


def _subclasses_solution(tests: str) -> bool:
    """Whether a class of the tests is derived from one that the tests neither define nor import."""
    classes = _CLASS.findall(tests)
    own = {name for name, _ in classes}
    bases = {base.strip().rpartition(".")[2] for _, listed in classes for base in listed.split(",")}
    return not bases <= own | _KNOWN_BASES


def _computes_with_objects(guard: Guard) -> bool:
    """Whether the tests compare or compute with objects of classes that only the solution defines, so that the solution's code
    decides the result. A capital letter is not enough: `Find_Max(items) == 3` may be a function."""
    called = set(_CONSTRUCTOR_CALL.findall(guard.tests)) - _KNOWN_CLASSES - set(_CLASS_NAME.findall(guard.preamble))
    if not called:
        return False
    try:
        nodes = list(ast.walk(ast.parse(guard.tests)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    called -= {node.name for node in nodes if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    called -= {alias.asname or alias.name for node in nodes if isinstance(node, _IMPORTS) for alias in node.names}
    instances = _Instances(frozenset(called), nodes)
    is_class = any(isinstance(node, ast.Attribute) and instances.includes(node.value) for node in nodes)
    is_class |= any(isinstance(node, ast.BinOp) and any(map(instances.includes, _operands(node))) for node in nodes)
    is_class |= any(
        any(map(instances.includes, operands)) and sum(isinstance(operand, ast.Call) for operand in operands) > 1
        for operands in map(_operands, nodes)
    )
    return is_class and any(instances.includes(operand) for node in nodes for operand in _operands(node))


class _Instances:
    """Calls of these names, and variables that hold their results."""

    def __init__(self, called: frozenset[str], nodes: list[ast.AST]) -> None:
        self._called = called
        assigned = (node for node in nodes if isinstance(node, ast.Assign) and _constructs(node.value, called))
        self._names = {target.id for node in assigned for target in node.targets if isinstance(target, ast.Name)}

    def includes(self, node: ast.expr) -> bool:
        return _constructs(node, self._called) or (isinstance(node, ast.Name) and node.id in self._names)


def _operands(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.Compare) and not all(isinstance(operator, ast.Is | ast.IsNot) for operator in node.ops):
        return [node.left, *node.comparators]
    return [node.left, node.right] if isinstance(node, ast.BinOp) else []


def _constructs(node: ast.expr, classes: frozenset[str]) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in classes
