"""Areas that outlive the boxes which see them."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import secrets
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from tests.conftest import skip_where_the_host_lacks
from tests.isolation.box_helpers import open_box, shell

from sandbox_runtime.errors import Conflict, Unavailable
from sandbox_runtime.isolation.backends import open_backend
from sandbox_runtime.isolation.kernel.reaper import descendants
from sandbox_runtime.isolation.namespaces import NamespacesBackend
from sandbox_runtime.isolation.options import BackendOptions, Preset
from sandbox_runtime.isolation.port import Backend, Files
from sandbox_runtime.model import Layer, Policy
from sandbox_runtime.model.limits import MIB


@pytest_asyncio.fixture
async def backend(options: BackendOptions) -> AsyncIterator[Backend]:
    skip_where_the_host_lacks("namespaces")
    async with open_backend("namespaces", options) as open_box:
        yield open_box


@pytest_asyncio.fixture
async def files(backend: Backend) -> AsyncIterator[Files]:
    made = await backend.open_files(MIB, 1000)
    yield made
    await made.close()


async def said(backend: Backend, files: Files | None, script: str, *, single_use: bool = True, preset: str = "std") -> str:
    box = await backend.open(Policy(single_use=single_use, preset=preset), files)
    try:
        outcome = await box.run(shell(script))
        return outcome.stdout.text + outcome.stderr.text
    finally:
        await box.close()


@pytest.mark.parametrize("single_use", [False, True])
async def test_what_one_box_wrote_the_next_one_finds(backend: Backend, files: Files, single_use: bool) -> None:
    await said(backend, files, "echo kept > note; echo home > ~/note; echo tmp > /tmp/note", single_use=single_use)
    assert await said(backend, files, "cat note ~/note /tmp/note", single_use=single_use) == "kept\nhome\ntmp\n"


async def test_boxes_of_every_preset_see_them(options: BackendOptions) -> None:
    skip_where_the_host_lacks("namespaces")
    presets = {"std": Preset(("json",)), "early": Preset(("json",)), "late": Preset(("json",), eager=False)}
    async with open_backend("namespaces", dataclasses.replace(options, presets=presets)) as backend:
        files = await backend.open_files(MIB, 1000)
        for preset in presets:
            assert await said(backend, files, f"echo {preset} >> note; tail -n 1 note", preset=preset) == f"{preset}\n"
        assert await said(backend, files, "cat note") == "std\nearly\nlate\n"


@pytest.mark.skipif(os.geteuid() == 0, reason="root's spawners need no user namespace")
async def test_a_box_that_lacks_a_layer_is_apart_from_those_that_lack_none(options: BackendOptions) -> None:
    skip_where_the_host_lacks("namespaces")
    async with open_backend("namespaces", options) as backend:
        assert isinstance(backend, NamespacesBackend)
        shared = f"user:[{os.fstat(backend._user_namespace).st_ino}]\n"
        async with open_box(backend, Policy(without=frozenset({Layer.user}))) as box:
            outcome = await box.run(shell("readlink /proc/self/ns/user"))
        assert outcome.stdout.text.startswith("user:[") and outcome.stdout.text != shared


async def test_two_boxes_at_once_see_the_same_files_and_nothing_else_of_one_another(backend: Backend, files: Files) -> None:
    one, other = [await backend.open(Policy(), files) for _ in range(2)]
    try:
        running = await one.start(shell("echo here > sign; sleep 30"))
        look = "cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c 'sleep[ ]30'"
        outcome = await other.run(shell(f"until [ -e sign ]; do sleep 0.01; done; cat sign; {look}"))
        running.cancel()
        await running.wait()
    finally:
        await asyncio.gather(one.close(), other.close())
    assert outcome.stdout.text == "here\n0\n"


async def test_boxes_without_them_see_nothing_of_them(backend: Backend, files: Files) -> None:
    mark = secrets.token_hex(16)
    await said(backend, files, f"echo {mark} > note; echo {mark} > /tmp/note")
    async with open_box(backend) as box:
        look = f"find /workspace /tmp /home /mnt /run -xdev -type f -exec grep -s {mark} {{}} + 2>/dev/null"
        outcome = await box.run(shell(f"{look}; echo done"))
    assert outcome.stdout.text == "done\n"


async def test_their_size_bounds_all_boxes_together(backend: Backend, files: Files) -> None:
    await said(backend, files, "head -c 700000 /dev/zero > one")
    assert "No space left" in await said(backend, files, "head -c 700000 /dev/zero > other")
    used_bytes, used_files = files.usage()
    assert 700_000 < used_bytes <= MIB and used_files >= 2


async def test_they_outlive_the_spawner_that_made_them(backend: Backend, files: Files) -> None:
    await said(backend, files, "echo kept > note")
    spawners = [
        pid for pid in descendants(os.getpid()) if Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"sandbox-spawner")
    ]
    assert spawners
    for pid in spawners:
        os.kill(pid, signal.SIGKILL)
    assert await said(backend, files, "cat note") == "kept\n"


async def test_closing_them_ends_the_boxes_that_see_them(backend: Backend) -> None:
    files = await backend.open_files(MIB, 1000)
    box = await backend.open(Policy(), files)
    await box.start(shell("sleep 60"))
    await files.close()
    await files.close()
    assert files.files_fd == -1 and box.files_fd == -1
    with pytest.raises(Conflict, match="closed"):
        await backend.open(Policy(), files)


async def test_what_is_left_open_is_closed_with_the_backend(options: BackendOptions) -> None:
    skip_where_the_host_lacks("namespaces")
    before = len(os.listdir("/proc/self/fd"))
    async with open_backend("namespaces", options) as backend:
        files = await backend.open_files(MIB, 1000)
        await backend.open(Policy(), files)
    assert files.files_fd == -1 and len(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize("name", ["bubblewrap", "none"])
async def test_backends_that_have_none_to_share_say_so(options: BackendOptions, name: str) -> None:
    skip_where_the_host_lacks(name)
    async with open_backend(name, options) as backend:
        with pytest.raises(Unavailable, match="set isolation to namespaces"):
            await backend.open_files(MIB, 1000)
