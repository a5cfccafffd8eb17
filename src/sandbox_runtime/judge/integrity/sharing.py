"""Which tests have to run in the process of the solution. Decided by their text alone: a solution has no say in it."""

from __future__ import annotations

import ast
import builtins
import re

from sandbox_runtime.model import Job
from sandbox_runtime.model.judging import Guard

_MODULES = (
    "os|io|subprocess|tempfile|shutil|pathlib|inspect|importlib|threading|multiprocessing|concurrent|signal|socket|gc|ctypes"
    "|builtins|types|contextlib|dis|pickle|weakref|logging|warnings|unittest\\.mock|mock|torch|matplotlib|flask|sqlite3"
)
_TYPES = "bool|bytes|complex|dict|float|frozenset|int|list|set|str|tuple|type"
_SHARES = re.compile(
    r"\b(?:mock|patch|monkeypatch|capsys|capfd|caplog|redirect_stdout|redirect_stderr|StringIO|BytesIO)\b"
    r"|\bsys\.(?:stdout|stderr|stdin|modules|argv|_getframe|settrace)\b"
    r"|\b(?:open|input|globals|locals|__import__)\("
    r"|^[ \t]*(?:async[ \t]+)?with[ \t]+(?!self\.assert|self\.subTest|pytest\.raises|np\.|numpy\.)"
    r"|\basync for\b|\.(?:send|throw)\("
    rf"|^[ \t]*assert\b[^\n\"'#]*\bis[ \t]+(?:not[ \t]+)?(?!(?:None|True|False|not|{_TYPES})\b)[A-Za-z_]"
    rf"|^[ \t]*(?:import|from)[ \t][^\n]*\b(?:{_MODULES})\b",
    re.MULTILINE,
)
"""Tests that replace parts of the solution's module, look at its frames, files or streams, drive its generators and
contexts, or ask whether
two objects are one."""
_CLASS = re.compile(r"^[ \t]*class[ \t]+(\w+)[ \t]*\(([^)\n]*)\)", re.MULTILINE)
_KNOWN_BASES = frozenset(
    ("object", "Exception", "ValueError", "TypeError", "RuntimeError", "Enum", "IntEnum", "NamedTuple", "TestCase", "")
)
_MADE = re.compile(r"(?<![.\w])([A-Z]\w*)\(")
_DEFINED = re.compile(r"^class[ \t]+(\w+)", re.MULTILINE)
_KNOWN_CLASSES = frozenset((*dir(builtins), "Solution", "Counter", "Decimal", "Fraction", "OrderedDict"))
_IMPORTS = (ast.Import, ast.ImportFrom)


def needs_shared_process(guard: Guard, job: Job) -> bool:
    """Whether the tests need objects that cannot cross between processes, or files that come with the job."""
    if guard.shared or job.files or not guard.tests.strip():
        return True
    return _SHARES.search(guard.tests) is not None or _extends_solution(guard.tests) or _computes_with_objects(guard)


def _extends_solution(tests: str) -> bool:
    """Whether a class of the tests is derived from one that they neither define nor know."""
    found = _CLASS.findall(tests)
    own = {name for name, _ in found}
    bases = {base.strip().rpartition(".")[2] for _, listed in found for base in listed.split(",")}
    return not bases <= own | _KNOWN_BASES


def _computes_with_objects(guard: Guard) -> bool:
    """Whether objects of classes that only the solution defines are compared or computed with: what they answer is then the
    solution's to say."""
    called = set(_MADE.findall(guard.tests)) - _KNOWN_CLASSES
    if not called:
        return False
    try:
        tree = ast.parse(guard.tests)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    defined = {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    defined |= {alias.asname or alias.name for node in ast.walk(tree) if isinstance(node, _IMPORTS) for alias in node.names}
    return _uses_as_operand(tree, called - defined - set(_DEFINED.findall(guard.preamble)))


def _uses_as_operand(tree: ast.Module, classes: set[str]) -> bool:
    objects = {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and _makes(node.value, classes)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    return any(
        _makes(operand, classes) or (isinstance(operand, ast.Name) and operand.id in objects)
        for node in ast.walk(tree)
        for operand in _operands(node)
    )


def _operands(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.Compare) and not all(isinstance(one, ast.Is | ast.IsNot) for one in node.ops):
        return [node.left, *node.comparators]
    return [node.left, node.right] if isinstance(node, ast.BinOp) else []


def _makes(node: ast.expr, classes: set[str]) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in classes
