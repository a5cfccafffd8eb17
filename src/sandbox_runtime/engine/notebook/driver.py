"""The program in the box that runs a notebook's cells in a real Jupyter kernel, and tells of it.

Theory of operation. Two processes, both in the box and both the guest's own user:

    server ──stdin/stdout, one JSON object a line──▶ driver ──fork──▶ kernel (ipykernel)
                                                       └───────ipc sockets in the box───┘

The driver is the first process of its box: when it ends, the box ends. It speaks the Jupyter protocol with the kernel over
sockets in its own folder; the server never opens anything that the guest could have made. The kernel gets a session of its own,
an empty standard input and none of the driver's descriptors, and the driver cannot be looked into from outside, so that cells
cannot write into what it tells by accident. Whatever they manage on purpose spoils their own answer and nothing else.

Orders:  {"do": "execute", "cell": 0, "code": "…", "wall_s": 0}   cells run in order; wall_s 0: no limit of its own
         {"do": "interrupt"}                                      the running cell
         {"do": "shutdown", "gently": true}                       after the cells before it; gently: the kernel ends by itself
Events:  ready | stream (name, text) | display (data) | error (ename, evalue, traceback) | dropped (bytes) | done (how)
         each but `ready` with the cell it belongs to; unavailable (text) instead of `ready` where there is no kernel to start.
A cell ends `ok`, `error`, `timed_out` (was interrupted), `killed` (did not heed the interrupt), `died` (took the kernel with
it; with code or signal), or was `not_run` because the kernel is gone.

The exit status is 0, or KERNEL_DIED when the kernel did not live to the end: the kernel's own accounts then say whether it was
the memory limit. Runs under the guest's interpreter: the standard library, ipykernel and what that brings.
"""

from __future__ import annotations

import collections
import ctypes
import json
import os
import select
import signal
import sys
import time
from typing import Any

KERNEL_DIED = 3
INTERRUPT_GRACE_S = 2.0
"""How long an interrupted cell has to stop before the kernel is killed."""
LEAVE_WITHIN_S = 3.0
"""How long a kernel that was asked to end may take."""
LAST_WORDS_MS = 20
LARGEST_DISPLAY_BYTES = 8 * 1024**2
STREAM_PIECE = 256 * 1024
KEPT_OF_A_PIECE = 8 * 1024**2
READ_BYTES = 1024**2
MESSAGES_A_TURN = 256

_SET_DUMPABLE = 4
_FIRST_TO_GO = b"500"
_PORTS = {"shell_port": 1, "iopub_port": 2, "stdin_port": 3, "control_port": 4, "hb_port": 5}
_REHEARSAL = "print()"

Event = dict[str, Any]


def emit(event: Event) -> None:
    """Half characters cannot be encoded: they travel as JSON's own escapes."""
    data = memoryview(json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode(errors="backslashreplace") + b"\n")
    while data:
        data = data[os.write(1, data) :]


def set_dumpable(value: bool) -> None:
    ctypes.CDLL(None).prctl(_SET_DUMPABLE, int(value), 0, 0, 0)


