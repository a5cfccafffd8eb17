"""Modules of the kernel and its driver, loaded before a notebook arrives. Without the debugger: see inside/start.py."""

from __future__ import annotations

MODULES = (
    "collections", "ctypes", "faulthandler", "itertools", "json", "select", "signal", "unicodedata",
    "asyncio", "zmq", "tornado.gen", "tornado.locks", "tornado.platform.asyncio", "tornado.queues",
    "IPython.core.completer", "IPython.core.completerlib", "IPython.core.debugger", "IPython.core.oinspect",
    "IPython.extensions.storemagic", "IPython.utils.wildcard",
    "ipykernel.compiler", "ipykernel.displayhook", "ipykernel.iostream", "ipykernel.kernelapp", "ipykernel.subshell_manager",
    "ipykernel.zmqshell", "ipykernel_launcher", "jupyter_client.session",
)  # fmt: skip
"""None of them starts a thread or creates a zmq context on import."""
