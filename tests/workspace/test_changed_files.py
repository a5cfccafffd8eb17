"""What a step left: plain files that are new or changed, or a reason why not."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.workspace.areas import QUOTAS, Folder

from sandbox_runtime.model import File
from sandbox_runtime.workspace import collect_changes, link, stage

SOURCE = File("main.c", b"int x;")


def test_what_is_new_or_changed_is_found_and_the_rest_is_not(area: Folder) -> None:
    stage(area, [SOURCE, File("data", b"old"), File("/tmp/elsewhere", b"")])
    (area.path / "work/data").write_bytes(b"new")
    (area.path / "work/deep/er").mkdir(parents=True)
    (area.path / "work/deep/er/made").write_bytes(b"\0made")
    (area.path / "work/deep/er/made").chmod(0o755)
    (area.path / "temporary/left").write_bytes(b"not in the workspace")
    found = collect_changes(area, [SOURCE, File("./data", b"old"), File("/tmp/elsewhere", b"")], (), QUOTAS)
    assert found.files == (File("data", b"new"), File("deep/er/made", b"\0made", executable=True))
    assert not found.rejection


def test_a_file_that_became_executable_counts_as_changed(area: Folder) -> None:
    stage(area, [SOURCE])
    (area.path / "work/main.c").chmod(0o755)
    assert collect_changes(area, [SOURCE], (), QUOTAS).files == (File("main.c", b"int x;", executable=True),)


def test_a_step_that_left_nothing_is_no_fault(area: Folder) -> None:
    stage(area, [SOURCE])
    assert collect_changes(area, [SOURCE], (), QUOTAS) == collect_changes(area, [SOURCE], (), QUOTAS)
    assert not collect_changes(area, [SOURCE], (), QUOTAS).rejection


def test_links_that_were_put_there_are_left_alone(area: Folder) -> None:
    links = (("modules", "/somewhere/else"), ("in/a/folder", "x"))
    link(area, links)
    assert collect_changes(area, [], links, QUOTAS).files == () and not collect_changes(area, [], links, QUOTAS).rejection
    assert os.readlink(area.path / "work/in/a/folder") == "x"


def hard_link(folder: Path) -> None:
    (folder / "one").write_bytes(b"1")
    os.link(folder / "one", folder / "two")


def listening(folder: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(folder / "socket"))


def special(mode: int) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        (folder / "tool").write_bytes(b"x")
        (folder / "tool").chmod(mode)

    return make


def many(folder: Path) -> None:
    for number in range(QUOTAS.max_files + 1):
        (folder / str(number)).write_bytes(b"")


def deep(folder: Path) -> None:
    for _ in range(40):
        folder = folder / "d"
        folder.mkdir()
    (folder / "x").write_bytes(b"")


def replaced_link(folder: Path) -> None:
    (folder / "modules").unlink()
    (folder / "modules").symlink_to("/etc")


def sparse(folder: Path) -> None:
    with open(folder / "sparse", "wb") as file:
        file.truncate(2**40)


@pytest.mark.parametrize(
    ("act", "told"),
    [
        (lambda folder: (folder / "link").symlink_to("main.c"), "link"),
        (lambda folder: (folder / "link").symlink_to("/etc"), "link"),
        (lambda folder: os.mkfifo(folder / "fifo"), "no plain file"),
        (listening, "cannot be read"),
        (hard_link, "2 names"),
        (special(0o4755), "special rights"),
        (special(0o2755), "special rights"),
        (lambda folder: (folder / "empty").mkdir(), "empty folder"),
        (lambda folder: (folder / "main.c").unlink(), "gone"),
        (lambda folder: (folder / "large").write_bytes(bytes(1001)), "larger"),
        (lambda folder: [(folder / f"f{n}").write_bytes(bytes(900)) for n in range(3)], "larger"),
        (sparse, "larger"),
        (many, "more than 10 files"),
        (deep, "more than"),
        (replaced_link, "leads elsewhere"),
        (lambda folder: open(os.fsencode(folder) + b"/\xff", "w").close(), "no text"),
    ],
)
def test_whatever_is_more_than_plain_files_is_not_taken_at_all(area: Folder, act: Callable[[Path], object], told: str) -> None:
    links = (("modules", "/somewhere"),)
    stage(area, [SOURCE])
    link(area, links)
    (area.path / "work/good").write_bytes(b"good")
    act(area.path / "work")
    found = collect_changes(area, [SOURCE], links, QUOTAS)
    assert found.files == () and told in found.rejection


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a device")
def test_a_device_is_not_read(area: Folder) -> None:
    os.mknod(area.path / "work/zero", 0o666 | 0o020000, os.makedev(1, 5))
    assert "no plain file" in collect_changes(area, [], (), QUOTAS).rejection
