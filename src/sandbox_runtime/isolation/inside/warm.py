"""`python FILE` without starting Python: the file runs in a fork of an interpreter that is warm already.

Nothing the program can ordinarily look at tells the difference: `__main__` and its names, `sys.argv`, the path, tracebacks, the
frame stack, SystemExit and exit codes, atexit, threads, the order of last words at exit, random state. What stays different is
told in docs/concepts/isolation.md (one hash seed per spawner; modules of the preset are in `sys.modules` from the start).

The interpreter's own entry for files (PyRun_File) reads, compiles and runs the program, so encodings, syntax errors, co_filename
are as they always are. At the end the steps of Py_Finalize that a program can observe are taken; tearing down modules
that were loaded before the program began is left out, which is why an exit costs no time with pandas loaded.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import gc
import os
import signal
import sys
import time
import weakref
from types import ModuleType, TracebackType
from typing import Any

from sandbox_runtime.isolation.inside.runner import Order
from sandbox_runtime.isolation.inside.stack import FrameStack

_FILE_INPUT = 257
_FLUSH_FAILED = 120


class WarmInterpreter:
    """Made once in the spawner, before any box exists; run() is called once, in a runner."""

    def __init__(self, pristine_main: dict[str, Any]) -> None:
        self._main_names = pristine_main
        self._stack = FrameStack.find()
        self._preloaded: frozenset[str] = frozenset()
        self._our_modules: list[ModuleType] = []
        self._title = _ProcessTitle.find()
        self._open = ctypes.CDLL(None).fopen
        self._open.restype = ctypes.c_void_p
        self._run_file = ctypes.pythonapi.PyRun_FileExFlags
        self._run_file.restype = ctypes.py_object
        self._run_file.argtypes = (
            ctypes.c_void_p,
            ctypes.c_char_p,
            ctypes.c_int,
            ctypes.py_object,
            ctypes.py_object,
            ctypes.c_int,
            ctypes.c_void_p,
        )

    def preloaded(self) -> None:
        """Call when the preset's modules are loaded: they stay out of the tear-down at exit. Our own leave `sys.modules` here and
        now; they are kept alive, because letting them go would cost every box the copying of their memory."""
        self._our_modules = _hide_our_modules()
        self._preloaded = frozenset(sys.modules)
        gc.collect()
        gc.freeze()

    def run(self, order: Order) -> None:
        """Never returns."""
        path = self._dress_as(order)
        stream = self._open(os.fsencode(path), b"rb")
        if not stream:
            _cannot_open(path)
        names = self._fresh_main(path)
        status = self._run_main(stream, path, names)
        names.pop("__file__", None)
        names.pop("__cached__", None)
        del names
        _leave(status, self._preloaded)

    def _dress_as(self, order: Order) -> str:
        if order.env:
            os.environ.update(order.env)
            if "TZ" in order.env:
                time.tzset()
        script = order.argv[1]
        folder = os.getcwd()
        path = script if script.startswith("/") else f"{folder}/{script}"
        if "/" in script or os.path.islink(path):
            folder = os.path.dirname(os.path.realpath(path))
        sys.argv[:] = order.argv[1:]
        sys.orig_argv[:] = order.argv
        sys.path[0:0] = [folder]
        if self._title is not None:
            self._title.set(order.argv)
        return path

    def _fresh_main(self, path: str) -> dict[str, Any]:
        names = sys.modules["__main__"].__dict__
        names.clear()
        names.update(self._main_names)
        names["__file__"] = path
        names["__loader__"] = type(names["__loader__"])("__main__", path)
        return names

    def _run_main(self, stream: int, path: str, names: dict[str, Any]) -> int:
        """Between cutting the stack and mending it no function written in Python may be called from here."""
        failure: BaseException | None = None
        name, run, slot = os.fsencode(path), self._run_file, self._stack.slot()
        kept = slot.value
        try:
            slot.value = None
            run(stream, name, _FILE_INPUT, names, names, 1, None)
        except BaseException as error:
            slot.value = kept
            failure = error
        else:
            slot.value = kept
        return 0 if failure is None else _tell(failure)


def _tell(failure: BaseException) -> int:
    """What the interpreter says at the end about an exception nobody caught, and the exit status it stands for."""
    if isinstance(failure, SystemExit):
        return _exit_status(failure.code)
    trace = failure.__traceback__.tb_next if failure.__traceback__ is not None else None
    failure.__traceback__ = trace
    _remember_last(failure, trace)
    try:
        sys.excepthook(type(failure), failure, trace)
    except SystemExit as error:
        return _exit_status(error.code)
    except BaseException as error:
        print("Error in sys.excepthook:", file=sys.stderr)
        sys.__excepthook__(type(error), error, error.__traceback__)
        print("\nOriginal exception was:", file=sys.stderr)
        sys.__excepthook__(type(failure), failure, trace)
    return -signal.SIGINT if isinstance(failure, KeyboardInterrupt) else 1


def _exit_status(code: object) -> int:
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF if -(2**63) <= code < 2**63 else 0xFF
    with contextlib.suppress(Exception):
        sys.stdout.flush()
    print(code, file=sys.stderr)
    return 1


def _remember_last(failure: BaseException, trace: TracebackType | None) -> None:
    sys.last_type, sys.last_value, sys.last_traceback = type(failure), failure, trace
    if sys.version_info >= (3, 12):
        sys.last_exc = failure


def _leave(status: int, preloaded: frozenset[str]) -> None:
    threading = sys.modules.get("threading")
    if threading is not None:
        _guarded(threading._shutdown)
    _guarded(atexit._run_exitfuncs)
    flushed = _flush()
    _forget_last()
    _end_modules([name for name in list(sys.modules) if name not in preloaded or name == "__main__"])
    flushed = _flush() and flushed
    if status < 0:
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status if flushed else _FLUSH_FAILED)


def _guarded(step: Any) -> None:
    try:
        step()
    except BaseException as error:
        with contextlib.suppress(BaseException):
            sys.__excepthook__(type(error), error, error.__traceback__)


def _flush() -> bool:
    done = True
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None and not stream.closed:
                stream.flush()
        except Exception as error:
            done = False
            with contextlib.suppress(Exception):
                print(f"Exception ignored in: {stream!r}\n{type(error).__name__}: {error}", file=sys.__stderr__)
    return done


def _forget_last() -> None:
    for name in ("last_type", "last_value", "last_traceback", "last_exc"):
        if hasattr(sys, name):
            setattr(sys, name, None)


def _end_modules(names: list[str]) -> None:
    """As the interpreter does: drop the modules, collect, then empty those that something still holds."""
    modules = [weakref.ref(module) for name in names if isinstance(module := sys.modules.pop(name, None), ModuleType)]
    module = None
    gc.collect()
    for reference in modules:
        held = reference()
        if held is not None:
            _empty(held.__dict__)
        del held
    gc.collect()


def _empty(names: dict[str, Any]) -> None:
    for name in list(names):
        if name.startswith("_") and not name.startswith("__"):
            names[name] = None
    for name in list(names):
        if name != "__builtins__":
            names[name] = None


def _cannot_open(path: str) -> None:
    number = ctypes.get_errno() or 2
    print(f"{sys.executable}: can't open file {path!r}: [Errno {number}] {os.strerror(number)}", file=sys.stderr, flush=True)
    os._exit(2)


def _hide_our_modules() -> list[ModuleType]:
    linecache = sys.modules.get("linecache")
    if linecache is not None:
        linecache.cache.clear()
    return [sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] == "sandbox_runtime"]


class _ProcessTitle:
    """The memory that holds the command line shown by ps; written over, since it belongs to the spawner's start."""

    def __init__(self, start: int, size: int) -> None:
        self._start = start
        self._size = size

    @classmethod
    def find(cls) -> _ProcessTitle | None:
        with open("/proc/self/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        start, end = int(fields[45]), int(fields[46])
        return cls(start, end - start) if 0 < start < end else None

    def set(self, argv: list[str]) -> None:
        text = b"\0".join(map(os.fsencode, argv))[: self._size - 1]
        ctypes.memmove(self._start, text.ljust(self._size, b"\0"), self._size)
