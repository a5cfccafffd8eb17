"""What the kernel and its driver need, to be loaded before a notebook comes. The debugger is not among it: see driver.load."""

from __future__ import annotations

MODULES = (
    "collections", "ctypes", "faulthandler", "itertools", "json", "select", "signal", "unicodedata",
    "asyncio", "zmq", "tornado.gen", "tornado.locks", "tornado.platform.asyncio", "tornado.queues",
    "IPython.core.completer", "IPython.core.completerlib", "IPython.core.debugger", "IPython.core.oinspect",
    "IPython.extensions.storemagic", "IPython.utils.wildcard",
    "ipykernel.compiler", "ipykernel.displayhook", "ipykernel.iostream", "ipykernel.kernelapp", "ipykernel.subshell_manager",
    "ipykernel.zmqshell", "ipykernel_launcher", "jupyter_client.session",
)  # fmt: skip
"""None of them starts a thread or makes a context of zmq while it is loaded."""