class Kernel:
    """The kernel's process and the sockets to it."""

    def __init__(self, pid: int, address: str) -> None:
        import zmq
        from jupyter_client.session import Session

        self.pid = pid
        self.pidfd = os.pidfd_open(pid)
        self.alive = True
        self.status = 0
        self.session = Session(key=b"")
        context = zmq.Context()
        self.shell, self.control = context.socket(zmq.DEALER), context.socket(zmq.DEALER)
        self.iopub = context.socket(zmq.SUB)
        self.iopub.subscribe(b"")
        for socket, port in ((self.shell, "shell_port"), (self.iopub, "iopub_port"), (self.control, "control_port")):
            socket.connect(f"ipc://{address}-{_PORTS[port]}")

    def execute(self, code: str, *, silent: bool = False) -> str:
        """The id of the request, which everything that comes of it carries."""
        content = {
            "code": code,
            "silent": silent,
            "store_history": not silent,
            "user_expressions": {},
            "allow_stdin": False,
            "stop_on_error": False,
        }
        return str(self.session.send(self.shell, "execute_request", content)["header"]["msg_id"])

    def receive(self, socket: Any) -> tuple[str, str, list[bytes]] | None:
        """Type, id of the request it belongs to, and the frames; None where nothing has come."""
        import zmq

        try:
            frames = socket.recv_multipart(zmq.NOBLOCK)
        except zmq.Again:
            return None
        _, frames = self.session.feed_identities(frames)
        return json.loads(frames[1])["msg_type"], json.loads(frames[2]).get("msg_id", ""), frames

    def signal(self, number: int) -> None:
        """To the kernel and what its cells have started in its session's first group."""
        try:
            os.killpg(self.pid, number)
        except ProcessLookupError:
            pass

    def ask_to_leave(self) -> None:
        self.session.send(self.control, "shutdown_request", {"restart": False})

    def collect(self, within_s: float) -> None:
        """Wait for its end, and bring it about where that takes too long."""
        if self.alive:
            if not select.select([self.pidfd], [], [], within_s)[0]:
                self.signal(signal.SIGKILL)
            self.status = os.waitpid(self.pid, 0)[1]
            self.alive = False


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
        import zmq

        self.kernel = kernel
        self.cell: Cell | None = None
        self.orders: collections.deque[Event] = collections.deque()
        self.numbers: dict[str, int] = {}
        self.input = bytearray()
        self.input_ended = False
        self.leaving = False
        """The kernel was asked to end by a cell (exit), and is about to."""
        self.poller = zmq.Poller()
        for source in (0, kernel.pidfd, kernel.iopub, kernel.shell):
            self.poller.register(source, zmq.POLLIN)

    def rehearse(self) -> None:
        """Run a cell of no consequence: the kernel's threads and sockets have met by then, and its first real cell is quick."""
        while (heard := self._next_output()) is None or heard[0] != "iopub_welcome":
            self._wait()
        self.cell = Cell(-1, self.kernel.execute(_REHEARSAL, silent=True), 0)
        while self.cell is not None:
            self._turn()

    def serve(self) -> int:
        """Until told to end; the exit status."""
        while (order := self._next_order()) is None or order["do"] != "shutdown":
            if order is not None:
                self._begin(order)
            self._turn()
        if self.kernel.alive and not self.leaving:
            if order.get("gently"):
                self.kernel.ask_to_leave()
                self.kernel.collect(LEAVE_WITHIN_S)
            return 0
        return 0 if self.leaving else KERNEL_DIED

    def _next_order(self) -> Event | None:
        if self.cell is not None:
            return None
        if not self.orders and self.input_ended:
            return {"do": "shutdown"}
        return self.orders.popleft() if self.orders else None

    def _begin(self, order: Event) -> None:
        number = order["cell"]
        if self.leaving:
            self.kernel.collect(LEAVE_WITHIN_S)
        if not self.kernel.alive:
            emit({"event": "done", "cell": number, "how": "not_run"})
            return
        request = self.kernel.execute(order["code"])
        self.numbers[request] = number
        self.cell = Cell(number, request, order["wall_s"])

    def _turn(self) -> None:
        """Wait for something to happen and deal with it."""
        if not self.orders or self.cell is not None:
            self._wait()
        for _ in range(MESSAGES_A_TURN):
            if (heard := self._next_output()) is None:
                break
            self._hear_output(*heard)
        if self.kernel.alive and (reply := self.kernel.receive(self.kernel.shell)) is not None:
            self._hear_reply(*reply)
        self._read_orders()
        if self.cell is not None:
            self._watch(self.cell)

    def _wait(self) -> None:
        deadline = self.cell.deadline if self.cell is not None else None
        wait_ms = None if deadline is None else max(0, int((deadline - time.monotonic()) * 1000) + 1)
        if any(source == self.kernel.pidfd for source, _ in self.poller.poll(wait_ms)) and self.kernel.alive:
            self._bury()

    def _next_output(self) -> tuple[str, str, list[bytes]] | None:
        return self.kernel.receive(self.kernel.iopub)

    def _hear_output(self, kind: str, request: str, frames: list[bytes]) -> None:
        number = self.numbers.get(request)
        if kind == "status":
            if self.cell is not None and request == self.cell.request:
                self.cell.idle |= json.loads(frames[4])["execution_state"] == "idle"
        elif number is None:
            return
        elif kind == "stream":
            self._tell_stream(number, json.loads(frames[4]))
        elif kind in ("display_data", "execute_result", "error"):
            self._tell(number, kind, frames[4])

    def _tell_stream(self, number: int, content: Event) -> None:
        text = content["text"]
        if len(text) > KEPT_OF_A_PIECE:
            half = KEPT_OF_A_PIECE // 2
            text = f"{text[:half]}\n[... {len(text) - KEPT_OF_A_PIECE} characters dropped ...]\n{text[-half:]}"
        for start in range(0, len(text), STREAM_PIECE):
            piece = text[start : start + STREAM_PIECE]
            emit({"event": "stream", "cell": number, "name": content["name"], "text": piece})

    def _tell(self, number: int, kind: str, content: bytes) -> None:
        if len(content) > LARGEST_DISPLAY_BYTES:
            emit({"event": "dropped", "cell": number, "bytes": len(content)})
        elif kind == "error":
            told = json.loads(content)
            emit({"event": "error", "cell": number, **{name: told[name] for name in ("ename", "evalue", "traceback")}})
        else:
            emit({"event": "display", "cell": number, "data": json.loads(content)["data"]})

    def _hear_reply(self, kind: str, request: str, frames: list[bytes]) -> None:
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
                self.kernel.signal(signal.SIGINT)
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
            self.kernel.collect(LEAVE_WITHIN_S)
            self._forget_kernel()
            self._done(cell, "killed")
        else:
            cell.interrupted = True
            cell.deadline = time.monotonic() + INTERRUPT_GRACE_S
            self.kernel.signal(signal.SIGINT)

    def _done(self, cell: Cell, how: str, **more: int) -> None:
        self.cell = None
        if cell.number >= 0:
            emit({"event": "done", "cell": cell.number, "how": how, **more})

    def _bury(self) -> None:
        """The kernel has ended. What it said before is still on its way."""
        self.kernel.collect(0)
        self._forget_kernel()
        while self.kernel.iopub.poll(LAST_WORDS_MS):
            heard = self._next_output()
            if heard is not None:
                self._hear_output(*heard)
        if self.cell is not None and self.cell.number < 0:
            raise RuntimeError(f"the kernel died while it started, with status {self.kernel.status}")
        if self.cell is not None:
            self._done(self.cell, "died", **_told_by(self.kernel.status))

    def _forget_kernel(self) -> None:
        self.poller.unregister(self.kernel.pidfd)


