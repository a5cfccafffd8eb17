"""Commands of an installation: bounded in time, quiet unless they fail."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from sandbox_runtime.errors import Unavailable

_GIST_LINES, _GIST_CHARACTERS = 4, 400


@dataclass(frozen=True, slots=True)
class InstallCommand:
    """One command: env is added to our own, cwd None is the folder we are in. about: what it does, in a few words. attempts: how
    often it is tried, for clients that give up when a registry is slow."""

    argv: tuple[str, ...]
    cwd: str | None = None
    env: tuple[tuple[str, str], ...] = ()
    about: str = ""
    attempts: int = 1


def run_command(task: InstallCommand, within_s: float) -> str:
    """What it printed. Raises Unavailable with the end of that where it fails or takes too long; its children end with it."""
    for _ in range(task.attempts - 1):
        with contextlib.suppress(Unavailable):
            return _perform(task, within_s)
    return _perform(task, within_s)


def _perform(task: InstallCommand, within_s: float) -> str:
    try:
        process = subprocess.Popen(
            task.argv,
            cwd=task.cwd,
            env={**os.environ, **dict(task.env)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            umask=0o022,
        )
    except OSError as error:
        raise Unavailable(f"{task.argv[0]} cannot be started: {error.strerror}") from error
    return _wait_for_end(process, task, within_s)


def _wait_for_end(process: subprocess.Popen[bytes], task: InstallCommand, within_s: float) -> str:
    try:
        printed, _ = process.communicate(timeout=within_s)
    except subprocess.TimeoutExpired as error:
        raise Unavailable(f"`{format_command(task.argv)}` took longer than {within_s:g} s") from error
    finally:
        # Also on an interrupt: a package client must not go on behind our back.
        if process.returncode is None:
            _kill(process)
    text = printed.decode(errors="replace")
    if process.returncode:
        raise Unavailable(f"`{format_command(task.argv)}` failed with {process.returncode}: {_error_gist(text)}")
    return text


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def format_command(argv: Sequence[str], max_characters: int = 120) -> str:
    text = " ".join(argv)
    return text if len(text) <= max_characters else f"{text[:max_characters]}…"


def _error_gist(text: str) -> str:
    """Its end, and before that the first line that speaks of an error: some clients end with advice alone."""
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    first = next((line[:_GIST_CHARACTERS] for line in lines[:-_GIST_LINES] if "error" in line.lower()), "")
    end = " / ".join(lines[-_GIST_LINES:])[-_GIST_CHARACTERS:]
    return " … ".join(part for part in (first, end) if part) or "it printed nothing"
