"""Read orders, pass cells to the kernel, emit events. The package describes both formats."""

from __future__ import annotations

import collections
import json
import os
import select
import signal
import time

import zmq  # type: ignore[import-not-found]

from .events import Event, emit
from .kernel import Kernel, Message

KERNEL_DIED = 3
INTERRUPT_GRACE_S = 2.0
"""How long an interrupted cell may take to stop before the kernel is killed."""
SHUTDOWN_WITHIN_S = 3.0
"""How long a kernel may take to shut down."""
DRAIN_MS = 20
MAX_DISPLAY_BYTES = 8 * 1024**2
STREAM_PIECE_CHARACTERS = 256 * 1024
MAX_STREAM_CHARACTERS = 8 * 1024**2
READ_BYTES = 1024**2
MESSAGES_PER_STEP = 256
_WARMUP_CODE, _WARMUP_CELLS = "print()", 3


class Cell:
    def __init__(self, number: int, request: str, wall_s: float) -> None:
        self.number = number
        self.request = request
        self.deadline = time.monotonic() + wall_s if wall_s > 0 else None
        self.interrupted = False
        self.replied: str | None = None
        self.idle = False


class Driver:
    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.cell: Cell | None = None
        self.orders: collections.deque[Event] = collections.deque()
        self.numbers: dict[str, int] = {}
        self.input = bytearray()
        self.input_ended = False
        self.leaving = False
        """A cell asked the kernel to exit."""
        self.poller = zmq.Poller()
        for source in (0, kernel.pidfd, kernel.iopub, kernel.shell):
            self.poller.register(source, zmq.POLLIN)

    def warm_up(self) -> None:
        """Run harmless cells: they connect the kernel's threads and sockets, so that the first real cell is quick."""
        while self.kernel.alive and ((message := self._next_output()) is None or message[0] != "iopub_welcome"):
            self._wait()
        for _ in range(_WARMUP_CELLS):
            self.cell = Cell(-1, self.kernel.execute(_WARMUP_CODE, silent=True), 0)
            while self._busy():
                self._step()
        if not self.kernel.alive:
            raise RuntimeError(f"the kernel died during start-up with status {self.kernel.status}")

    def _busy(self) -> bool:
        return self.cell is not None and self.kernel.alive

    def serve(self) -> int:
        """Serve until a shutdown order; return the exit status."""
        while (order := self._next_order()) is None or order["do"] != "shutdown":
            if order is not None:
                self._begin(order)
            self._step()
        died = not self.kernel.alive and not self.leaving
        if self.kernel.alive and order.get("gently"):
            self.kernel.request_shutdown()
            self.kernel.collect(SHUTDOWN_WITHIN_S)
        self.kernel.signal(signal.SIGKILL)  # so that it ends with us, not after us
        return KERNEL_DIED if died else 0

    def _next_order(self) -> Event | None:
        if self.cell is not None:
            return None
        if not self.orders and self.input_ended:
            return {"do": "shutdown"}
        return self.orders.popleft() if self.orders else None

    def _begin(self, order: Event) -> None:
        number = order["cell"]
        if self.leaving:
            self.kernel.collect(SHUTDOWN_WITHIN_S)
        if not self.kernel.alive:
            emit({"event": "done", "cell": number, "how": "not_run"})
            return
        request = self.kernel.execute(order["code"])
        self.numbers[request] = number
        self.cell = Cell(number, request, order["wall_s"])

    def _step(self) -> None:
        """Wait for an event and handle it."""
        if not self.orders or self.cell is not None:
            self._wait()
        for _ in range(MESSAGES_PER_STEP):
            if (message := self._next_output()) is None:
                break
            self._on_iopub(*message)
        if self.kernel.alive and (reply := self.kernel.receive(self.kernel.shell)) is not None:
            self._on_reply(*reply)
        self._read_orders()
        if self.cell is not None:
            self._watch(self.cell)

    def _wait(self) -> None:
        deadline = self.cell.deadline if self.cell is not None else None
        wait_ms = None if deadline is None else max(0, int((deadline - time.monotonic()) * 1000) + 1)
        if any(source == self.kernel.pidfd for source, _ in self.poller.poll(wait_ms)) and self.kernel.alive:
            self._on_kernel_exit()

    def _next_output(self) -> Message | None:
        return self.kernel.receive(self.kernel.iopub)

    def _on_iopub(self, kind: str, request: str, frames: list[bytes]) -> None:
        number = self.numbers.get(request)
        if kind == "status":
            if self.cell is not None and request == self.cell.request:
                self.cell.idle |= json.loads(frames[4])["execution_state"] == "idle"
        elif number is None:
            return
        elif kind == "stream":
            self._emit_stream(number, json.loads(frames[4]))
        elif kind in ("display_data", "execute_result", "error"):
            self._emit_output(number, kind, frames[4])

    def _emit_stream(self, number: int, content: Event) -> None:
        text = content["text"]
        if len(text) > MAX_STREAM_CHARACTERS:
            half = MAX_STREAM_CHARACTERS // 2
            text = f"{text[:half]}\n[... {len(text) - MAX_STREAM_CHARACTERS} characters dropped ...]\n{text[-half:]}"
        for start in range(0, len(text), STREAM_PIECE_CHARACTERS):
            piece = text[start : start + STREAM_PIECE_CHARACTERS]
            emit({"event": "stream", "cell": number, "name": content["name"], "text": piece})

    def _emit_output(self, number: int, kind: str, content: bytes) -> None:
        if len(content) > MAX_DISPLAY_BYTES:
            emit({"event": "dropped", "cell": number, "bytes": len(content)})
        elif kind == "error":
            error = json.loads(content)
            emit({"event": "error", "cell": number, **{name: error[name] for name in ("ename", "evalue", "traceback")}})
        else:
            emit({"event": "display", "cell": number, "data": json.loads(content)["data"]})

    def _on_reply(self, kind: str, request: str, frames: list[bytes]) -> None:
        if kind != "execute_reply" or self.cell is None or request != self.cell.request:
            return
        content = json.loads(frames[4])
        self.cell.replied = "ok" if content["status"] == "ok" else "error"
        self.leaving = any(
            entry.get("source") == "ask_exit" and not entry.get("keepkernel") for entry in content.get("payload", ())
        )

    def _read_orders(self) -> None:
        if self.input_ended or not select.select([0], [], [], 0)[0]:
            return
        data = os.read(0, READ_BYTES)
        if not data:
            self.input_ended = True
            self.poller.unregister(0)
        self.input += data
        *lines, rest = self.input.split(b"\n") if b"\n" in data else (self.input,)
        self.input = bytearray(rest)
        for order in map(json.loads, lines):
            if order["do"] == "interrupt":
                self.kernel.interrupt()
            else:
                self.orders.append(order)

    def _watch(self, cell: Cell) -> None:
        if cell.idle and cell.replied is not None:
            self._done(cell, "timed_out" if cell.interrupted else cell.replied)
        elif cell.deadline is not None and time.monotonic() >= cell.deadline:
            self._stop(cell)

    def _stop(self, cell: Cell) -> None:
        if cell.interrupted:
            self.kernel.signal(signal.SIGKILL)
            self.kernel.collect(SHUTDOWN_WITHIN_S)
            self._unregister_kernel()
            self._done(cell, "killed")
        else:
            cell.interrupted = True
            cell.deadline = time.monotonic() + INTERRUPT_GRACE_S
            self.kernel.interrupt()

    def _done(self, cell: Cell, how: str, **more: int) -> None:
        self.cell = None
        if cell.number >= 0:
            emit({"event": "done", "cell": cell.number, "how": how, **more})

    def _on_kernel_exit(self) -> None:
        """The kernel has ended. Its last messages may still arrive."""
        self.kernel.collect(0)
        self._unregister_kernel()
        while self.kernel.iopub.poll(DRAIN_MS):
            message = self._next_output()
            if message is not None:
                self._on_iopub(*message)
        if self.cell is not None:
            self._done(self.cell, "died", **_exit_fields(self.kernel.status))

    def _unregister_kernel(self) -> None:
        self.poller.unregister(self.kernel.pidfd)


def _exit_fields(status: int) -> dict[str, int]:
    return {"signal": os.WTERMSIG(status)} if os.WIFSIGNALED(status) else {"code": os.WEXITSTATUS(status)}
