"""The system call filter of a box, and the answers to the calls it refuses.

Theory of operation. The filter is an allow list (seccomp_rules.py); every other call fails with an errno and the program
continues. `build` compiles it once in advance, and each command's first process installs it right before the program starts
(`install`). It applies to everything that process ever starts and cannot be removed.

In the notifying form the kernel blocks a refused call and queues it. The holder of the listener (the server, which is not
filtered) takes it off the queue with `answer_one`, which answers with the errno and returns the name of the call for counting.
A listener could also let calls through, so it must never be reachable for the program: it is closed at execve, and a process
that continues without execve must close it before the program's first instruction. If the holder is gone, the kernel answers
ENOSYS and never permits the call. Calls that are routinely refused (clone3, unknown numbers) are answered by the kernel in both
forms.

In the plain form the kernel answers all refused calls itself, and nothing is counted.

The kernel caches calls that the filter allows whatever the arguments and runs them without the filter. The checks at the start
(architecture, number) therefore have a form that the kernel can evaluate in advance.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import struct
from functools import cache
from types import MappingProxyType

from sandbox_runtime.isolation.kernel import bpf, libc, seccomp_rules, syscalls
from sandbox_runtime.isolation.kernel.seccomp_rules import Check, Rule, Verdict

_ARCHITECTURE = MappingProxyType({"x86_64": 0xC000003E, "aarch64": 0xC00000B7})
_X32_BIT = 0x40000000
"""Set in the numbers of x32 calls. No machine has native calls there; negative numbers are above it too."""

_NUMBER_AT = 0
_ARCHITECTURE_AT = 4
_ARGUMENTS_AT = 16

_RET_ERRNO = 0x00050000
_RET_USER_NOTIF = 0x7FC00000
_RET_ALLOW = 0x7FFF0000

_SET_MODE_FILTER = 1
_NEW_LISTENER = 1 << 3
_WAIT_KILLABLE_RECV = 1 << 5

_NOTIF_RECV = 0xC0502100
_NOTIF_SEND = 0xC0182101
_NOTIFICATION = struct.Struct("=QIIIIQ6Q")
_RESPONSE = struct.Struct("=QqiI")

FOREIGN_NAME = "foreign_abi"
"""Name under which calls of a foreign architecture are counted, whatever their number."""


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


_seccomp = libc.Function("syscall", libc.LONG, libc.ULONG, libc.ULONG, libc.POINTER, what="seccomp")


@cache
def _seccomp_number() -> int:
    return syscalls.numbers(syscalls.this_machine())["seccomp"]


def build(notify: bool) -> bytes:
    """Return the filter for this machine as the array of struct sock_filter that the kernel and bwrap accept."""
    return build_for(syscalls.this_machine(), notify)


def build_for(machine: str, notify: bool) -> bytes:
    foreign = bpf.ret(_code(seccomp_rules.FOREIGN, notify))
    calls = bpf.search([(first, _compile(rule, notify)) for first, rule in _ranges(machine)])
    native = bpf.load(_NUMBER_AT, bpf.if_at_least(_X32_BIT, then=foreign, otherwise=calls))
    return bpf.pack(bpf.load(_ARCHITECTURE_AT, bpf.unless(_ARCHITECTURE[machine], then=foreign, otherwise=native)))


def _ranges(machine: str) -> list[tuple[int, Rule]]:
    """Return runs of call numbers with the same rule, from 0 up; the last run is open-ended."""
    rules = seccomp_rules.by_number(machine)
    ranges: list[tuple[int, Rule]] = []
    for number in range(max(rules) + 2):
        rule = rules.get(number, seccomp_rules.UNKNOWN)
        if not ranges or ranges[-1][1] != rule:
            ranges.append((number, rule))
    return ranges


def _compile(rule: Rule, notify: bool) -> bpf.Block:
    if isinstance(rule, Verdict):
        return bpf.ret(_code(rule, notify))
    choice = bpf.if_any(rule.values, _compile(rule.then, notify), _compile(rule.otherwise, notify))
    return bpf.load(_offset(rule), bpf.mask(rule.mask, choice))


def _offset(check: Check) -> int:
    """Return the offset of half an argument. Both machines are little-endian."""
    return _ARGUMENTS_AT + 8 * check.argument + 4 * check.upper_half


def _code(verdict: Verdict, notify: bool) -> int:
    if verdict == seccomp_rules.ALLOW:
        return _RET_ALLOW
    return _RET_USER_NOTIF if notify and verdict.counted else _RET_ERRNO | verdict.error


def install(program: bytes, listen: bool) -> int | None:
    """Put the calling thread and everything it starts under the filter. New privileges must be forbidden before.

    listen: return a listener, which a notifying program needs. It is closed at execve.
    """
    filter_program = ctypes.byref(_Program(len(program) // 8, program))
    number = _seccomp_number()
    if not listen:
        _seccomp(number, _SET_MODE_FILTER, 0, filter_program)
        return None
    try:
        # Otherwise a signal would restart a call that is being answered, and it would be counted twice.
        return _seccomp(number, _SET_MODE_FILTER, _NEW_LISTENER | _WAIT_KILLABLE_RECV, filter_program)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        return _seccomp(number, _SET_MODE_FILTER, _NEW_LISTENER, filter_program)  # before Linux 5.19


def answer_one(listener_fd: int) -> str | None:
    """Answer one refused call with its errno and return its name, or None if the caller is gone.

    Call when poll reports the listener as readable; it blocks otherwise. A listener that polls as hung up has no callers left.
    """
    notification = bytearray(_NOTIFICATION.size)
    if not _ioctl(listener_fd, _NOTIF_RECV, notification):
        return None
    request, _pid, _flags, number, architecture, _instruction, *arguments = _NOTIFICATION.unpack(notification)
    name, verdict = _refusal(number, architecture, arguments)
    response = bytearray(_RESPONSE.pack(request, 0, -verdict.error, 0))
    return name if _ioctl(listener_fd, _NOTIF_SEND, response) else None


def _ioctl(listener_fd: int, request: int, data: bytearray) -> bool:
    try:
        fcntl.ioctl(listener_fd, request, data)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.EINTR):
            return False
        raise
    return True


def _refusal(number: int, architecture: int, arguments: list[int]) -> tuple[str, Verdict]:
    machine = syscalls.this_machine()
    if architecture != _ARCHITECTURE[machine] or number >= _X32_BIT:
        return FOREIGN_NAME, seccomp_rules.FOREIGN
    return name_of(number), seccomp_rules.decide(seccomp_rules.by_number(machine)[number], arguments)


def name_of(number: int) -> str:
    """Return the name of a call on this machine, or a text with its number if unknown."""
    return syscalls.names(syscalls.this_machine()).get(number, f"system call {number}")
