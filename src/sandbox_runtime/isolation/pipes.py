"""Pipes for the standard streams of a command."""

from __future__ import annotations

import os


def stdin_pipe() -> tuple[int, int]:
    """Return (program's end, server's end)."""
    theirs, ours = os.pipe2(os.O_CLOEXEC)
    _configure(theirs, ours)
    return theirs, ours


def output_pipe() -> tuple[int, int]:
    """Return (program's end, server's end)."""
    ours, theirs = os.pipe2(os.O_CLOEXEC)
    _configure(theirs, ours)
    return theirs, ours


def _configure(theirs: int, ours: int) -> None:
    """Make the program's end accessible to other users, and ours non-blocking.

    A program runs as another user and may reopen its streams as /dev/stdin and the like. Only holders of a descriptor can do
    that.
    """
    os.fchmod(theirs, 0o666)
    os.set_blocking(ours, False)
