"""Close the descriptors that a guest must not inherit."""

from __future__ import annotations

from sandbox_runtime.isolation.kernel import libc

_CLOSE_RANGE = 436
_ON_EXEC = 4
_EVERY = 0xFFFFFFFF
_close_range = libc.Function("syscall", libc.LONG, libc.ULONG, libc.ULONG, libc.ULONG, what="close_range")


def close_from(first: int) -> None:
    _close_range(_CLOSE_RANGE, first, _EVERY, 0)


def close_on_exec_from(first: int) -> None:
    """Close everything from `first` on at the next successful execve; a failed execve can still be reported."""
    _close_range(_CLOSE_RANGE, first, _EVERY, _ON_EXEC)


def close_except(kept: list[int]) -> None:
    """Close every descriptor from 3 on that is not in `kept`."""
    low = 3
    for descriptor in sorted(number for number in kept if number >= 3):
        if descriptor > low:
            _close_range(_CLOSE_RANGE, low, descriptor - 1, 0)
        low = descriptor + 1
    close_from(low)
