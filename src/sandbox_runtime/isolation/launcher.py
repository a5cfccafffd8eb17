"""Start a box whose init is its own program instead of a fork of a spawner."""

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
"""How much of stderr is included in the error if a box cannot be opened."""


async def launch(
    resources: BackendResources,
    policy: Policy,
    config: BoxConfig,
    argv: Callable[[str], Sequence[str]],
    setup: Callable[[InitBox], wire.Message],
) -> InitBox:
    """Open a box and start its init. `argv` gets the descriptors of init's channels as one word. On failure the box is closed."""
    box, ends = resources.new_box(policy, config)
    stderr = os.memfd_create("stderr", os.MFD_CLOEXEC)
    try:
        message = setup(box)
        channels = ",".join(map(str, ends.descriptors()))
        process = _start(argv(channels), resources.start_env(policy), ends.descriptors(), stderr)
        box.on_close.append(lambda: _reap(process))
        ends.close()
        with box.cgroup_entries() as entries:
            box.reports.send(message, entries)
        await resources.connect(box)
        await box.wait_ready()
    except BaseException as error:
        ends.close()
        await box.close()
        if isinstance(error, PlatformFault) and (text := os.pread(stderr, STDERR_TAIL_BYTES, 0)):
            raise PlatformFault(f"{error}: {text.decode(errors='replace').strip()}") from error
        raise
    finally:
        os.close(stderr)
    return box


def _start(argv: Sequence[str], env: dict[str, str], passed: Sequence[int], stderr: int) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            argv,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            pass_fds=passed,
            start_new_session=True,
            cwd="/",
        )
    except OSError as error:
        raise PlatformFault(f"cannot start {argv[0]}: {error}") from error


def _reap(process: subprocess.Popen[bytes]) -> None:
    """Reap the process we started, once init is dead. It may be a wrapper such as bwrap, which then has nothing to wait for."""
    try:
        process.wait(0.05)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(EXIT_TIMEOUT_S)
