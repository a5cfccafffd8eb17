"""What the interpreter tells of: a hook that cannot be removed hears what code asks for, and tells of it when it is the
solution's own code that asks.

Whose code asks is read from the file name of the innermost frame: what lies in the interpreter's own folders is trusted, and
whoever compiles code under a name from there is told of as well. Frames are dangerous only while tests are on the stack."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

from .reporter import BUILTINS, Reporter  # type: ignore[import-not-found, import-untyped, unused-ignore]  # given beside us

globals()["__builtins__"] = BUILTINS

TESTS = "<tests>"
_HARNESS_PREFIX = "<_sandbox_harness"
_THIS_FILE = f"{_HARNESS_PREFIX}.audit_hook>"
_LIBRARIES = [
    *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")),
    *(
        path
        for path in sys.path
        if path.startswith("/") and path not in (os.getcwd(), os.path.dirname(sys.argv[0])) and "/.local/" not in path
    ),
]
"""Where packages of a distribution lie, which not all are among the paths that Python knows of itself, but not where the program
or its user can put some."""
_FOLDERS = tuple({f"{path}/" for path in (*_LIBRARIES, *map(os.path.realpath, _LIBRARIES))})
_FRAME_FUNCTIONS = frozenset({"currentframe", "walk_stack", "stack", "trace", "getouterframes", "getinnerframes"})
_FRAME_ATTRIBUTES = frozenset({"tb_frame", "gi_frame", "cr_frame", "ag_frame"})
_CODE_ATTRIBUTES = frozenset({"__code__", "__defaults__", "__kwdefaults__"})
_TRACING_MODULES = ("/threading.py", "/bdb.py", "/pdb.py", "/trace.py", "/profile.py")
_PROC_FILES = ("/mem", "/maps", "/smaps", "/fd/", "/map_files", "/stack", "/syscall", "/auxv")
_NATIVE_MODULES = frozenset({"cffi", "_cffi_backend", "_testcapi", "_testinternalcapi", "_xxsubinterpreters", "_interpreters"})
_getframe, _getpid, _get_ident = sys._getframe, os.getpid, __import__("_thread").get_ident


_trusted_files: list[str] = []
"""The file of what calls the program with no frames below it, where there is such."""


def trust(filename: str) -> None:
    """Also this one. For what is ours and was loaded from a file."""
    _trusted_files[:] = [filename]


def is_trusted(filename: str) -> bool:
    return (
        filename in _trusted_files
        or filename.startswith(_FOLDERS)
        or filename.startswith(("<frozen ", _HARNESS_PREFIX))
        or filename == TESTS
    )


class AuditHook:
    """frames_hidden: nothing of ours is below the program on the stack, so that before the tests there is nothing to find."""

    def __init__(self, reporter: Reporter, frames_hidden: bool) -> None:
        self._reporter = reporter
        self._guard_frames = not frames_hidden
        self._busy: set[int] = set()
        self._checks: dict[str, Callable[[tuple[Any, ...]], None]] = {
            "sys._getframe": self._frame,
            "sys._current_frames": self._report_as("frames"),
            "sys._current_exceptions": self._report_as("frames"),
            "object.__getattr__": self._attribute,
            "object.__setattr__": self._set,
            "gc.get_objects": self._report_as("heap"),
            "gc.get_referrers": self._report_as("heap"),
            "gc.get_referents": self._report_as("heap"),
            "sys.settrace": self._tracing,
            "sys.setprofile": self._tracing,
            "sys.monitoring.register_callback": self._report_as("tracing"),
            "sys.addaudithook": self._report_as("tracing"),
            "open": self._open,
            "os.kill": self._kill,
            "os.killpg": self._report_as("signals"),
            "signal.pthread_kill": self._report_as("signals"),
            "os.exec": self._exec,
            "compile": self._compile,
            "code.__new__": self._new_code,
            "ctypes.dlopen": self._report_as("memory"),
            "ctypes.dlsym": self._native,
            "import": self._import,
            "ctypes.cdata": self._report_as("memory"),
            "ctypes.string_at": self._report_as("memory"),
        }

    def begin(self) -> None:
        sys.addaudithook(self._on_event)

    def begin_tests(self) -> None:
        self._guard_frames = True

    def _on_event(self, event: str, args: tuple[Any, ...]) -> None:
        check = self._checks.get(event)
        if check is None:
            return
        thread = _get_ident()
        if thread in self._busy:  # we look at frames ourselves
            return
        self._busy.add(thread)
        try:
            check(args)
        finally:
            self._busy.discard(thread)

    def _report_as(self, word: str) -> Callable[[tuple[Any, ...]], None]:
        def check(_args: tuple[Any, ...]) -> None:
            if self._called_by_solution():
                self._reporter.report(word)

        return check

    def _called_by_solution(self) -> bool:
        return not is_trusted(_requesting_frame().f_code.co_filename)

    def _frame(self, _args: tuple[Any, ...]) -> None:
        if not self._guard_frames:
            return
        frame = _requesting_frame()
        if not is_trusted(frame.f_code.co_filename):
            self._reporter.report("frames")
        elif frame.f_code.co_name in _FRAME_FUNCTIONS:
            behind = frame.f_back
            if behind is not None and not is_trusted(behind.f_code.co_filename):
                self._reporter.report("frames")

    def _attribute(self, args: tuple[Any, ...]) -> None:
        owner, name = args[0], args[1]
        if name in _FRAME_ATTRIBUTES:
            if self._guard_frames and self._called_by_solution():
                self._reporter.report("frames")
        elif (
            name in _CODE_ATTRIBUTES and self._called_by_solution() and _code_filename(owner).startswith((TESTS, _HARNESS_PREFIX))
        ):
            self._reporter.report("test_code")

    def _set(self, args: tuple[Any, ...]) -> None:
        """New code in an old function: its identity stays, so nothing else would show it."""
        if args[1] in _CODE_ATTRIBUTES and self._called_by_solution() and is_trusted(_code_filename(args[0])):
            self._reporter.report("modules")

    def _tracing(self, _args: tuple[Any, ...]) -> None:
        """Some do it for whoever asks them to. doctest only puts back what was there."""
        filename = _requesting_frame().f_code.co_filename
        if not is_trusted(filename) or filename.endswith(_TRACING_MODULES):
            self._reporter.report("tracing")

    def _open(self, args: tuple[Any, ...]) -> None:
        path = args[0]
        if isinstance(path, bytes):
            path = path.decode(errors="replace")
        if (
            isinstance(path, str)
            and "/proc/" in path
            and any(part in path for part in _PROC_FILES)
            and self._called_by_solution()
        ):
            self._reporter.report("memory")

    def _kill(self, args: tuple[Any, ...]) -> None:
        if (args[0] <= 1 or args[0] in (_getpid(), os.getppid())) and self._called_by_solution():
            self._reporter.report("signals")

    def _exec(self, _args: tuple[Any, ...]) -> None:
        if self._reporter.is_first() and self._called_by_solution():
            self._reporter.report("early_exit")

    def _compile(self, args: tuple[Any, ...]) -> None:
        self._check_filename(args[1])

    def _new_code(self, args: tuple[Any, ...]) -> None:
        self._check_filename(args[1])

    def _native(self, _args: tuple[Any, ...]) -> None:
        if not is_trusted(_caller_frame_outside("/ctypes/").f_code.co_filename):
            self._reporter.report("memory")

    def _import(self, args: tuple[Any, ...]) -> None:
        if args[0] in _NATIVE_MODULES and not is_trusted(_caller_frame_outside("<frozen ").f_code.co_filename):
            self._reporter.report("memory")

    def _check_filename(self, filename: object) -> None:
        if isinstance(filename, bytes):
            filename = filename.decode(errors="replace")
        if isinstance(filename, str) and is_trusted(filename) and self._called_by_solution():
            self._reporter.report("disguise")


def _requesting_frame() -> FrameType:
    """The frame that was current when the hook was called."""
    frame = _getframe(1)
    while frame.f_code.co_filename == _THIS_FILE and frame.f_back is not None:
        frame = frame.f_back
    return frame


def _caller_frame_outside(part: str) -> FrameType:
    """The frame for which those of such files were at work."""
    frame = _requesting_frame()
    while part in frame.f_code.co_filename and frame.f_back is not None:
        frame = frame.f_back
    return frame


def called_by_solution() -> bool:
    """For functions of ours that are called in the place of others."""
    frame = _getframe(1)
    while frame.f_code.co_filename.startswith(_HARNESS_PREFIX) and frame.f_back is not None:
        frame = frame.f_back
    return not is_trusted(frame.f_code.co_filename)


def _code_filename(function: object) -> str:
    code = getattr(function, "__code__", None)
    return code.co_filename if isinstance(code, CodeType) else ""
