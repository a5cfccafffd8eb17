"""Answer and count the system calls that the seccomp filter refuses.

A refused call blocks until it is answered. Answering costs time of the server, not of the command, so a command with many
refused calls is throttled.
"""

from __future__ import annotations

import asyncio
import os
import select

from sandbox_runtime.isolation.kernel import seccomp

MAX_NAMES = 64
UNTHROTTLED_CALLS = 200
THROTTLE_S = 0.01


class SeccompListener:
    """Owns the listener descriptor. None: calls are not counted."""

    def __init__(self, listener: int | None) -> None:
        self.counts: dict[str, int] = {}
        self._listener = -1 if listener is None else listener
        self._answered = 0
        self._pause: asyncio.TimerHandle | None = None

    def watch(self) -> None:
        if self._listener >= 0:
            asyncio.get_running_loop().add_reader(self._listener, self._answer)

    def _answer(self) -> None:
        loop = asyncio.get_running_loop()
        if not _has_pending_call(self._listener):
            loop.remove_reader(self._listener)
            return
        name = seccomp.answer_one(self._listener)
        self._answered += 1
        if name is not None and (name in self.counts or len(self.counts) < MAX_NAMES):
            self.counts[name] = self.counts.get(name, 0) + 1
        if self._answered > UNTHROTTLED_CALLS:
            loop.remove_reader(self._listener)
            self._pause = loop.call_later(THROTTLE_S, self.watch)

    def close(self) -> None:
        if self._pause is not None:
            self._pause.cancel()
        if self._listener >= 0:
            asyncio.get_running_loop().remove_reader(self._listener)
            os.close(self._listener)
            self._listener = -1


def _has_pending_call(listener: int) -> bool:
    """Whether a call waits for an answer. The listener also wakes us when its last process is gone; reading then would block
    forever."""
    poll = select.poll()
    poll.register(listener, select.POLLIN)
    return any(event & select.POLLIN for _, event in poll.poll(0))
