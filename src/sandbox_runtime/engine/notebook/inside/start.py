"""Where the driver begins: load, fork the kernel, meet it, serve."""

from __future__ import annotations

import importlib
import json
import os
import sys

from .events import emit


def preload() -> None:
    """Called once in an interpreter from which boxes are forked."""
    _load()


def run(folder: str) -> None:
    """folder: for the sockets, this box's alone. Returns in the kernel, when it has ended by itself."""
    try:
        _load()
    except ImportError as error:
        emit({"event": "unavailable", "text": f"the guest interpreter {sys.executable} has no Jupyter kernel: {error}"})
        os._exit(1)
    from . import application, driver, kernel

    # The address of a socket has room for about a hundred bytes.
    address = min(f"{folder}/kernel", f"{os.path.relpath(folder)}/kernel", key=len)
    connection_file = f"{folder}/connection.json"
    with open(connection_file, "w", encoding="ascii") as file:
        json.dump({"ip": address, "transport": "ipc", "key": "", "signature_scheme": "hmac-sha256", **kernel.PORTS}, file)
    starting, ready = os.pipe()
    application.set_dumpable(False)
    pid = os.fork()
    if pid == 0:
        os.close(starting)
        application.become(connection_file, ready)
        return
    os.close(ready)
    if not os.read(starting, 1):
        raise RuntimeError("the kernel died while it started")
    serving = driver.Driver(kernel.Kernel(pid, address))
    serving.warm_up()
    emit({"event": "ready"})
    os._exit(serving.serve())


def _load() -> None:
    """What the kernel needs, without the debugger, which would take longer than all the rest: a missing debugpy is something that
    ipykernel puts up with."""
    there = sys.modules.pop("debugpy", None)
    sys.modules["debugpy"] = None  # type: ignore[assignment]
    try:
        for name in ("zmq", "ipykernel.debugger", "ipykernel.kernelapp", "ipykernel_launcher"):
            importlib.import_module(name)
    finally:
        del sys.modules["debugpy"]
        if there is not None:
            sys.modules["debugpy"] = there
