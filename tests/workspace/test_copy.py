"""An area copied into another."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.workspace.areas import Folder, area_in, descriptors, make_deep, make_special, meanwhile, swapping, tree

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.workspace import copy_area


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Folder]:
    with area_in(tmp_path, "other") as made:
        yield made


def test_everything_is_there_afterwards(area: Folder, other: Folder) -> None:
    (area.work / "a/b").mkdir(parents=True)
    (area.work / "a/b/x").write_bytes(os.urandom(3_000_000))
    (area.work / "a/run").write_text("#!")
    (area.work / "a/run").chmod(0o750)
    (area.work / "a" / os.fsdecode(b"\xff\n")).write_text("any bytes")
    (area.work / "a/link").symlink_to("/work/a/b/x")
    (area.path / "temporary/t").write_text("t")
    before = descriptors()
    copied = copy_area(area, other)
    assert tree(other.path) == tree(area.path)
    assert (other.work / "a/run").stat().st_mode & 0o777 == 0o750
    assert copied.size_bytes == 3_000_000 + 2 + 9 + 1 and descriptors() == before


@pytest.mark.skipif(os.geteuid() != 0, reason="what a program has locked is open to root alone; others are told so")
def test_times_and_modes_of_folders_are_kept(area: Folder, other: Folder) -> None:
    (area.work / "locked/inner").mkdir(parents=True)
    (area.work / "locked/x").write_text("1")
    for name, mode, second in (("locked/x", 0o400, 111), ("locked/inner", 0o000, 222), ("locked", 0o500, 333)):
        (area.work / name).chmod(mode)
        os.utime(area.work / name, (second, second))
    copy_area(area, other)
    found = [(other.work / name).stat() for name in ("locked/x", "locked/inner", "locked")]
    assert [(s.st_mode & 0o777, s.st_mtime) for s in found] == [(0o400, 111), (0o000, 222), (0o500, 333)]


def test_holes_stay_holes(area: Folder, other: Folder) -> None:
    with open(area.work / "sparse", "wb") as file:
        file.seek(50_000_000)
        file.write(b"middle")
        file.truncate(100_000_000)
    copied = copy_area(area, other)
    assert (other.work / "sparse").stat().st_size == 100_000_000
    assert (other.work / "sparse").stat().st_blocks * 512 < 1_000_000 and copied.size_bytes < 1_000_000
    with open(other.work / "sparse", "rb") as file:
        file.seek(50_000_000)
        assert file.read(8) == b"middle\0\0"


def test_several_names_of_a_file_stay_names_of_one_file(area: Folder, other: Folder) -> None:
    (area.work / "one").write_text("same")
    (area.work / "d").mkdir()
    os.link(area.work / "one", area.work / "d/two")
    os.link(area.work / "one", area.path / "temporary/three")
    copied = copy_area(area, other)
    assert (other.work / "d/two").samefile(other.work / "one")
    assert (other.path / "temporary/three").samefile(other.work / "one")
    assert copied.size_bytes == 4


def test_links_are_copied_and_never_followed(area: Folder, other: Folder) -> None:
    make_special(area.work)
    copy_area(area, other)
    assert sorted(os.listdir(other.work)) == ["fifo", "nothing", "out", "root", "self", "up"]
    assert os.readlink(other.work / "out") == "/etc/passwd" and (other.work / "fifo").is_fifo()


def test_what_every_area_begins_with_gives_way(area: Folder, other: Folder) -> None:
    for made, target in ((area, "new"), (other, "old")):
        (made.work / "cache").symlink_to(target)
        (made.work / "folder").mkdir()
    (other.work / "file").write_text("old")
    (other.work / "was-link").symlink_to("/etc")
    (area.work / "was-link").mkdir()
    (area.work / "file").write_text("new")
    (other.work / "folder/stays").write_text("")
    copy_area(area, other)
    assert tree(other.work) == {"cache": "-> new", "file": b"new", "folder": None, "folder/stays": b"", "was-link": None}


def test_special_rights_are_dropped(area: Folder, other: Folder) -> None:
    (area.work / "x").write_text("")
    (area.work / "x").chmod(0o6755)
    (area.work / "d").mkdir()
    (area.work / "d").chmod(0o3777)
    copy_area(area, other)
    assert [(other.work / name).stat().st_mode & 0o7777 for name in "xd"] == [0o755, 0o1777]


@pytest.mark.skipif(os.geteuid() != 0, reason="giving files away needs root")
def test_the_copy_belongs_to_the_user_of_its_box(area: Folder, other: Folder) -> None:
    os.chown(other.work, 4711, 4712)
    make_special(area.work)
    (area.work / "d").mkdir()
    (area.work / "d/x").write_text("")
    copy_area(area, other)
    assert {(path.lstat().st_uid, path.lstat().st_gid) for path in other.work.rglob("*")} == {(4711, 4712)}


def test_more_than_the_bound_or_too_deep_is_refused(area: Folder, other: Folder) -> None:
    for number in range(20):
        (area.work / str(number)).touch()
    with pytest.raises(InvalidRequest, match="more than 10"):
        copy_area(area, other, max_entries=10)
    make_deep(area.work, 60)
    with pytest.raises(InvalidRequest, match="deep"):
        copy_area(area, other)


def test_copying_what_is_swapped_and_changed_meanwhile_copies_nothing_from_outside(
    area: Folder, tmp_path: Path, other: Folder
) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret").write_text("secret")
    act = swapping(area.work, tmp_path / "outside")
    (area.work / "swap/plain").write_text("plain")
    (area.work / "swap/secret").write_text("mine")

    def also() -> None:
        act()
        with contextlib.suppress(OSError):
            (area.work / "swap/secret").unlink()
            (area.work / "swap/secret").symlink_to(tmp_path / "outside/secret")
            (area.work / "swap/secret").unlink()
            (area.work / "swap/secret").write_text("mine")

    with meanwhile(also):
        for number in range(100):
            with area_in(tmp_path, f"copy{number}") as target:
                copy_area(area, target)
                assert b"secret" not in [content for content in tree(target.work).values() if isinstance(content, bytes)]
