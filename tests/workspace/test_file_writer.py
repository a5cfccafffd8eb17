"""Files that come in piece by piece, folders made, names changed, things deleted: whatever a guest prepared."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.workspace.areas import Folder, descriptors, make_deep, make_special, meanwhile, swapping, tree

from sandbox_runtime.errors import Conflict, InvalidRequest, NotFound, SandboxError
from sandbox_runtime.workspace import Entry
from sandbox_runtime.workspace.file_ops import delete, make_folder, move
from sandbox_runtime.workspace.file_writer import Upload


@contextlib.contextmanager
def uploading(area: Folder, name: str, **options: int) -> Iterator[Upload]:
    upload = Upload(area, name, **options)
    try:
        upload.open()
        yield upload
    finally:
        upload.close()


def written(area: Folder, name: str, *pieces: bytes, **options: int) -> Entry:
    with uploading(area, name, **options) as upload:
        for piece in pieces:
            upload.write(piece)
        return upload.commit()


def test_a_file_is_there_when_all_of_it_is(area: Folder) -> None:
    with uploading(area, "a/b.txt") as upload:
        upload.write(b"one")
        upload.write(b"two")
        assert not (area.work / "a/b.txt").exists()
        entry = upload.commit()
    assert (entry.name, entry.size_bytes) == ("a/b.txt", 6)
    assert tree(area.work) == {"a": None, "a/b.txt": b"onetwo"}


def test_an_upload_that_ends_early_leaves_what_was_there(area: Folder) -> None:
    (area.work / "x").write_text("before")
    with uploading(area, "x") as upload:
        upload.write(b"half")
    assert tree(area.work) == {"x": b"before"}


def test_modes_are_kept_and_others_refused(area: Folder) -> None:
    written(area, "run.sh", b"", mode=0o755)
    assert (area.work / "run.sh").stat().st_mode & 0o7777 == 0o755
    for mode in (-1, 0o1000, 0o4755):
        with pytest.raises(InvalidRequest, match="0o777"):
            written(area, "x", mode=mode)


def test_a_file_over_the_bound_is_refused_while_it_comes(area: Folder) -> None:
    with pytest.raises(InvalidRequest, match="more than the 10 bytes"):
        written(area, "x", b"12345678", b"90a", max_bytes=10)
    assert tree(area.work) == {}
    assert written(area, "x", b"1234567890", max_bytes=10).size_bytes == 10


def test_a_file_is_not_replaced_where_that_is_forbidden(area: Folder) -> None:
    written(area, "x", b"first", replace=False)
    with pytest.raises(Conflict, match="there already"):
        written(area, "x", b"second", replace=False)
    assert tree(area.work) == {"x": b"first"}


def test_what_lies_in_the_way_is_replaced_and_never_written_to(area: Folder, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("untouched")
    make_special(area.work)
    (area.work / "link").symlink_to(outside)
    os.link(outside, area.work / "second-name")
    for name in ("fifo", "socket", "link", "out", "up", "self", "second-name"):
        written(area, name, b"new")
        assert (area.work / name).read_bytes() == b"new" and not (area.work / name).is_symlink()
    assert outside.read_text() == "untouched"


def test_a_folder_or_a_link_on_the_way_is_refused(area: Folder) -> None:
    make_special(area.work)
    (area.work / "folder").mkdir()
    before = tree(area.work / "folder"), descriptors()
    for name in ("folder", "up/x", "root/x", "out/x", "fifo/x", "x" * 300, "y/" * 300 + "x" * 300):
        with pytest.raises(InvalidRequest):
            written(area, name, b"new")
    assert (tree(area.work / "folder"), descriptors()) == before


def test_a_name_of_two_thousand_folders_takes_no_descriptors(area: Folder) -> None:
    written(area, "d/" * 1900 + "x", b"1")
    assert delete(area, "d", recursive=True) == 1901


@pytest.mark.skipif(os.geteuid() != 0, reason="giving files away needs root")
def test_what_root_makes_belongs_to_the_user_of_the_box(area: Folder) -> None:
    os.chown(area.work, 4711, 4712)
    written(area, "new/folder/x", b"1", mode=0o600)
    make_folder(area, "a/b")
    assert {(path.stat().st_uid, path.stat().st_gid) for path in area.work.rglob("*")} == {(4711, 4712)}


def test_writing_into_a_folder_that_is_swapped_never_writes_outside(area: Folder, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    act = swapping(area.work, tmp_path / "outside")
    with meanwhile(act):
        for number in range(300):
            with contextlib.suppress(SandboxError):
                written(area, f"swap/{number}", b"x")
                make_folder(area, f"swap/folder{number}")
    assert os.listdir(tmp_path / "outside") == []


def test_folders_are_made_with_those_above(area: Folder) -> None:
    assert make_folder(area, "a/b/c")
    assert not make_folder(area, "a/b/c")
    (area.work / "file").touch()
    for name in ("file", "file/x", "..", "/etc/x"):
        with pytest.raises(InvalidRequest):
            make_folder(area, name)


def test_files_and_folders_are_moved(area: Folder) -> None:
    written(area, "a/x", b"1")
    move(area, "a/x", "b/c/y")
    move(area, "b", "/tmp/moved")
    assert tree(area.work) == {"a": None}
    assert tree(area.path / "temporary") == {"moved": None, "moved/c": None, "moved/c/y": b"1"}


def test_a_move_replaces_only_where_it_may(area: Folder) -> None:
    written(area, "a", b"1")
    written(area, "b", b"2")
    with pytest.raises(Conflict, match="'b' cannot be the new name"):
        move(area, "a", "b")
    move(area, "a", "b", replace=True)
    assert tree(area.work) == {"b": b"1"}


def test_a_move_that_cannot_be_is_refused(area: Folder) -> None:
    written(area, "folder/x", b"1")
    written(area, "other/y", b"1")
    make_special(area.work)
    before = tree(area.work / "folder"), tree(area.work / "other")
    for source, target, error in (
        ("folder", "folder/inner", InvalidRequest),
        ("folder", "folder", InvalidRequest),
        ("no-such", "z", NotFound),
        ("folder", "other", Conflict),
        ("folder/x", "up/x", InvalidRequest),
        ("up/x", "z", InvalidRequest),
        ("folder/x", "../x", InvalidRequest),
        ("folder/x", "/etc/x", InvalidRequest),
    ):
        with pytest.raises(error):
            move(area, source, target, replace=True)
    assert (tree(area.work / "folder"), tree(area.work / "other")) == before


def test_a_link_is_moved_and_deleted_itself(area: Folder, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/x").write_text("")
    (area.work / "link").symlink_to(tmp_path / "outside")
    move(area, "link", "moved")
    assert delete(area, "moved", recursive=True) == 1
    assert tree(area.work) == {} and (tmp_path / "outside/x").exists()


def test_a_file_is_deleted_and_a_folder_only_when_asked(area: Folder) -> None:
    written(area, "a/x", b"1")
    with pytest.raises(Conflict, match="not empty"):
        delete(area, "a")
    assert delete(area, "a/x") == 1
    assert delete(area, "a") == 1
    with pytest.raises(NotFound):
        delete(area, "a")


def test_a_folder_is_deleted_with_all_that_a_guest_can_make(area: Folder, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/x").write_text("")
    for number in range(300):
        (area.work / f"a/{number}").mkdir(parents=True)
    make_special(area.work / "a/5")
    (area.work / "a/out").symlink_to(tmp_path / "outside")
    (area.work / "a" / os.fsdecode(b"\xff\n")).write_text("")
    (area.work / "a/locked").mkdir(mode=0 if os.geteuid() == 0 else 0o755)  # others cannot delete what is locked, and are told so
    delete(area, "a", recursive=True)
    assert tree(area.work) == {} and (tmp_path / "outside/x").exists()


def test_folders_deeper_than_any_path_are_deleted(area: Folder) -> None:
    (area.work / "a").mkdir()
    make_deep(area.work / "a", 400)
    make_deep(area.work / "a", 3000, "d")
    delete(area, "a", recursive=True)
    assert tree(area.work) == {}


@pytest.mark.parametrize("name", ["", ".", "/work", "/tmp", "..", "/"])
def test_the_folders_of_a_box_themselves_are_not_deleted(area: Folder, name: str) -> None:
    with pytest.raises(InvalidRequest):
        delete(area, name, recursive=True)
    assert area.work.is_dir()


def test_deleting_ends_where_a_program_makes_more_than_can_be_deleted(area: Folder) -> None:
    for number in range(20):
        written(area, f"a/{number}", b"")
    with pytest.raises(Conflict, match="stop what makes them"):
        delete(area, "a", recursive=True, max_entries=10)
    assert len(os.listdir(area.work / "a")) < 20


def test_deleting_a_folder_that_is_swapped_never_deletes_outside(area: Folder, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    for number in range(20):
        (tmp_path / f"outside/{number}").write_text("")
    act = swapping(area.work, tmp_path / "outside")
    with meanwhile(act):
        for _ in range(300):
            with contextlib.suppress(SandboxError):
                delete(area, "swap/1", recursive=True)
            with contextlib.suppress(SandboxError):
                delete(area, "swap", recursive=True)
            with contextlib.suppress(FileExistsError):
                (area.work / "swap").mkdir()
    assert len(os.listdir(tmp_path / "outside")) == 20
