"""An interpreter that keeps its variables: IPython's shell without a kernel around it.

One thread, no sockets but the connection to the server. Printed output goes to the process's own streams, which the server
reads; rich results, errors and endings go over the connection:

    orders:  execute (code)   fork, with descriptors   become, with descriptors   rehearse
    events:  ready   forked (status)   and of a cell: display (data)   error (ename, evalue, traceback)   done (how)

Each event of a cell carries the `turn` of the order that started the cell, so that no event counts for another cell.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import socket
import sys
import traceback
from typing import Any

from . import process_image  # type: ignore[attr-defined]  # given beside us
from .connection import Connection, Message

_CONTROL_FD = 3
_PLOTS = "module://matplotlib_inline.backend_inline"


class Interpreter:
    """Created once in a spawner; serve() is called in a box."""

    def __init__(self) -> None:
        self._shell = _shell(self._show)
        self._connection: Connection
        self._cell_token = ""

    def serve(self) -> None:
        """Serve until the server is gone. Interrupts between executions are ignored."""
        self._connection = Connection(_CONTROL_FD)
        os.environ.setdefault("MPLBACKEND", _PLOTS)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        self._connection.send({"event": "ready", "can_fork": process_image.SUPPORTED})
        while True:
            try:
                order, descriptors = self._connection.receive()
            except EOFError:
                os._exit(0)
            getattr(self, f"_{order['do']}")(order, descriptors)

    def _execute(self, order: Message, _descriptors: list[int]) -> None:
        self._cell_token = order["turn"]
        try:
            error = self._run(order["code"])
        except KeyboardInterrupt as interrupt:  # too late for the cell
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            error = _error_fields(interrupt)
        _flush()
        if error is not None:
            self._emit({"event": "error", **error})
        self._emit({"event": "done", "how": "ok" if error is None else "error"})

    def _run(self, code: str) -> Message | None:
        self._shell.error_fields = None
        signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            result = self._shell.run_cell(code, store_history=True)
        finally:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        error_fields: Message | None = self._shell.error_fields
        if error_fields is None and not result.success:
            # An interrupt while the shell reported an earlier one: the cell failed anyway.
            error_fields = _error_fields(result.error_in_exec or result.error_before_exec)
        return error_fields

    def _show(self, data: Message) -> None:
        _flush()
        self._emit({"event": "display", "data": data})

    def _emit(self, event: Message) -> None:
        self._connection.send({**event, "cell": 0, "turn": self._cell_token})

    def _fork(self, _order: Message, descriptors: list[int]) -> None:
        """Fork the source of a copy and wait for its end. Descriptors: to the copy, to the server, the plan."""
        peer, server, plan = descriptors
        _flush()
        child = os.fork()
        if child == 0:
            self._be_source(peer, server, plan)
            self._adopt_process()
            return
        for descriptor in descriptors:
            os.close(descriptor)
        _, status = os.waitpid(child, 0)
        self._connection.send({"event": "forked", "status": os.waitstatus_to_exitcode(status)})

    def _be_source(self, peer: int, server: int, plan: int) -> None:
        """Returns only in the copy, where none of these descriptors are open."""
        maps, pages = (os.open(f"/proc/self/{name}", os.O_RDONLY) for name in ("maps", "pagemap"))
        with socket.socket(fileno=os.dup(server)) as sock:
            socket.send_fds(sock, [f"{process_image.heap_end()} {peer}".encode()], [maps, pages])
        os.close(maps)
        os.close(pages)
        process_image.park(peer, plan)

    def _rehearse(self, _order: Message, _descriptors: list[int]) -> None:
        process_image.rehearse()

    def _become(self, order: Message, descriptors: list[int]) -> None:
        """Become the source, and never return. Descriptors: to the source, the plan, the source's maps and pages."""
        peer, plan, maps, pages = descriptors
        process_image.become(process_image.ParkedProcess(peer, maps, pages, *order["there"]), plan)

    def _adopt_process(self) -> None:
        """Run in the copy: renew what the kernel keeps per process."""
        ctypes.pythonapi.PyOS_AfterFork_Child()
        for number in range(1, signal.NSIG):
            handler = signal.getsignal(number) if number not in (signal.SIGKILL, signal.SIGSTOP) else None
            if handler is not None and handler is not signal.SIG_DFL and number < signal.SIGRTMIN:
                signal.signal(number, handler)
        _reseed()
        self._connection.send({"event": "ready", "can_fork": True})


def _shell(show: Any) -> Any:
    """Create the shell, with displays and errors of cells sent to us."""
    from IPython.core.displayhook import DisplayHook  # type: ignore[import-not-found]
    from IPython.core.displaypub import DisplayPublisher  # type: ignore[import-not-found]
    from IPython.core.interactiveshell import InteractiveShell  # type: ignore[import-not-found]
    from traitlets.config import Config  # type: ignore[import-not-found]

    class Publisher(DisplayPublisher):  # type: ignore[misc]
        def publish(self, data: Any, metadata: Any = None, **_more: Any) -> None:
            show(data)

        def clear_output(self, wait: bool = False) -> None:
            pass

    class Hook(DisplayHook):  # type: ignore[misc]
        def write_output_prompt(self) -> None:
            pass

        def write_format_data(self, format_dict: Any, md_dict: Any = None) -> None:
            show(format_dict)

        def finish_displayhook(self) -> None:
            pass

    class Shell(InteractiveShell):  # type: ignore[misc]
        error_fields: Message | None = None

        def enable_gui(self, gui: Any = None) -> None:
            """No window and no event loop exist here."""

        def _showtraceback(self, kind: Any, value: Any, lines: Any) -> None:
            self.error_fields = {"ename": getattr(kind, "__name__", str(kind)), "evalue": str(value), "traceback": list(lines)}
            sys.stderr.write(_plain("\n".join(lines)) + "\n")

    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    config.InteractiveShell.xmode = "Context"
    config.InteractiveShell.autoindent = False
    config.InteractiveShell.banner1 = ""
    return Shell.instance(config=config, display_pub_class=Publisher, displayhook_class=Hook)


def _plain(text: str) -> str:
    import re

    return re.sub("\x1b\\[[0-9;]*m", "", text)


def _error_fields(error: BaseException) -> Message:
    return {"ename": type(error).__name__, "evalue": str(error), "traceback": traceback.format_exception(error)}


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()


def _reseed() -> None:
    for name in ("random", "numpy.random"):
        module = sys.modules.get(name)
        if module is not None:
            module.seed()
