"""The memory that all forks of a warm interpreter have in common can be changed by none of them."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from tests.conftest import skip_where_the_host_lacks
from tests.isolation.box_helpers import run_python

from sandbox_runtime.engine.contexts.copy import _CopyChannels
from sandbox_runtime.isolation.backends import open_backend
from sandbox_runtime.isolation.inside import process_image
from sandbox_runtime.isolation.kernel.reaper import descendants
from sandbox_runtime.isolation.options import BackendOptions, Preset
from sandbox_runtime.isolation.port import Backend

pytestmark = pytest.mark.asyncio(loop_scope="module")

ALL_SEALS = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE
INSIDE = """
import json, os
lines = [line for line in open("/proc/self/maps") if "memfd:warm" in line]
ranges = ["-".join(part.lstrip("0") for part in line.split()[0].split("-")) for line in lines]
reached = []
for folder in ("/proc/self/map_files", "/proc/1/map_files"):
    for one in ranges:
        try:
            reached.append(os.open(f"{folder}/{one}", os.O_RDWR))
        except OSError:
            pass
held = [os.readlink(f"/proc/self/fd/{number}") for number in os.listdir("/proc/self/fd") if int(number) > 2
        and os.path.lexists(f"/proc/self/fd/{number}")]
print(json.dumps([len(ranges), len(reached), [name for name in held if "memfd" in name]]))
"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def copied(options: BackendOptions, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Backend]:
    """A backend whose interpreters can be copied: their memory lies in a file without a name."""
    skip_where_the_host_lacks("namespaces")
    if not process_image.SUPPORTED:
        pytest.skip("processes are copied on Linux on x86-64 alone")
    state = str(tmp_path_factory.mktemp("state"))
    copyable = BackendOptions(options.guest_python, state, presets={"std": Preset(("json",), copyable=True)})
    async with open_backend("namespaces", copyable) as backend:
        yield backend


def open_warm_memory(pid: int) -> list[int]:
    """Return descriptors of the warm memory that a process has mapped; none if the process has ended."""
    opened: list[int] = []
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            if "memfd:warm" in line:
                start, end = line.split()[0].split("-")
                opened.append(os.open(f"/proc/{pid}/map_files/{start.lstrip('0')}-{end.lstrip('0')}", os.O_RDWR))
    return opened


async def test_no_program_reaches_the_memory_that_others_begin_with(copied: Backend, guest_python: str) -> None:
    outcome = await run_python(copied, guest_python, INSIDE, wall_s=60)
    mapped, reached, held = json.loads(outcome.stdout.text)
    assert mapped > 0 and reached == 0 and held == []


async def test_the_memory_of_warm_interpreters_is_sealed(copied: Backend) -> None:
    if os.geteuid():
        pytest.skip("only root can open the files that processes have mapped")
    opened = [descriptor for pid in descendants(os.getpid()) for descriptor in open_warm_memory(pid)]
    assert opened
    for descriptor in opened:
        try:
            assert fcntl.fcntl(descriptor, fcntl.F_GET_SEALS) == ALL_SEALS
            with pytest.raises(PermissionError):
                os.pwrite(descriptor, b"x", 0)
            for size in (0, 1 << 40):
                with pytest.raises(PermissionError):
                    os.ftruncate(descriptor, size)
        finally:
            os.close(descriptor)


async def test_the_plan_of_a_copy_keeps_its_size() -> None:
    """Both boxes get it; shrinking it under the other would end that one with a signal."""
    with _CopyChannels() as channels, pytest.raises(PermissionError):
        os.ftruncate(channels.plan, 0)
