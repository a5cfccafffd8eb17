"""Entry point of the driver: load, fork the kernel, connect, serve."""

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
    """Run driver and kernel. `folder` holds the sockets and belongs to this box alone. Returns in the kernel, when it has ended
    by itself."""
    try:
        _load()
    except ImportError as error:
        emit({"event": "unavailable", "text": f"the guest interpreter {sys.executable} has no Jupyter kernel: {error}"})
        os._exit(1)
    from . import application, driver, kernel

    # A socket address has room for about a hundred bytes.
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
        raise RuntimeError("the kernel died during start-up")
    serving = driver.Driver(kernel.Kernel(pid, address))
    serving.warm_up()
    emit({"event": "ready"})
    os._exit(serving.serve())


def _load() -> None:
    """Load what the kernel needs, without the debugger, which takes longer than the rest; ipykernel works without debugpy."""
    there = sys.modules.pop("debugpy", None)
    sys.modules["debugpy"] = None  # type: ignore[assignment]
    try:
        for name in ("zmq", "ipykernel.debugger", "ipykernel.kernelapp", "ipykernel_launcher"):
            importlib.import_module(name)
    finally:
        del sys.modules["debugpy"]
        if there is not None:
            sys.modules["debugpy"] = there
