"""Which tests have to run in the process of the solution. Decided by their text alone: a solution has no say in it."""

from __future__ import annotations

import re

from sandbox_runtime.model import Job
from sandbox_runtime.model.judging import Guard, GuardKind

_MODULES = (
    "os|io|subprocess|tempfile|shutil|pathlib|inspect|importlib|threading|multiprocessing|concurrent|signal|socket|gc|ctypes"
    "|builtins|types|pytest|contextlib|dis|pickle|weakref|logging|warnings|unittest\\.mock|mock|torch|matplotlib|flask|sqlite3"
)
_SHARES = re.compile(
    r"\b(?:mock|patch|monkeypatch|capsys|capfd|caplog|redirect_stdout|redirect_stderr|StringIO|BytesIO)\b"
    r"|\bsys\.(?:stdout|stderr|stdin|modules|argv|_getframe|settrace)\b"
    r"|\b(?:open|input|globals|locals|__import__)\("
    rf"|^[ \t]*(?:import|from)[ \t][^\n]*\b(?:{_MODULES})\b",
    re.MULTILINE,
)
"""Tests that replace parts of the solution's module, look at its frames, files or streams, or share objects with it."""
_CLASS = re.compile(r"^[ \t]*class[ \t]+(\w+)[ \t]*\(([^)\n]*)\)", re.MULTILINE)
_KNOWN_BASES = frozenset(("object", "Exception", "ValueError", "TypeError", "RuntimeError", "Enum", "IntEnum", "NamedTuple", ""))


def needs_shared_process(guard: Guard, job: Job) -> bool:
    """Whether the tests need objects that cannot cross between processes, or files that come with the job."""
    if guard.kind is GuardKind.pytest or guard.shared or job.files or not guard.tests.strip():
        return True
    return _SHARES.search(guard.tests) is not None or _extends_solution(guard.tests)


def _extends_solution(tests: str) -> bool:
    """Whether a class of the tests is derived from one that they neither define nor know."""
    found = _CLASS.findall(tests)
    own = {name for name, _ in found}
    bases = {base.strip().rpartition(".")[2] for _, listed in found for base in listed.split(",")}
    return not bases <= own | _KNOWN_BASES
