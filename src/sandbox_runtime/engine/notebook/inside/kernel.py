"""The kernel as the driver sees it: a process, and the sockets to it."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import select
import signal
from typing import Any

import zmq  # type: ignore[import-not-found]

PORTS = {"shell_port": 1, "iopub_port": 2, "stdin_port": 3, "control_port": 4, "hb_port": 5}
_DELIMITER = b"<IDS|MSG>"
_DATE = "1970-01-01T00:00:00Z"
"""Date of our requests; unused, but the kernel requires one."""

Message = tuple[str, str, list[bytes]]
"""Type, id of the request it belongs to, and frames."""


class Kernel:
    """The kernel's process and the sockets to it."""

    def __init__(self, pid: int, address: str) -> None:
        self.pid = pid
        self.pidfd = os.pidfd_open(pid)
        self.alive = True
        self.status = 0
        self.requests = itertools.count(1)
        context = zmq.Context()
        self.shell, self.control = context.socket(zmq.DEALER), context.socket(zmq.DEALER)
        self.iopub = context.socket(zmq.SUB)
        self.iopub.subscribe(b"")
        for socket, port in ((self.shell, "shell_port"), (self.iopub, "iopub_port"), (self.control, "control_port")):
            socket.connect(f"ipc://{address}-{PORTS[port]}")

    def execute(self, code: str, *, silent: bool = False) -> str:
        """Send code and return the id of the request, which all its messages carry."""
        content = {
            "code": code,
            "silent": silent,
            "store_history": not silent,
            "user_expressions": {},
            "allow_stdin": False,
            "stop_on_error": False,
        }
        return self._send(self.shell, "execute_request", content)

    def receive(self, socket: Any) -> Message | None:
        """Return the next message, or None."""
        try:
            frames = socket.recv_multipart(zmq.NOBLOCK)
        except zmq.Again:
            return None
        frames = frames[frames.index(_DELIMITER) + 1 :]
        return json.loads(frames[1])["msg_type"], json.loads(frames[2]).get("msg_id", ""), frames

    def _send(self, socket: Any, kind: str, content: dict[str, Any]) -> str:
        """Send a message of the Jupyter protocol: delimiter, signature (empty: there is no key), header, parent, metadata,
        content."""
        request = f"driver-{next(self.requests)}"
        header = {"msg_id": request, "msg_type": kind, "username": "", "session": "driver", "date": _DATE, "version": "5.3"}
        socket.send_multipart([_DELIMITER, b"", *(json.dumps(part).encode() for part in (header, {}, {}, content))])
        return request

    def signal(self, number: int) -> None:
        """Signal the kernel and what its cells started in its process group."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, number)

    def interrupt(self) -> None:
        """Interrupt the cell. The request wakes an event loop that only waits for I/O while a cell awaits something; the signal
        alone would be handled when that is over."""
        self.signal(signal.SIGINT)
        self._send(self.shell, "kernel_info_request", {})

    def request_shutdown(self) -> None:
        self._send(self.control, "shutdown_request", {"restart": False})

    def collect(self, within_s: float) -> None:
        """Wait for the end of the kernel; kill it if that takes too long."""
        if self.alive:
            if not select.select([self.pidfd], [], [], within_s)[0]:
                self.signal(signal.SIGKILL)
            self.status = os.waitpid(self.pid, 0)[1]
            self.alive = False