def _told_by(status: int) -> dict[str, int]:
    return {"signal": os.WTERMSIG(status)} if os.WIFSIGNALED(status) else {"code": os.WEXITSTATUS(status)}


def become_kernel(address: str, connection_file: str, ready: int) -> None:
    """Returns when the kernel has ended by itself."""
    import ipykernel_launcher

    os.setsid()
    set_dumpable(True)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    os.close(nothing)
    _be_first_to_go()
    sys.path.pop(0)
    sys.argv[:] = [ipykernel_launcher.__file__, "-f", connection_file]
    app = make_app(connection_file)
    _show_figures_inline()
    # What was not there a moment ago may be there in the next: files are brought in while the kernel waits.
    sys.path_importer_cache.pop(os.getcwd(), None)
    os.write(ready, b"1")
    os.close(ready)
    app.start()


def make_app(connection_file: str) -> Any:
    """An ipykernel as it always is, less what nobody here can use: command line, configuration files, heartbeat, debugger and a
    history on disk. Its output waits for us instead of being dropped when it comes too fast."""
    import zmq
    from ipykernel.kernelapp import IPKernelApp
    from traitlets.config import Config

    class KernelApp(IPKernelApp):  # type: ignore[misc]
        def parse_command_line(self, argv: object = None) -> None:
            self.extra_args: list[str] = []

        def load_config_file(self, *_words: object, **_more: object) -> None: ...

        def init_heartbeat(self) -> None: ...

        def init_iopub(self, context: Any) -> None:
            context.setsockopt(zmq.XPUB_NODROP, 1)
            super().init_iopub(context)
            del context.sockopts[zmq.XPUB_NODROP]

    config = Config()
    config.HistoryManager.enabled = False
    config.IPKernelApp.parent_handle = 1  # it need not watch over us: it cannot outlive us
    config.IPKernelApp.connection_file = connection_file
    app = KernelApp.instance(config=config)
    app.initialize([])
    return app


def _be_first_to_go() -> None:
    """When memory runs out, the kernel and its children go before the driver, which then tells of it."""
    try:
        with open("/proc/self/oom_score_adj", "wb") as file:
            file.write(_FIRST_TO_GO)
    except OSError:
        pass  # then whoever has most memory goes, and the box's own accounts still tell why


def _show_figures_inline() -> None:
    """A matplotlib that was loaded before the kernel began has not seen what the kernel sets for it."""
    matplotlib = sys.modules.get("matplotlib")
    if matplotlib is not None:
        matplotlib.rcParams["backend"] = os.environ["MPLBACKEND"]


def load() -> None:
    """Everything that the kernel needs, without the debugger, which would take longer than all the rest."""
    there = sys.modules.pop("debugpy", None)
    sys.modules["debugpy"] = None  # type: ignore[assignment]
    try:
        import ipykernel.debugger
        import ipykernel.kernelapp
        import jupyter_client.session
        import zmq  # noqa: F401
    finally:
        del sys.modules["debugpy"]
        if there is not None:
            sys.modules["debugpy"] = there


def main() -> int | None:
    """The exit status of the driver; None in the kernel."""
    try:
        load()
    except ImportError as error:
        emit({"event": "unavailable", "text": f"the guest interpreter {sys.executable} has no Jupyter kernel: {error}"})
        return 1
    folder = os.path.dirname(os.path.abspath(__file__))
    address, connection_file = f"{folder}/kernel", f"{folder}/connection.json"
    with open(connection_file, "w", encoding="ascii") as file:
        json.dump({"ip": address, "transport": "ipc", "key": "", "signature_scheme": "hmac-sha256", **_PORTS}, file)
    starting, ready = os.pipe()
    set_dumpable(False)
    pid = os.fork()
    if pid == 0:
        os.close(starting)
        become_kernel(address, connection_file, ready)
        return None
    os.close(ready)
    if not os.read(starting, 1):
        raise RuntimeError("the kernel died while it started")
    driver = Driver(Kernel(pid, address))
    driver.rehearse()
    emit({"event": "ready"})
    return driver.serve()


if __name__ == "__main__":
    _status = main()
    if _status is not None:
        os._exit(_status)
