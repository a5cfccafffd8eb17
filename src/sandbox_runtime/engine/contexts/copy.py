"""Continue one context in the box of another; see isolation/inside/process_image.py for how.

The server creates what connects the two processes: a socket pair, and a file for the plan of the transfer. It opens nothing
that a guest made, and reads nothing of what is transferred.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
from collections.abc import Iterator

from sandbox_runtime.engine.contexts.context import Context
from sandbox_runtime.errors import Conflict, PlatformFault, Unavailable
from sandbox_runtime.isolation.channel import wait_readable

PARK_WITHIN_S = 30.0
_PLAN_BYTES = 16 * 1024**2
_MAX_REPLY_BYTES = 100


async def copy(original: Context, target: Context) -> None:
    """Continue `original` in `target`, which has run nothing yet; `original` continues as well. Both must come from the same
    backend and the same preset."""
    if not original.can_be_copied or not target.can_be_copied:
        raise Unavailable("contexts cannot be copied on this machine: copying needs Linux on x86-64 and the namespaces backend")
    if original.busy:
        raise Conflict("the context is running a cell: wait for it or interrupt it")
    assert original.connection is not None and target.connection is not None
    with _CopyChannels() as channels:
        target.expect_replacement()
        await original.connection.send({"do": "fork"}, [channels.to_copy.fileno(), channels.to_server.fileno(), channels.plan])
        channels.to_copy.close()
        channels.to_server.close()
        addresses, passed = await _receive_source(channels.from_source)
        try:
            descriptors = [channels.to_source.fileno(), channels.plan, *passed]
            await target.connection.send({"do": "become", "there": addresses}, descriptors)
        finally:
            for descriptor in passed:
                os.close(descriptor)
    await target.until_ready()


class _CopyChannels:
    """Everything that is passed to the two processes; our copies are closed when both have theirs."""

    def __enter__(self) -> _CopyChannels:
        with contextlib.ExitStack() as opened:
            self.to_copy, self.to_source = _pair(opened)
            self.to_server, self.from_source = _pair(opened)
            self.plan = opened.enter_context(_memory("plan", _PLAN_BYTES))
            self._opened = opened.pop_all()
        return self

    def __exit__(self, *_error: object) -> None:
        self._opened.close()


def _pair(opened: contextlib.ExitStack) -> tuple[socket.socket, socket.socket]:
    left, right = socket.socketpair()
    return opened.enter_context(left), opened.enter_context(right)


@contextlib.contextmanager
def _memory(name: str, size_bytes: int) -> Iterator[int]:
    """Create a memory file whose size neither box can change."""
    descriptor = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        os.ftruncate(descriptor, size_bytes)
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)
        yield descriptor
    finally:
        os.close(descriptor)


async def _receive_source(connection: socket.socket) -> tuple[list[int], list[int]]:
    """Return what the source reports about itself, and descriptors of its maps and pages, which only the copy will read."""
    connection.setblocking(False)
    try:
        await wait_readable(connection.fileno(), PARK_WITHIN_S)
        text, descriptors, flags, _ = socket.recv_fds(connection, _MAX_REPLY_BYTES, 2)
    except (OSError, PlatformFault) as error:
        raise PlatformFault("the context cannot be forked") from error
    numbers = [int(word) for word in text.split() if word.isdigit()]
    if len(numbers) != 2 or len(descriptors) != 2 or flags & socket.MSG_CTRUNC:
        for descriptor in descriptors:
            os.close(descriptor)
        raise Unavailable("the context could not be forked; its process may have reached its limits")
    return numbers, descriptors
