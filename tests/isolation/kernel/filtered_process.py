"""Real child processes under the system call filter, and what they and their listener saw."""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import socket
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from sandbox_runtime.isolation.kernel import capabilities, seccomp, syscalls

MAX_WAIT_S = 60

_syscall = ctypes.CDLL(None, use_errno=True).syscall
_syscall.restype = ctypes.c_long


def raw(call: str | int, *arguments: int) -> int:
    """The result as the kernel gives it: not below 0, or an errno with a minus."""
    number = syscalls.numbers(syscalls.this_machine())[call] if isinstance(call, str) else call
    result = int(_syscall(ctypes.c_long(number), *map(ctypes.c_long, arguments)))
    return -ctypes.get_errno() if result == -1 else result


def under_plain_filter(body: Callable[[], Any]) -> Any:
    """What the body returns (as JSON) in a child whose refusals the kernel answers."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        pid = start(lambda: theirs.sendall(json.dumps(body()).encode()), theirs, notify=False)
        theirs.close()
        answer = _read_all(ours)
        assert end(pid) == 0
    return json.loads(answer)


def under_notifying_filter(body: Callable[[], Any]) -> tuple[Any, Counter[str]]:
    """What the body returns in a child whose refusals are answered here, and how often each call was refused."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        pid = start(lambda: theirs.sendall(json.dumps(body()).encode()), theirs, notify=True)
        theirs.close()
        answer, counts = answer_until_closed(take_listener(ours), ours.fileno())
        assert end(pid) == 0
    return json.loads(answer), counts


def run_program(argv: Sequence[str], cwd: str = "/") -> tuple[int, str, Counter[str]]:
    """Exit code, output and refusals of a program under the notifying filter."""
    ours, theirs = socket.socketpair()

    def become() -> None:
        os.chdir(cwd)
        os.dup2(theirs.fileno(), 1)
        os.dup2(theirs.fileno(), 2)
        os.execvp(argv[0], argv)

    with ours, theirs:
        pid = start(become, theirs, notify=True)
        theirs.close()
        output, counts = answer_until_closed(take_listener(ours), ours.fileno())
        return os.waitstatus_to_exitcode(end(pid)), output.decode(), counts


def start(body: Callable[[], Any], channel: socket.socket, notify: bool) -> int:
    """A child that takes on the filter, gives its listener over the channel and then runs the body."""
    program = seccomp.build(notify)
    pid = os.fork()
    if pid:
        return pid
    try:
        signal.alarm(MAX_WAIT_S)
        os.setsid()
        capabilities.forbid_new_privileges()
        listener = seccomp.install(program, listen=notify)
        if listener is not None:
            socket.send_fds(channel, [b"l"], [listener])
            os.close(listener)
        body()
        os._exit(0)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(70)


def take_listener(channel: socket.socket) -> int:
    channel.settimeout(MAX_WAIT_S)
    _, listeners, _, _ = socket.recv_fds(channel, 1, 1)
    return listeners[0]


def answer_until_closed(listener: int, stream: int) -> tuple[bytes, Counter[str]]:
    """Answers every refusal until the stream ends; returns what came over the stream and the counts."""
    counts: Counter[str] = Counter()
    pieces = [b"-"]
    poll = select.poll()
    for descriptor in (listener, stream):
        poll.register(descriptor, select.POLLIN)
    deadline = time.monotonic() + MAX_WAIT_S
    try:
        while pieces[-1]:
            assert time.monotonic() < deadline, "the child did not come to an end"
            events = dict(poll.poll(1000))
            if events.get(listener, 0) & select.POLLIN:
                counts[seccomp.answer_one(listener) or "gone"] += 1
            elif listener in events:
                poll.unregister(listener)
            if stream in events:
                pieces.append(os.read(stream, 65536))
        return b"".join(pieces[1:]), counts
    finally:
        os.close(listener)


def end(pid: int) -> int:
    """The wait status of a child that is ending; its alarm bounds the wait."""
    return os.waitpid(pid, 0)[1]


def _read_all(channel: socket.socket) -> bytes:
    channel.settimeout(MAX_WAIT_S)
    pieces = []
    while piece := channel.recv(65536):
        pieces.append(piece)
    return b"".join(pieces)
