"""A first process for a pid namespace that does nothing but exist.

It reaps (by ignoring SIGCHLD, which makes the kernel do it) and keeps the namespace alive; when it is killed, the kernel kills
every other process in it. No interpreter is needed: it is a clone that shares its parent's memory and runs fifty bytes of
machine code, so it costs microseconds and no memory. It keeps its parent's privileges, so the guest cannot touch it, and does
not use them. On other machines than x86-64 a plain fork does the same at the cost of a fork.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import signal
from _signal import SIG_IGN  # type: ignore[import-not-found]
from _signal import signal as _set_signal

from sandbox_runtime.isolation.kernel import descriptors, fork, libc

_CLONE_VM = 0x100
_clone = libc.Function("clone", libc.POINTER, libc.POINTER, libc.INT, libc.POINTER)

_X86_64 = bytes.fromhex(
    "b8b4010000 31ff beffffffff 31d2 0f05"  # close_range(0, ~0, 0)
    "b80d000000 bf11000000 488d3513000000 31d2 41ba08000000 0f05"  # rt_sigaction(SIGCHLD, &below, NULL, 8)
    "b822000000 0f05 ebf7"  # for (;;) pause()
    "0100000000000000 0000000000000000 0000000000000000 0000000000000000"  # {SIG_IGN, no flags, no restorer, no mask}
)


class PidOne:
    """Create it once in the process that starts them. It must outlive them, because their code is in it."""

    def __init__(self) -> None:
        self._page = _executable(_X86_64) if os.uname().machine == "x86_64" else None

    def start(self) -> int:
        """Start it and return its pid. Call after unshare(NEW_PID): the first child creates the namespace."""
        if self._page is None:
            return _fork()
        return _clone(self._page.code, self._page.stack, _CLONE_VM | signal.SIGCHLD, None)


class _Page:
    """Code at the start; at the end a stack that each clone uses for its first two instructions only."""

    def __init__(self, memory: mmap.mmap) -> None:
        self.memory = memory
        self.code = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        self.stack = self.code + len(memory) - 64


def _executable(code: bytes) -> _Page:
    memory = mmap.mmap(-1, 2 * mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    memory.write(code)
    return _Page(memory)


def _fork() -> int:
    pid = fork.fork()
    if pid:
        return pid
    _set_signal(signal.SIGCHLD, SIG_IGN)
    descriptors.close_from(0)
    while True:
        signal.pause()
