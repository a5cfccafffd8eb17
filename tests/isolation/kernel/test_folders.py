"""Folders that a guest could write are removed whole, and nothing outside of them is touched."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from tests.isolation.kernel.cgroup_helpers import NOBODY
from tests.isolation.kernel.fork_helper import in_child

from sandbox_runtime.isolation.kernel.folders import remove_folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "box"
    folder.mkdir()
    return folder


def test_links_are_removed_and_what_they_point_to_stays(folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("kept")
    (folder / "inner").mkdir()
    (folder / "link").symlink_to(outside)
    (folder / "inner/link").symlink_to(outside / "precious")
    (folder / "inner/hard").hardlink_to(outside / "precious")
    assert remove_folder(str(folder))
    assert not folder.exists()
    assert (outside / "precious").read_text() == "kept"


def test_a_link_in_place_of_the_folder_is_not_followed(folder: Path, tmp_path: Path) -> None:
    (folder / "precious").write_text("kept")
    link = tmp_path / "link"
    link.symlink_to(folder)
    assert not remove_folder(str(link))
    assert (folder / "precious").read_text() == "kept"


def test_a_tree_deeper_than_any_stack_is_removed(folder: Path) -> None:
    def dig() -> object:
        os.chdir(folder)
        for _ in range(5000):
            os.mkdir("down")
            os.chdir("down")
        return "dug"

    assert in_child(dig) == "dug"
    descriptors = os.listdir("/proc/self/fd")
    assert remove_folder(str(folder), 100)
    assert not folder.exists()
    assert os.listdir("/proc/self/fd") == descriptors


def test_odd_files_and_names_are_removed(folder: Path) -> None:
    os.mkfifo(folder / "fifo")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(folder / "socket"))
    (folder / "new\nline").mkdir()
    (folder / "moved-0").mkdir()
    (folder / "moved-0/x").mkdir()
    (folder / "moved-1").write_text("in the way")
    os.mkdir(os.fsencode(folder) + b"/\xff\xfe")
    (folder / "new\nline/-rf").write_text("")
    assert remove_folder(str(folder))
    assert not folder.exists()


def test_a_plain_user_removes_folders_it_was_locked_out_of(folder: Path) -> None:
    inner = folder / "a/b/c"
    inner.mkdir(parents=True)
    (inner / "file").write_text("")
    for path in (inner / "file", inner, inner.parent, inner.parent.parent, folder):
        path.chmod(0)
    if os.geteuid() == 0:
        for path in (inner / "file", inner, inner.parent, inner.parent.parent, folder):
            os.chown(path, NOBODY, NOBODY)

    def as_nobody() -> object:
        if os.geteuid() == 0:
            os.chdir(folder.parent)
            os.fchmod(os.open(".", os.O_RDONLY), 0o777)
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            return remove_folder(folder.name)
        return remove_folder(str(folder))

    assert in_child(as_nobody) is True
    assert not folder.exists()


def test_a_folder_that_is_gone_is_no_error(folder: Path) -> None:
    assert remove_folder(str(folder))
    assert remove_folder(str(folder))


def test_out_of_time_is_said_and_leaves_the_rest(folder: Path) -> None:
    (folder / "file").write_text("")
    assert not remove_folder(str(folder), wait_s=0)
    assert (folder / "file").exists()
