"""The standard streams of a command: one end is a program's, the other ours."""

from __future__ import annotations

import os


def stdin_pipe() -> tuple[int, int]:
    """Their end and ours."""
    theirs, ours = os.pipe2(os.O_CLOEXEC)
    _configure(theirs, ours)
    return theirs, ours


def output_pipe() -> tuple[int, int]:
    """Their end and ours."""
    ours, theirs = os.pipe2(os.O_CLOEXEC)
    _configure(theirs, ours)
    return theirs, ours


def _configure(theirs: int, ours: int) -> None:
    """A program is another user than we are, and may open its streams by name, as /dev/stdin and the like. Only those who have a
    descriptor of a pipe can do so."""
    os.fchmod(theirs, 0o666)
    os.set_blocking(ours, False)
