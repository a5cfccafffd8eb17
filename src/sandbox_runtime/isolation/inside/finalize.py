"""Finalize a warm-forked interpreter as Py_Finalize would.

Every step that a program can observe is taken in the same order and with no frame below it: reporting an uncaught exception,
waiting for threads, atexit, flushing, destroying the program's modules and objects. What was loaded before the program began is
not torn down, which is why an exit takes no time even with pandas loaded.

By now the program may have changed anything it could reach. So everything needed here is bound when this module is loaded, and
its builtins are a private copy.
"""

from __future__ import annotations

import atexit
import builtins
import contextlib
import ctypes
import gc
import os
import signal
import sys
import weakref
from collections.abc import Callable
from types import ModuleType, SimpleNamespace, TracebackType
from typing import Any

from sandbox_runtime.isolation.inside.frame_stack import FrameStack

globals()["__builtins__"] = dict(vars(builtins))

_FLUSH_FAILED = 120
_NEVER_S = 1000.0
_CLEARED_SYS_NAMES = (
    *("path", "argv", "ps1", "ps2", "last_type", "last_value", "last_traceback", "last_exc"),
    *("path_hooks", "path_importer_cache", "meta_path"),
)
"""Names in sys that are cleared first."""

_exit, _kill, _getpid, _set_signal = os._exit, os.kill, os.getpid, signal.signal
_display, _default_unraisable = sys.__excepthook__, sys.__unraisablehook__
_collect, _gc_is_enabled, _run_atexit = gc.collect, gc.isenabled, atexit._run_exitfuncs
_set_switch_interval = sys.setswitchinterval
_modules = sys.modules
_sys_names = sys.__dict__
_builtin_names = builtins.__dict__
_original_streams = (sys.__stdout__, sys.__stderr__)
_flush_c_streams = ctypes.CDLL(None).fflush
_write_stderr = ctypes.pythonapi.PySys_WriteStderr
_MISSING = object()
_OWN_PACKAGE = __name__.rpartition(".")[0]


