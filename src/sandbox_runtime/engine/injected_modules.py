"""Our modules in boxes: their source as text, which spawners load once for all boxes, and the guest modules they need.

Contexts, Python handlers and the notebook driver each form a package of their own in the box. Where boxes are not forked from a
warm interpreter the notebook driver is staged as files.
"""

from __future__ import annotations

import functools
from importlib import resources

CONTEXT_PACKAGE = "_sandbox_context"
CONTEXT_START = f"from {CONTEXT_PACKAGE}.start import run\nrun()\n"
CONTEXT_MODULES = (
    "array", "ctypes", "json", "re", "signal", "socket", "struct", "traceback",
    "IPython.core.completer", "IPython.core.displayhook", "IPython.core.displaypub", "IPython.core.interactiveshell",
    "IPython.core.oinspect", "traitlets.config",
)  # fmt: skip
"""Guest modules that contexts need, loaded ahead of time."""

HANDLER_PACKAGE = "_sandbox_handler"
HANDLER_START = f"from {HANDLER_PACKAGE}.call import run\nrun()\n"

NOTEBOOK_PACKAGE = "notebook_driver"
NOTEBOOK_START = "start.py"
NOTEBOOK_MODULES = (
    "collections", "ctypes", "faulthandler", "itertools", "json", "select", "signal", "unicodedata",
    "asyncio", "zmq", "tornado.gen", "tornado.locks", "tornado.platform.asyncio", "tornado.queues",
    "IPython.core.completer", "IPython.core.completerlib", "IPython.core.debugger", "IPython.core.oinspect",
    "IPython.extensions.storemagic", "IPython.utils.wildcard",
    "ipykernel.compiler", "ipykernel.displayhook", "ipykernel.iostream", "ipykernel.kernelapp", "ipykernel.subshell_manager",
    "ipykernel.zmqshell", "ipykernel_launcher", "jupyter_client.session",
)  # fmt: skip
"""Guest modules of the kernel and its driver, without the debugger (see notebook/inside/start.py). None of them starts a thread
or creates a zmq context on import."""

_NOTEBOOK_START_SOURCE = f"""import os, sys

sys.dont_write_bytecode = True
from {NOTEBOOK_PACKAGE}.start import run

run(os.path.dirname(os.path.abspath(__file__)))
"""
# Each module after its imports.
_CONTEXT_SOURCES = ("connection", "interpreter", "start")
_NOTEBOOK_SOURCES = ("events", "kernel", "application", "driver", "start")
_CONTEXTS, _HANDLERS, _NOTEBOOK = (f"{__package__}.{name}.inside" for name in ("contexts", "handlers", "notebook"))


@functools.cache
def context_modules() -> tuple[tuple[str, str], ...]:
    """Return name and source of the modules of contexts."""
    image = _source("sandbox_runtime.isolation.inside", "process_image.py")
    own = [(f"{CONTEXT_PACKAGE}.{name}", _source(_CONTEXTS, f"{name}.py")) for name in _CONTEXT_SOURCES]
    return ((CONTEXT_PACKAGE, ""), (f"{CONTEXT_PACKAGE}.process_image", image), *own)


@functools.cache
def handler_modules() -> tuple[tuple[str, str], ...]:
    """Return name and source of the modules of Python handlers."""
    connection, call = _source(_CONTEXTS, "connection.py"), _source(_HANDLERS, "call.py")
    return ((HANDLER_PACKAGE, ""), (f"{HANDLER_PACKAGE}.connection", connection), (f"{HANDLER_PACKAGE}.call", call))


@functools.cache
def javascript_handler() -> str:
    """Return the program that calls JavaScript handlers."""
    return _source(_HANDLERS, "call.js")


@functools.cache
def notebook_modules() -> tuple[tuple[str, str], ...]:
    """Return name and source of the modules of the notebook driver, the package first."""
    modules = ((f"{NOTEBOOK_PACKAGE}.{name}", _source(_NOTEBOOK, f"{name}.py")) for name in _NOTEBOOK_SOURCES)
    return (NOTEBOOK_PACKAGE, _source(_NOTEBOOK, "__init__.py")), *modules


@functools.cache
def notebook_files() -> tuple[tuple[str, bytes], ...]:
    """Return name and content of the files of the notebook driver: the entry script and the package."""
    names = ("__init__", *_NOTEBOOK_SOURCES)
    modules = [(f"{NOTEBOOK_PACKAGE}/{name}.py", _source(_NOTEBOOK, f"{name}.py")) for name in names]
    return tuple((name, source.encode()) for name, source in [(NOTEBOOK_START, _NOTEBOOK_START_SOURCE), *modules])


def _source(package: str, name: str) -> str:
    return resources.files(package).joinpath(name).read_text(encoding="utf-8")
