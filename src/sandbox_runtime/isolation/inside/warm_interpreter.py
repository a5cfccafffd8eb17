"""Run `python FILE` without starting Python: the file runs in a fork of a warm interpreter.

A program cannot ordinarily see a difference: `__main__` and its names, `sys.argv`, the path, tracebacks, the frame stack,
SystemExit and exit codes, atexit, threads, the order of output at exit and random state are the same. The remaining differences
are listed in docs/concepts/isolation.md (one hash seed per spawner; the preset's modules are in `sys.modules` from the start).

The interpreter's own entry point for files (PyRun_File) reads, compiles and runs the program, so encodings, syntax errors and
code names are as usual. finalize.py does the rest. Commands that are not a plain file run in a new interpreter.
"""

from __future__ import annotations

import builtins
import ctypes
import functools
import gc
import io
import itertools
import os
import sys
import time
from types import ModuleType
from typing import Any

from sandbox_runtime.isolation.inside import warm_pages, warmup_programs
from sandbox_runtime.isolation.inside.finalize import InterpreterFinalizer
from sandbox_runtime.isolation.inside.frame_stack import FrameStack
from sandbox_runtime.isolation.inside.process_title import ProcessTitle
from sandbox_runtime.isolation.inside.runner import Order, execute

_CODE = os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 3))
"""The folder that contains our package."""
_FILE_INPUT = 257
_STDERR = 2
_REHEARSALS = 16
"""How often the spawner rehearses. By then the interpreter has specialized the bytecode, which every box would otherwise write
to and thereby copy."""


class WarmInterpreter:
    """Created once in the spawner, before any box exists. run() is called once, in a runner."""

    def __init__(self, main_names: dict[str, Any]) -> None:
        """main_names: the names in `__main__` before its first line ran."""
        self._main_names = main_names
        self._stack = FrameStack.find()
        self._finalizer = InterpreterFinalizer(self._stack)
        self._our_modules: list[ModuleType] = []
        self._rehearsal = b""
        self._longer_rehearsal = b""
        self.title = ProcessTitle.find()
        self._open = ctypes.CDLL(None).fopen
        self._open.restype = ctypes.c_void_p
        self._open_memory = ctypes.CDLL(None).fmemopen
        self._open_memory.restype = ctypes.c_void_p
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

    def finish_preload(self, names: list[str], rehearsable: list[str]) -> None:
        """Call when the preset's modules are loaded; they are not torn down at exit.

        Our own modules leave `sys.modules` here. They are kept alive, because freeing them would make every box copy their
        memory.

        names: modules of the preset.
        rehearsable: injected modules with a function warm_up().
        """
        self._rehearsal = warmup_programs.rehearsal(names).encode()
        self._longer_rehearsal = self._rehearsal + "".join(f"import {name}\n{name}.warm_up()\n" for name in rehearsable).encode()
        for _ in range(_REHEARSALS):
            self.rehearse(longer=True)
        self._our_modules = _hide_our_modules()
        _reset_thread_counter()
        self._finalizer.record_loaded_names()
        gc.collect()
        gc.freeze()

    def rehearse(self, *, longer: bool = False) -> None:
        """Run a harmless program in a waiting runner, so that the interpreter's memory that it touches is copied before the
        real program arrives.

        longer: also warm up the injected modules.
        """
        text = self._longer_rehearsal if longer else self._rehearsal
        stream = self._open_memory(text, len(text), b"r")
        names: dict[str, Any] = {"__builtins__": builtins, "say": io.StringIO()}
        self._stack.call(self._run_file, stream, b"main.py", _FILE_INPUT, names, names, 1, None)
        os.path.isfile(os.getcwd())

    def run(self, order: Order) -> None:
        """Run the file of the order as the program. Never returns."""
        path = _absolute(order.argv[1])
        stream = self._open(os.fsencode(path), b"rb") if os.path.isfile(path) else None
        if not stream:
            execute(order.argv, order.env)
        if order.report_pages:
            self._finalizer.before_exit = functools.partial(warm_pages.write_private_pages, _STDERR)
        self._set_identity(order, path)
        self._finalizer.exit(self._run_main(stream, path))

    def _set_identity(self, order: Order, path: str) -> None:
        if order.env:
            os.environ.update(order.env)
            if "TZ" in order.env:
                time.tzset()
        sys.argv[:] = order.argv[1:]
        sys.orig_argv[:] = order.argv
        sys.path[0:0] = [_folder_of(path)]
        self.title.set(order.argv)
        _add_user_site()

    def _run_main(self, stream: int, path: str) -> int:
        names = self._fresh_main(path)
        failure = None
        try:
            self._stack.call(self._run_file, stream, os.fsencode(path), _FILE_INPUT, names, names, 1, None)
        except BaseException as error:
            failure = error
        return self._finalizer.report_failure(failure, names)

    def _fresh_main(self, path: str) -> dict[str, Any]:
        """Create a `__main__` that nothing of ours refers to, so that it is freed with the program."""
        module = sys.modules["__main__"] = ModuleType("__main__")
        names = module.__dict__
        names.update(self._main_names)
        names.update(__doc__=None, __file__=path, __loader__=type(names["__loader__"])("__main__", path))
        if "__cached__" in self._main_names:
            names["__cached__"] = None
        return names


def _absolute(script: str) -> str:
    return script if script.startswith("/") else f"{os.getcwd()}/{script}"


def _folder_of(path: str) -> str:
    """Return the folder of the file without symbolic links. The kernel returns the working folder without links already."""
    folder = path.rpartition("/")[0]
    return folder if folder == os.getcwd() and not os.path.islink(path) else os.path.dirname(os.path.realpath(path))


def _add_user_site() -> None:
    """Add the user's site-packages, as a starting interpreter does: an earlier command of the box may have created it."""
    site = sys.modules.get("site")
    if site is not None and site.ENABLE_USER_SITE and site.USER_SITE not in sys.path:
        site.addusersitepackages(set(sys.path))


def _reset_thread_counter() -> None:
    """Let the program's first thread be Thread-1, even if a module started one while loading."""
    threading = sys.modules.get("threading")
    if threading is not None and hasattr(threading, "_counter"):
        threading._counter = itertools.count(1).__next__  # type: ignore[attr-defined]


def _hide_our_modules() -> list[ModuleType]:
    """Hide our modules and everything that reveals where our code is on the host."""
    for path in [path for path in sys.path_importer_cache if path == _CODE or path.startswith(f"{_CODE}/")]:
        del sys.path_importer_cache[path]
    linecache = sys.modules.get("linecache")
    if linecache is not None:
        linecache.cache.clear()
    return [sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] == "sandbox_runtime"]
