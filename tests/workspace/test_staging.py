"""Files into a box, whatever the guest prepared in their place."""

from __future__ import annotations

import os
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.workspace.areas import QUOTAS, Folder

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model import File
from sandbox_runtime.workspace import stage


def staged(area: Folder, *files: File) -> None:
    stage(area, files)


def test_files_are_written_with_their_folders(area: Folder) -> None:
    staged(area, File("a.txt", b"1"), File("b/c/d.sh", b"2", executable=True), File("/tmp/e", b"3"))
    assert (area.path / "work/a.txt").read_bytes() == b"1"
    assert (area.path / "work/b/c/d.sh").stat().st_mode & 0o111
    assert (area.path / "temporary/e").read_bytes() == b"3"


def test_a_later_file_replaces_an_earlier_one(area: Folder) -> None:
    staged(area, File("x", b"a longer text"), File("x", b"short"))
    assert (area.path / "work/x").read_bytes() == b"short"


def test_a_file_that_is_replaced_is_there_all_the_while(area: Folder) -> None:
    path, ended, missed = area.path / "work/x", threading.Event(), 0
    staged(area, File("x", b"0"))

    def look() -> int:
        return sum(not path.exists() for _ in iter(ended.is_set, True))

    with ThreadPoolExecutor(1) as pool:
        looking = pool.submit(look)
        for number in range(300):
            staged(area, File("x", str(number).encode()))
        ended.set()
        missed = looking.result(30)
    assert missed == 0
    assert os.listdir(area.path / "work") == ["x"]


def test_a_name_with_a_newline_is_an_ordinary_name(area: Folder) -> None:
    staged(area, File("a\nb", b"1"))
    assert os.listdir(area.path / "work") == ["a\nb"]


@pytest.mark.skipif(os.geteuid() != 0, reason="giving files away needs root")
def test_what_root_stages_belongs_to_the_user_of_the_box(area: Folder) -> None:
    os.chown(area.path / "work", 4711, 4712)
    staged(area, File("x", b"1"), File("new/folder/y", b"2"))
    owners = {(path.stat().st_uid, path.stat().st_gid) for path in (area.path / "work").rglob("*")}
    assert owners == {(4711, 4712)}


def test_a_symbolic_link_in_place_of_the_file_is_replaced_not_followed(area: Folder, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("untouched")
    (area.path / "work/x").symlink_to(outside)
    staged(area, File("x", b"new"))
    assert outside.read_text() == "untouched"
    assert (area.path / "work/x").read_bytes() == b"new" and not (area.path / "work/x").is_symlink()


def test_a_hard_link_in_place_of_the_file_keeps_its_other_name_untouched(area: Folder, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("untouched")
    os.link(outside, area.path / "work/x")
    staged(area, File("x", b"new"))
    assert outside.read_text() == "untouched"


@pytest.mark.parametrize("target", ["/", "..", "../../..", "folder"])
def test_a_symbolic_link_in_place_of_a_folder_is_refused(area: Folder, target: str) -> None:
    (area.path / "work/folder").mkdir()
    (area.path / "work/link").symlink_to(target)
    with pytest.raises(InvalidRequest, match="link"):
        staged(area, File("link/x", b"1"))


def test_a_fifo_or_a_socket_in_place_of_the_file_is_replaced_without_waiting(area: Folder) -> None:
    os.mkfifo(area.path / "work/fifo")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(area.path / "work/socket"))
        staged(area, File("fifo", b"1"), File("socket", b"2"))
    assert (area.path / "work/fifo").read_bytes() == b"1"
    assert (area.path / "work/socket").read_bytes() == b"2"


def test_a_folder_in_place_of_the_file_is_refused(area: Folder) -> None:
    (area.path / "work/x").mkdir()
    with pytest.raises(InvalidRequest, match="names a folder"):
        staged(area, File("x", b"1"))


def test_a_file_in_place_of_a_folder_is_refused(area: Folder) -> None:
    with pytest.raises(InvalidRequest, match="not a folder"):
        staged(area, File("x", b"1"), File("x/y", b"2"))


def test_a_part_of_a_name_that_is_too_long_is_refused(area: Folder) -> None:
    with pytest.raises(InvalidRequest, match="255"):
        staged(area, File("x" * 300, b""))


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ([File(f"f{n}", b"") for n in range(11)], "11 files"),
        ([File("x", b"x" * 1001)], "1001 bytes"),
        ([File(f"f{n}", b"x" * 900) for n in range(3)], "2700 bytes together"),
    ],
)
def test_more_than_the_quotas_is_refused(files: list[File], told: str) -> None:
    with pytest.raises(InvalidRequest, match=told):
        QUOTAS.check(files)


def test_up_to_the_quotas_is_admitted() -> None:
    QUOTAS.check([File(f"f{n}", b"x" * (1000 if n < 2 else 0)) for n in range(10)])


def test_no_descriptor_is_left_open(area: Folder) -> None:
    before = len(os.listdir("/proc/self/fd"))
    staged(area, File("a/b/c", b"1"), File("x", b"2"), File("x", b"3"))
    with pytest.raises(InvalidRequest):
        staged(area, File("x/y", b"1"))
    assert len(os.listdir("/proc/self/fd")) == before
