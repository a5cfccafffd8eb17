"""The files of a session from an event loop, in the areas of real boxes too."""

from __future__ import annotations

import asyncio
import io
import tracemalloc
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from tests.isolation.box_helpers import shell
from tests.workspace.areas import Folder, area_in, descriptors, tree

from sandbox_runtime.errors import Conflict, InvalidRequest, NotFound
from sandbox_runtime.isolation.port import Backend, Files
from sandbox_runtime.model import Policy
from sandbox_runtime.model.limits import MIB
from sandbox_runtime.workspace import (
    ArchiveBounds,
    FileBounds,
    Format,
    SessionFiles,
    Snapshots,
    StorageOptions,
    open_storage,
)

in_session_loop = pytest.mark.asyncio(loop_scope="session")


async def of(*pieces: bytes) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


async def zeros(mebibytes: int) -> AsyncIterator[bytes]:
    for _ in range(mebibytes * 16):
        yield bytes(MIB // 16)


async def downloaded(files: SessionFiles, name: str, offset: int = 0, length: int | None = None) -> bytes:
    async with files.open(name) as download:
        return b"".join([piece async for piece in download.chunks(offset, length)])


async def test_every_verb_works_from_a_loop(files: SessionFiles, area: Folder) -> None:
    assert (await files.write("a/x.txt", of(b"hel", b"lo"))).size_bytes == 5
    assert (await files.stat("a/x.txt")).size_bytes == 5
    assert (await files.read("a/x.txt", 1, 3)).content == b"ell"
    assert await downloaded(files, "a/x.txt", 3) == b"lo"
    assert await files.make_folder("b")
    await files.move("a/x.txt", "b/y.txt")
    assert [entry.name for entry in (await files.list(recursive=True)).entries] == ["a", "b", "b/y.txt"]
    assert await files.delete("b", recursive=True) == 2
    assert tree(area.work) == {"a": None}


@pytest.mark.parametrize("form", list(Format))
async def test_archives_go_out_and_come_in(files: SessionFiles, area: Folder, form: Format) -> None:
    await files.write("a/x", b"1")
    archive = b"".join([piece async for piece in files.archive("a", form)])
    assert (await files.unpack(of(archive[:10], archive[10:]), "b")).files == 1
    assert tree(area.work / "b") == {"x": b"1"}
    with pytest.raises(NotFound):
        async for _ in files.archive("no-such", form):
            pass


async def test_bounds_hold_for_every_way_in(area: Folder, tmp_path: Path) -> None:
    bounds = FileBounds(max_file_bytes=1000, max_read_bytes=10, max_listed=5, archives=ArchiveBounds(max_members=1))
    files = SessionFiles(area, bounds, str(tmp_path))
    with pytest.raises(InvalidRequest, match="1000 bytes"):
        await files.write("x", of(b"x" * 600, b"x" * 600))
    with pytest.raises(InvalidRequest, match="1000 bytes"):
        await files.unpack(of(b"x" * 2000))
    with pytest.raises(InvalidRequest, match="10 bytes"):
        await files.read("x", 0, 11)
    for limit in (0, 6):
        with pytest.raises(InvalidRequest, match="limit"):
            await files.list(limit=limit)
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("a", b"")
        made.writestr("b", b"")
    with pytest.raises(InvalidRequest, match="1 members"):
        await files.unpack(archive.getvalue())
    assert tree(area.work) == {}


async def test_a_large_file_takes_no_memory_on_its_way_in_and_out(area: Folder) -> None:
    files = SessionFiles(area, FileBounds(max_file_bytes=1000 * MIB))
    tracemalloc.start()
    try:
        await files.write("large", zeros(200))
        size = 0
        async with files.open("large") as download:
            async for piece in download.chunks():
                size += len(piece)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert size == 200 * MIB and peak < 8 * MIB


async def test_whoever_stops_half_way_leaves_nothing(files: SessionFiles, area: Folder) -> None:
    await files.write("large", zeros(4))
    before = descriptors(), tree(area.work)
    stuck = asyncio.Event()

    async def never_ends() -> AsyncIterator[bytes]:
        yield bytes(MIB)
        stuck.set()
        await asyncio.sleep(60)

    uploading = asyncio.create_task(files.write("x", never_ends()))
    await stuck.wait()
    uploading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await uploading
    async with files.open("large") as download:
        reading = download.chunks()
        await anext(reading)
    packing = files.archive()
    await anext(packing)
    await packing.aclose()  # type: ignore[attr-defined]
    await reading.aclose()  # type: ignore[attr-defined]
    assert (descriptors(), tree(area.work)) == before


async def test_callers_that_are_cancelled_at_any_moment_leave_no_descriptor(files: SessionFiles) -> None:
    await files.write("x", zeros(1))
    before = descriptors()
    for turns in range(30):
        for work in (files.stat("x"), files.write("y", zeros(1)), downloaded(files, "x"), files.list(), files.delete("no-such")):
            task = asyncio.create_task(work)  # type: ignore[arg-type]
            for _ in range(turns):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
    assert descriptors() == before
    assert {entry.name for entry in (await files.list()).entries} <= {"x", "y"}


async def test_files_of_a_session_that_has_ended_are_told_to_be_closed(files: SessionFiles, area: Folder) -> None:
    await files.write("x", zeros(2))
    async with files.open("x") as download:
        descriptor, area.files_fd = area.files_fd, -1
        try:
            for work in (files.stat("x"), files.list(), files.write("y", b""), files.delete("x"), files.read("x")):
                with pytest.raises(Conflict, match="closed"):
                    await work  # type: ignore[misc]
            assert sum([len(piece) async for piece in download.chunks()]) == 2 * MIB
        finally:
            area.files_fd = descriptor


async def test_one_session_is_copied_to_another(files: SessionFiles, area: Folder, tmp_path: Path) -> None:
    await files.write("a/x", b"1")
    with area_in(tmp_path, "other") as other:
        copied = await files.copy_to(SessionFiles(other))
        assert copied.entries == 2 and tree(other.work) == tree(area.work)


@pytest_asyncio.fixture(loop_scope="session")
async def shared(namespaces: Backend) -> AsyncIterator[Files]:
    made = await namespaces.open_files(4 * MIB, 200)
    yield made
    await made.close()


async def said(backend: Backend, files: Files, script: str) -> str:
    box = await backend.open(Policy(single_use=True), files)
    try:
        outcome = await box.run(shell(script))
        return outcome.stdout.text + outcome.stderr.text
    finally:
        await box.close()


@in_session_loop
async def test_programs_in_a_box_use_what_was_written_and_the_other_way_round(namespaces: Backend, shared: Files) -> None:
    files = SessionFiles(shared)
    await files.write("in/run.sh", b"echo ran; cat data; echo made > made; mkdir own", mode=0o755)
    await files.write("in/data", b"data\n")
    assert await said(namespaces, shared, "cd in && ./run.sh && echo more >> data && rm run.sh && mv data moved") == "ran\ndata\n"
    assert [entry.name for entry in (await files.list("in")).entries] == ["made", "moved", "own"]
    assert (await files.read("in/moved")).content == b"data\nmore\n"
    await files.write("/home/sandbox/.config/x", b"1")
    assert await said(namespaces, shared, "cat ~/.config/x; rm -r ~/.config && echo gone") == "1gone\n"


@in_session_loop
async def test_the_disk_limit_of_a_session_is_told_as_such_and_leaves_no_half_file(shared: Files) -> None:
    files = SessionFiles(shared)
    for work in (files.write("large", zeros(5)), files.unpack(_zip_of(bytes(6 * MIB)))):
        with pytest.raises(InvalidRequest, match="disk limit is reached"):
            await work  # type: ignore[misc]
    assert (await files.list()).entries == ()
    with pytest.raises(InvalidRequest, match="disk limit is reached"):
        for number in range(300):
            await files.write(f"many/{number}", b"")
    await files.delete("many", recursive=True)
    await files.write("small", b"fits again")


def _zip_of(content: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x", content)
    return made.getvalue()


@in_session_loop
async def test_a_program_that_swaps_folders_for_links_gets_nothing_of_the_host(namespaces: Backend, shared: Files) -> None:
    files = SessionFiles(shared)
    await files.write("d/passwd", b"mine")
    box = await namespaces.open(Policy(), shared)
    try:
        running = await box.start(shell("while :; do mv d e; ln -s /etc d; rm d; mv e d; done 2>/dev/null"))
        for _ in range(200):
            try:
                assert (await files.read("d/passwd")).content == b"mine"
                await files.write("d/passwd", b"mine")
            except (InvalidRequest, NotFound, Conflict):
                continue
        running.cancel()
        await running.wait()
    finally:
        await box.close()
    assert b"mine" not in Path("/etc/passwd").read_bytes()


@in_session_loop
async def test_changes_that_a_program_makes_are_told(namespaces: Backend, shared: Files) -> None:
    files = SessionFiles(shared)
    async with files.watch() as watch:
        await said(namespaces, shared, "mkdir d; echo 1 > d/x")
        found: set[str] = set()
        while "d/x" not in found:
            changes = await watch.next(10)
            assert changes
            found |= {change.name for change in changes}


@in_session_loop
async def test_a_session_is_forked_and_its_copy_lives_on_its_own(namespaces: Backend, shared: Files) -> None:
    await said(namespaces, shared, "echo one > x; mkdir d; ln -s ../x d/link; echo home > ~/note; chmod 700 d")
    other = await namespaces.open_files(4 * MIB, 200)
    try:
        await SessionFiles(shared).copy_to(SessionFiles(other))
        assert await said(namespaces, other, "cat d/link ~/note; echo two > x; touch d/new; ls d") == "one\nhome\nlink\nnew\n"
        assert await said(namespaces, shared, "cat x; ls d") == "one\nlink\n"
    finally:
        await other.close()


@in_session_loop
async def test_a_session_comes_back_from_its_snapshot(namespaces: Backend, shared: Files, tmp_path: Path) -> None:
    async with open_storage(StorageOptions(str(tmp_path))) as storage:
        snapshots = Snapshots(storage, "sessions/s1", ("/workspace", "/home/sandbox"))
        await said(namespaces, shared, "echo kept > x; echo home > ~/note; echo tmp > /tmp/note; mkdir -m 700 d; mkfifo pipe")
        await snapshots.save(shared)
        await said(namespaces, shared, "echo more >> x")
        await snapshots.save(shared)
        other = await namespaces.open_files(4 * MIB, 200)
        try:
            await Snapshots(storage, "sessions/s1", ("/workspace", "/home/sandbox")).restore(other)
            script = "cat x ~/note; touch d/mine && ls; [ -e /tmp/note ] || echo not kept"
            assert await said(namespaces, other, script) == "kept\nmore\nhome\nd\nx\nnot kept\n"
        finally:
            await other.close()
