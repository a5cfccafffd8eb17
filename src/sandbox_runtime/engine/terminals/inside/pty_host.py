"""Run a command on a new terminal and relay between it and the server.

Two processes: the command, leader of a session whose terminal is the new one, and this one, which holds the other end. What
appears there goes to standard output. Descriptor 3 carries frames: a kind, a length, then keys or a new size. Arguments: rows,
columns, then the command.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import struct
import sys
import termios

CONTROL_FD, OUTPUT = 3, 1
KEYS, SIZE = 0, 1
HEAD = struct.Struct(">BH")
DIMENSIONS = struct.Struct(">HH")
PIECE_BYTES = 64 * 1024


class PtyHost:
    def __init__(self, master: int) -> None:
        self._master = master
        self._frames = b""
        self._keys = b""
        self._connection_open = True

    def serve(self) -> None:
        """Relay until no process has the terminal open."""
        os.set_blocking(self._master, False)
        while True:
            listening = [self._master, *([CONTROL_FD] if self._connection_open and len(self._keys) < PIECE_BYTES else [])]
            readable, writable, _ = select.select(listening, [self._master] if self._keys else [], [])
            if CONTROL_FD in readable:
                self._take()
            if writable:
                self._type()
            if self._master in readable and not self._show():
                return

    def _show(self) -> bool:
        try:
            piece = os.read(self._master, PIECE_BYTES)
        except BlockingIOError:
            return True
        except OSError:  # the last process that had it open is gone
            return False
        while piece:
            piece = piece[os.write(OUTPUT, piece) :]
        return True

    def _type(self) -> None:
        with contextlib.suppress(BlockingIOError):
            self._keys = self._keys[os.write(self._master, self._keys) :]

    def _take(self) -> None:
        received = os.read(CONTROL_FD, PIECE_BYTES)
        if not received:
            self._connection_open = False
        self._frames += received
        while len(self._frames) >= HEAD.size:
            kind, length = HEAD.unpack_from(self._frames)
            if len(self._frames) < HEAD.size + length:
                return
            body = self._frames[HEAD.size : HEAD.size + length]
            self._frames = self._frames[HEAD.size + length :]
            if kind == KEYS:
                self._keys += body
            elif kind == SIZE and length == DIMENSIONS.size:
                resize(self._master, *DIMENSIONS.unpack(body))


def resize(master: int, rows: int, columns: int) -> None:
    """Set the size. The kernel signals the foreground process."""
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def run(arguments: list[str]) -> int:
    rows, columns, *command = arguments
    master, slave = os.openpty()
    resize(master, int(rows), int(columns))
    child = os.fork()
    if child == 0:
        become(slave, command)
    os.close(slave)
    try:
        PtyHost(master).serve()
    finally:
        os.close(master)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def become(terminal: int, command: list[str]) -> None:
    """Become the command, leader of a session with this terminal. It inherits neither Python's descriptors nor the control
    socket."""
    try:
        os.setsid()
        fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
        for standard in (0, 1, 2):
            os.dup2(terminal, standard)
        os.close(CONTROL_FD)
        os.execvp(command[0], command)
    except OSError as error:
        os.write(2, f"{command[0]}: {error.strerror}\n".encode())
    finally:
        os._exit(127)


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
