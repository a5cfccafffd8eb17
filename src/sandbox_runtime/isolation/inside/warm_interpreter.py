"""`python FILE` without starting Python: the file runs in a fork of an interpreter that is warm already.

Nothing the program can ordinarily look at tells the difference: `__main__` and its names, `sys.argv`, the path, tracebacks, the
frame stack, SystemExit and exit codes, atexit, threads, the order of last words at exit, random state. What stays different is
told in docs/concepts/isolation.md (one hash seed per spawner; modules of the preset are in `sys.modules` from the start).

The interpreter's own entry for files (PyRun_File) reads, compiles and runs the program, so encodings, syntax errors and names of
code are as they always are. finalize.py takes the steps at the end. Other files run in an interpreter of their own.
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
"""The folder that holds our package."""
_FILE_INPUT = 257
_STDERR = 2
_REHEARSALS = 16
"""How often the spawner rehearses: by then the interpreter has adapted the code on the way, which would else be written to, and
so copied, in every box."""


class WarmInterpreter:
    """Made once in the spawner, before any box exists; run() is called once, in a runner."""

    def __init__(self, main_names: dict[str, Any]) -> None:
        """main_names: what `__main__` held before its first line ran."""
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
        """Call when the preset's modules, of these names, are loaded: they stay out of the tear-down at exit. Our own leave
        `sys.modules` here and now; they are kept alive, because letting them go would cost every box the copying of their
        memory. practised: modules given to the guest that have a practise() to rehearse with."""
        self._rehearsal = warmup_programs.rehearsal(names).encode()
        self._longer_rehearsal = self._rehearsal + "".join(f"import {name}\n{name}.practise()\n" for name in rehearsable).encode()
        for _ in range(_REHEARSALS):
            self.rehearse(longer=True)
        self._our_modules = _hide_our_modules()
        _reset_thread_counter()
        self._finalizer.record_loaded_names()
        gc.collect()
        gc.freeze()

    def rehearse(self, *, longer: bool = False) -> None:
        """Run a program of no consequence, in a runner that stands by: what it touches of the interpreter's memory is copied now,
        while nobody waits, and not when the real one begins. longer: with what was given to the guest."""
        text = self._longer_rehearsal if longer else self._rehearsal
        stream = self._open_memory(text, len(text), b"r")
        names: dict[str, Any] = {"__builtins__": builtins, "say": io.StringIO()}
        self._stack.call(self._run_file, stream, b"main.py", _FILE_INPUT, names, names, 1, None)
        os.path.isfile(os.getcwd())

    def run(self, order: Order) -> None:
        """Never returns."""
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
        """A module that nothing of ours refers to, so that it ends when the program does."""
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
    """Without links. Where the file lies in the working folder, which the kernel gives without links, that is known already."""
    folder = path.rpartition("/")[0]
    return folder if folder == os.getcwd() and not os.path.islink(path) else os.path.dirname(os.path.realpath(path))


def _add_user_site() -> None:
    """An earlier command of the box may have installed some; an interpreter looks for them when it starts."""
    site = sys.modules.get("site")
    if site is not None and site.ENABLE_USER_SITE and site.USER_SITE not in sys.path:
        site.addusersitepackages(set(sys.path))


def _reset_thread_counter() -> None:
    """Some modules start a thread while they are loaded; the program's first is still to be Thread-1."""
    threading = sys.modules.get("threading")
    if threading is not None and hasattr(threading, "_counter"):
        threading._counter = itertools.count(1).__next__  # type: ignore[attr-defined]


def _hide_our_modules() -> list[ModuleType]:
    """Remove from sight what tells where our code lies on the host, whatever its folder is called."""
    for path in [path for path in sys.path_importer_cache if path == _CODE or path.startswith(f"{_CODE}/")]:
        del sys.path_importer_cache[path]
    linecache = sys.modules.get("linecache")
    if linecache is not None:
        linecache.cache.clear()
    return [sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] == "sandbox_runtime"]
