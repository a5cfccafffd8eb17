"""What a program writes to of its interpreter's memory is copied before it begins."""

from __future__ import annotations

import ctypes
import mmap
import os
from collections.abc import Callable

import pytest
from tests.conftest import skip_where_the_host_lacks
from tests.isolation.box_helpers import command, open_box, put_file

from sandbox_runtime.isolation.backends import open_backend
from sandbox_runtime.isolation.inside import warm_pages
from sandbox_runtime.isolation.options import BackendOptions
from sandbox_runtime.isolation.spawners import Spawner
from sandbox_runtime.model import Policy

PAGES = 32
WRITTEN = (3, 4, 5, 9)
COUNTS_ITS_PAGES = b"""
import os
own = 0
with open("/proc/self/maps") as maps, open("/proc/self/pagemap", "rb", buffering=0) as pages:
    for line in maps:
        addresses, rights = line.split()[:2]
        if rights == "rw-p":
            start, end = (int(address, 16) // 4096 for address in addresses.split("-"))
            own += sum(flags & 0xA1 == 0x81 for flags in os.pread(pages.fileno(), (end - start) * 8, start * 8)[7::8])
print(own)
"""


def test_a_fork_tells_the_pages_that_it_has_written_to() -> None:
    with _memory() as memory:
        start = _address_of(memory)

        def write_and_tell(descriptor: int) -> None:
            _write(memory, WRITTEN)
            warm_pages.write_private_pages(descriptor)

        runs = warm_pages.parse_pages(_said_by_a_fork(write_and_tell))
    size = mmap.PAGESIZE
    within = [run for run in runs if start <= run[0] < start + PAGES * size]
    assert within == [(start + 3 * size, 3 * size), (start + 9 * size, size)]


def test_what_was_told_is_copied_without_being_written_to() -> None:
    with _memory() as memory:
        start = _address_of(memory)
        wanted = warm_pages.WarmPages([(start + page * mmap.PAGESIZE, mmap.PAGESIZE) for page in WRITTEN], "/proc")

        def copy_and_tell(descriptor: int) -> None:
            if wanted.copy():
                warm_pages.write_private_pages(descriptor)

        said = _said_by_a_fork(copy_and_tell)
    if not said:
        pytest.skip("this kernel copies no pages ahead: Linux 6.13 or newer does")
    own = {
        address
        for start_of, length in warm_pages.parse_pages(said)
        for address in range(start_of, start_of + length, mmap.PAGESIZE)
    }
    assert {(address - start) // mmap.PAGESIZE for address in own if 0 <= address - start < PAGES * mmap.PAGESIZE} == set(WRITTEN)


def test_more_runs_than_the_kernel_takes_at_once_are_copied_too() -> None:
    size, pages = mmap.PAGESIZE, 3000
    with mmap.mmap(-1, pages * size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        _write(memory, range(pages))
        start = _address_of(memory)
        wanted = warm_pages.WarmPages([(start + page * size, size) for page in range(0, pages, 2)], "/proc")

        def copy_and_tell(descriptor: int) -> None:
            if wanted.copy():
                warm_pages.write_private_pages(descriptor)

        said = _said_by_a_fork(copy_and_tell)
    if not said:
        pytest.skip("this kernel copies no pages ahead: Linux 6.13 or newer does")
    own = {address for address, _ in warm_pages.parse_pages(said)}
    assert {start, start + (pages - 2) * size} <= own


def test_memory_that_the_spawner_does_not_have_is_left_out() -> None:
    assert not warm_pages.WarmPages([(mmap.PAGESIZE, mmap.PAGESIZE)], "/proc").copy()


async def test_a_program_has_more_of_its_own_when_it_begins(options: BackendOptions, monkeypatch: pytest.MonkeyPatch) -> None:
    skip_where_the_host_lacks("namespaces")
    taught = await _own_pages_of_a_program(options)
    monkeypatch.setattr(Spawner, "set_warm_pages", lambda self, runs: None)
    untaught = await _own_pages_of_a_program(options)
    if not warm_pages.WarmPages(warm_pages.parse_pages(f"{_page_of_ours()} {mmap.PAGESIZE}"), "/proc").copy():
        pytest.skip("this kernel copies no pages ahead: Linux 6.13 or newer does")
    assert taught > untaught


async def test_a_preset_whose_sample_fails_is_told(options: BackendOptions, monkeypatch: pytest.MonkeyPatch) -> None:
    skip_where_the_host_lacks("namespaces")
    monkeypatch.setattr("sandbox_runtime.isolation.inside.warmup_programs.program", lambda modules: "import no_such_module")
    with pytest.raises(Exception, match="the sample program fails"):
        await _own_pages_of_a_program(options)


async def _own_pages_of_a_program(options: BackendOptions) -> int:
    policy = Policy(preset=next(iter(options.presets)), single_use=True)
    async with open_backend("namespaces", options) as backend, open_box(backend, policy) as box:
        put_file(box, "main.py", COUNTS_ITS_PAGES)
        outcome = await box.run(command(options.guest_python, "main.py"))
    return int(outcome.stdout.text)


def _memory() -> mmap.mmap:
    """That a fork has in common with us."""
    memory = mmap.mmap(-1, PAGES * mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    _write(memory, range(PAGES))
    return memory


def _address_of(memory: mmap.mmap) -> int:
    held = ctypes.c_char.from_buffer(memory)
    return ctypes.addressof(held)


def _write(memory: mmap.mmap, pages: tuple[int, ...] | range) -> None:
    for page in pages:
        memory[page * mmap.PAGESIZE] = 1


def _page_of_ours() -> int:
    return id(object()) // mmap.PAGESIZE * mmap.PAGESIZE


def _said_by_a_fork(what: Callable[[int], None]) -> str:
    ours, theirs = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            os.close(ours)
            what(theirs)
        finally:
            os._exit(0)
    os.close(theirs)
    with open(ours, "rb") as file:
        said = file.read().decode()
    os.waitpid(pid, 0)
    return said
