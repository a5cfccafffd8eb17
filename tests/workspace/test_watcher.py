"""Changes told while they happen."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from tests.workspace.areas import Folder, descriptors, make_special

from sandbox_runtime.errors import Conflict, InvalidRequest, NotFound
from sandbox_runtime.workspace import Change, ChangeKind, SessionFiles, Watch, WatchBounds
from sandbox_runtime.workspace.watcher import watch_folder

CREATED, MODIFIED, DELETED, OVERFLOW = ChangeKind.created, ChangeKind.modified, ChangeKind.deleted, ChangeKind.overflow


async def next_changes(watch: Watch) -> set[tuple[str, str]]:
    changes = await watch.next(10)
    return {(change.kind.value, change.name) for change in changes}


async def wait_for_changes(watch: Watch, wanted: set[tuple[str, str]]) -> None:
    """Until all of them were told: they may come in several groups."""
    found: set[tuple[str, str]] = set()
    while not wanted <= found:
        changes = await next_changes(watch)
        assert changes, f"only {found}"
        found |= changes


async def test_files_that_come_change_and_go_are_told(area: Folder) -> None:
    (area.work / "old").write_text("")
    async with watch_folder(area) as watch:
        (area.work / "new").write_text("1")
        (area.work / "old").write_text("2")
        assert await next_changes(watch) == {("created", "new"), ("modified", "old")}
        (area.work / "new").unlink()
        (area.work / "old").rename(area.work / "other")
        assert await next_changes(watch) == {("deleted", "new"), ("deleted", "old"), ("created", "other")}


async def test_many_writes_are_one_change(area: Folder) -> None:
    async with watch_folder(area, bounds=WatchBounds(gather_s=0.2)) as watch:
        for number in range(500):
            (area.work / "x").write_text(str(number))
        assert await watch.next(10) == (Change(CREATED, "x"),)


async def test_folders_are_watched_as_they_appear(area: Folder) -> None:
    (area.work / "a").mkdir()
    async with watch_folder(area) as watch:
        (area.work / "a/b/c").mkdir(parents=True)
        (area.work / "a/b/c/early").write_text("")
        await wait_for_changes(watch, {("created", "a/b"), ("created", "a/b/c"), ("created", "a/b/c/early")})
        (area.work / "a/b/c/late").write_text("")
        await wait_for_changes(watch, {("created", "a/b/c/late")})
        (area.work / "a/b").rename(area.work / "moved")
        await wait_for_changes(watch, {("deleted", "a/b"), ("created", "moved"), ("created", "moved/c/late")})
        (area.work / "moved/c/late").unlink()
        await wait_for_changes(watch, {("deleted", "moved/c/late")})


async def test_only_the_folder_itself_is_watched_where_that_is_wanted(area: Folder) -> None:
    (area.work / "a").mkdir()
    async with watch_folder(area, "a", recursive=False) as watch:
        (area.work / "elsewhere").write_text("")
        (area.work / "a/b").mkdir()
        (area.work / "a/b/x").write_text("")
        (area.work / "a/y").write_text("")
        assert await next_changes(watch) == {("created", "b"), ("created", "y")}


async def test_nothing_is_told_when_nothing_happens(area: Folder) -> None:
    async with watch_folder(area) as watch:
        assert await watch.next(0.05) == ()


async def test_too_much_at_once_is_an_overflow_and_the_watch_goes_on(area: Folder) -> None:
    async with watch_folder(area, bounds=WatchBounds(max_pending=10)) as watch:
        for number in range(50):
            (area.work / str(number)).write_text("")
        assert await watch.next(10) == (Change(OVERFLOW),)
        (area.work / "after").write_text("")
        await wait_for_changes(watch, {("created", "after")})


async def test_a_huge_tree_that_appears_is_an_overflow_and_is_watched_afterwards(area: Folder) -> None:
    (area.path / "temporary/big/deep").mkdir(parents=True)
    for number in range(2000):
        os.close(os.open(area.path / f"temporary/big/{number}", os.O_CREAT | os.O_WRONLY))
    async with watch_folder(area) as watch:
        (area.path / "temporary/big").rename(area.work / "big")
        assert (await watch.next(10)) == (Change(OVERFLOW),)
        (area.work / "big/deep/x").write_text("")
        await wait_for_changes(watch, {("created", "big/deep/x")})


async def test_more_folders_than_are_watched_are_told_once(area: Folder) -> None:
    for number in range(20):
        (area.work / f"{number:02}").mkdir()
    async with watch_folder(area, bounds=WatchBounds(max_folders=5)) as watch:
        assert await watch.next(10) == (Change(OVERFLOW),) and watch.is_partial
        (area.work / "00/x").write_text("")
        await wait_for_changes(watch, {("created", "00/x")})


async def test_names_of_any_bytes_are_told_as_text(area: Folder) -> None:
    async with watch_folder(area) as watch:
        (area.work / os.fsdecode(b"\xff\n")).write_text("")
        assert await next_changes(watch) == {("created", "�\n")}


async def test_links_are_not_watched_through(area: Folder, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    make_special(area.work)
    async with watch_folder(area) as watch:
        (area.work / "link").symlink_to(tmp_path / "outside")
        await wait_for_changes(watch, {("created", "link")})
        (tmp_path / "outside/secret").write_text("")
        assert await watch.next(0.2) == ()
    for name in ("up", "root", "out", "fifo", ".."):
        with pytest.raises(InvalidRequest):
            async with watch_folder(area, name):
                pass
    with pytest.raises(NotFound):
        async with watch_folder(area, "no-such"):
            pass


async def test_a_watch_that_ends_leaves_nothing_and_whoever_waits_is_told(area: Folder) -> None:
    before = descriptors()
    async with watch_folder(area) as watch:
        waiting = asyncio.create_task(watch.next())
        await asyncio.sleep(0)
    assert await waiting == ()
    assert [change async for change in watch] == []
    assert descriptors() == before


async def test_the_watch_of_a_session_that_has_ended_is_refused(area: Folder) -> None:
    files = SessionFiles(area)
    descriptor, area.files_fd = area.files_fd, -1
    try:
        with pytest.raises(Conflict, match="closed"):
            async with files.watch():
                pass
    finally:
        area.files_fd = descriptor
