"""Starting a box whose init is a program of its own, rather than a fork of a spawner."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence

from sandbox_runtime.errors import PlatformFault
from sandbox_runtime.isolation.backend_resources import BackendResources
from sandbox_runtime.isolation.box import BoxConfig, InitBox
from sandbox_runtime.isolation.inside import wire
from sandbox_runtime.model import Policy

EXIT_TIMEOUT_S = 10.0
STDERR_TAIL_BYTES = 2000
"""What is told of the complaints of a box that could not be made."""


async def launch(
    resources: BackendResources,
    policy: Policy,
    config: BoxConfig,
    argv: Callable[[str], Sequence[str]],
    setup: Callable[[InitBox], wire.Message],
) -> InitBox:
    """argv gets the descriptors of init's channels as one word. The box is closed if anything on the way fails."""
    box, ends = resources.new_box(policy, config)
    words = os.memfd_create("last-words", os.MFD_CLOEXEC)
    try:
        message = setup(box)
        channels = ",".join(map(str, ends.descriptors()))
        process = _start(argv(channels), resources.start_env(policy), ends.descriptors(), words)
        box.on_close.append(lambda: _reap(process))
        ends.close()
        with box.cgroup_entries() as entries:
            box.reports.send(message, entries)
        await resources.connect(box)
        await box.wait_ready()
    except BaseException as error:
        ends.close()
        await box.close()
        if isinstance(error, PlatformFault) and (last := os.pread(words, STDERR_TAIL_BYTES, 0)):
            raise PlatformFault(f"{error}: {last.decode(errors='replace').strip()}") from error
        raise
    finally:
        os.close(words)
    return box


def _start(argv: Sequence[str], env: dict[str, str], passed: Sequence[int], words: int) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            argv,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=words,
            pass_fds=passed,
            start_new_session=True,
            cwd="/",
        )
    except OSError as error:
        raise PlatformFault(f"{argv[0]} cannot be started: {error}") from error


def _reap(process: subprocess.Popen[bytes]) -> None:
    """Called when init is dead; whatever stands between it and us has nothing left to wait for."""
    try:
        process.wait(0.05)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(EXIT_TIMEOUT_S)