class InterpreterFinalizer:
    """Create it before the program begins."""

    def __init__(self, stack: FrameStack) -> None:
        self._stack = stack
        self.before_exit: Callable[[], None] | None = None
        self.record_loaded_names()

    def record_loaded_names(self) -> None:
        self._kept_modules = frozenset(_modules)
        self._kept_names = frozenset(_sys_names) | frozenset(_builtin_names)

    def report_failure(self, failure: BaseException | None, main_names: dict[str, Any]) -> int:
        """Report an uncaught exception as the interpreter does. Returns the exit status, or a signal as a negative number."""
        self._flush_quietly()
        if isinstance(failure, SystemExit):
            return self._exit_status(failure)
        status = 0 if failure is None else self._report_uncaught(failure)
        for name in ("__file__", "__cached__"):
            main_names.pop(name, None)
        return status

    def _report_uncaught(self, failure: BaseException) -> int:
        trace = failure.__traceback__ = _strip_own_frames(failure.__traceback__)
        _sys_names.update(last_type=type(failure), last_value=failure, last_traceback=trace)
        if sys.version_info >= (3, 12):
            _sys_names["last_exc"] = failure
        status = self._call_hook(failure, trace)
        if status is not None:
            return status
        return -signal.SIGINT if isinstance(failure, KeyboardInterrupt) else 1

    def _call_hook(self, failure: BaseException, trace: TracebackType | None) -> int | None:
        """Return the exit status that the hook requested by SystemExit, or None."""
        hook = _sys_names.get("excepthook", _MISSING)
        if hook is _MISSING:
            _write_stderr(b"sys.excepthook is missing\n")
            self._stack.call(_display, type(failure), failure, trace)
            return None
        try:
            self._stack.call(hook, type(failure), failure, trace)
        except SystemExit as error:
            return self._exit_status(error)
        except BaseException as error:
            error.__traceback__ = _strip_own_frames(error.__traceback__)
            _write_stderr(b"Error in sys.excepthook:\n")
            self._stack.call(_display, type(error), error, error.__traceback__)
            _write_stderr(b"\nOriginal exception was:\n")
            self._stack.call(_display, type(failure), failure, trace)
        return None

    def _exit_status(self, error: SystemExit) -> int:
        code: object = error
        with contextlib.suppress(Exception):
            code = error.code
        if code is None:
            return 0
        if isinstance(code, int):
            return code & 0xFF if -(2**63) <= code < 2**63 else 0xFF
        stream = _sys_names.get("stderr")
        if stream is not None:
            with contextlib.suppress(Exception):
                self._stack.call(stream.write, str(code))
        _write_stderr(b"\n")
        return 1

    def exit(self, status: int) -> None:
        """Finalize and end the process. Never returns."""
        threading = _modules.get("threading", _MISSING)
        if threading is not _MISSING:
            self._wait_for_threads(threading)
        with contextlib.suppress(BaseException):
            self._stack.call(_run_atexit)
        _set_switch_interval(_NEVER_S)  # daemon threads do not run again
        flushed = self._flush_or_report()
        if _gc_is_enabled():
            self._stack.call(_collect)
        self._end_modules()
        if status < 0:
            _set_signal(-status, signal.SIG_DFL)
            _kill(_getpid(), -status)
        _flush_c_streams(None)
        if self.before_exit is not None:
            self.before_exit()
        _exit(status if flushed else _FLUSH_FAILED)

    def _wait_for_threads(self, threading: Any) -> None:
        try:
            self._stack.call(threading._shutdown)
        except BaseException as error:
            self._report_unraisable(threading, "on threading shutdown", error)

    def _report_unraisable(self, owner: object, doing: str, error: BaseException) -> None:
        """Like PyErr_WriteUnraisable, which names the action from 3.13 on and the owner before."""
        error.__traceback__ = trace = _strip_own_frames(error.__traceback__)
        hook = _sys_names.get("unraisablehook") or _default_unraisable
        with contextlib.suppress(BaseException):
            if hook is not _default_unraisable:
                fields = {"exc_type": type(error), "exc_value": error, "exc_traceback": trace, "err_msg": None, "object": owner}
                self._stack.call(hook, SimpleNamespace(**fields))
                return
            if sys.version_info >= (3, 13):
                _write_stderr(b"Exception ignored %s:\n", doing.encode())
            elif owner is not None:
                _write_stderr(b"Exception ignored in: %s\n", repr(owner).encode(errors="backslashreplace"))
            error.__cause__ = error.__context__ = None
            self._stack.call(_display, type(error), error, trace)

    def _flush_quietly(self) -> None:
        for name in ("stderr", "stdout"):
            stream = _sys_names.get(name)
            with contextlib.suppress(BaseException):
                self._stack.call(stream.flush)  # type: ignore[union-attr]

    def _flush_or_report(self) -> bool:
        done = True
        for name in ("stdout", "stderr"):
            stream = _sys_names.get(name)
            try:
                if stream is not None and not stream.closed:
                    self._stack.call(stream.flush)
            except BaseException as error:
                done = False
                if name == "stdout":
                    self._report_unraisable(stream, "on flushing sys.stdout", error)
        return done

    def _end_modules(self) -> None:
        """Like finalize_modules: clear names, drop the modules, collect garbage, then empty modules that are still referenced,
        last one first."""
        call = self._stack.call
        _builtin_names["_"] = None
        for name in _CLEARED_SYS_NAMES:
            if name in _sys_names:
                call(_sys_names.__setitem__, name, None)
        for name in ("stdin", "stdout", "stderr"):
            call(_sys_names.__setitem__, name, _sys_names.get(f"__{name}__"))
        ours = self._take_modules()
        call(_collect)
        for reference in ours:
            module = reference()
            if module is not None:
                self._empty(module.__dict__)
            del module
        _flush_original_streams()
        self._clear_added_names()
        call(_collect)

    def _take_modules(self) -> list[weakref.ref[ModuleType]]:
        """Remove the program's own modules from sys.modules, last one first.

        They come after the modules that stay. Iterating over all of them would copy much of the interpreter's memory.
        """
        names = []
        for name in reversed(_modules):
            if name in self._kept_modules:
                break
            names.append(name)
        ours = []
        for name in [*names, "__main__"]:
            module = _modules.get(name)
            # Check the real type: an object can claim to be a module without supporting weak references.
            if module is not None and issubclass(type(module), ModuleType):
                ours.append(weakref.ref(module))
            del module
            self._stack.call(_modules.__setitem__, name, None)
        return ours

    def _clear_added_names(self) -> None:
        """Clear the entries of sys and builtins that the program added. No stream is left to print to by then."""
        _sys_names.update(stdin=None, stdout=None, stderr=None)
        for names in (_sys_names, _builtin_names):
            for name in [name for name in names if name not in self._kept_names]:
                self._stack.call(names.__setitem__, name, None)

    def _empty(self, names: dict[str, Any]) -> None:
        for name in list(names):
            if name.startswith("_") and not name.startswith("__"):
                self._stack.call(names.__setitem__, name, None)
        for name in list(names):
            if name != "__builtins__":
                self._stack.call(names.__setitem__, name, None)


def _strip_own_frames(trace: TracebackType | None) -> TracebackType | None:
    """Skip the outermost entries, which are our own calls."""
    while trace is not None and str(trace.tb_frame.f_globals.get("__name__")).startswith(_OWN_PACKAGE):
        trace = trace.tb_next
    return trace


def _flush_original_streams() -> None:
    """Flush what finalizers wrote. Errors can no longer be reported."""
    for stream in _original_streams:
        with contextlib.suppress(BaseException):
            if stream is not None:
                stream.flush()
