"""The bytes of one file, from an offset on and piece by piece."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.workspace.areas import Folder, descriptors, make_special, meanwhile, swapping

from sandbox_runtime.errors import Conflict, InvalidRequest, NotFound, SandboxError
from sandbox_runtime.workspace import is_text
from sandbox_runtime.workspace.file_reader import open_file, read
from sandbox_runtime.workspace.preview import TYPES, content_type


def test_a_slice_tells_where_the_next_one_begins(area: Folder) -> None:
    (area.work / "x").write_bytes(b"0123456789")
    first = read(area, "x", 0, 4)
    assert (first.content, first.next_offset, first.size_bytes, first.is_end) == (b"0123", 4, 10, False)
    last = read(area, "x", 8, 4)
    assert (last.content, last.next_offset, last.is_end) == (b"89", 10, True)
    beyond = read(area, "x", 50, 4)
    assert (beyond.content, beyond.is_end) == (b"", True)


def test_an_empty_file_is_at_its_end(area: Folder) -> None:
    (area.work / "x").touch()
    assert read(area, "x").is_end and read(area, "x").content == b""


@pytest.mark.parametrize(("offset", "length"), [(-1, 1), (0, -1)])
def test_negative_numbers_are_refused(area: Folder, offset: int, length: int) -> None:
    (area.work / "x").touch()
    with pytest.raises(InvalidRequest, match="negative"):
        read(area, "x", offset, length)


def test_text_is_read_in_slices_without_cutting_a_character(area: Folder) -> None:
    text = "aé€😀" * 50
    (area.work / "x.txt").write_text(text)
    for length in (1, 2, 3, 4, 5, 7, 100):
        offset, found = 0, ""
        while True:
            piece, slice = read(area, "x.txt", offset, max(length, 4)).as_text()
            found += piece
            offset = slice.next_offset
            if slice.is_end:
                break
        assert found == text


def test_text_that_is_none_still_comes_to_an_end(area: Folder) -> None:
    (area.work / "x.txt").write_bytes(b"\xff\xc3\xe2\x82ok\xf0")
    offset, found = 0, ""
    for _ in range(20):
        piece, slice = read(area, "x.txt", offset, 1).as_text()
        found, offset = found + piece, slice.next_offset
        if slice.is_end:
            break
    assert slice.is_end and "ok" in found and "�" in found


def test_text_is_told_by_the_name(area: Folder) -> None:
    assert is_text("a/b.PY") and is_text("notes.md") and not is_text("x.png") and not is_text("Makefile") and not is_text("x")


def test_a_download_has_the_size_it_told(area: Folder) -> None:
    (area.work / "x").write_bytes(bytes(1_000_000))
    with open_file(area, "x") as file:
        with open(area.work / "x", "ab") as more:
            more.write(b"more")
        assert sum(len(piece) for piece in file.chunks()) == file.entry.size_bytes == 1_000_000
        assert b"".join(file.chunks(999_999, 50)) == b"\0"


def test_a_download_of_a_file_that_shrinks_is_told_to_be_broken(area: Folder) -> None:
    (area.work / "x").write_bytes(bytes(1_000_000))
    with open_file(area, "x") as file:
        os.truncate(area.work / "x", 10)
        with pytest.raises(Conflict, match="shorter"):
            list(file.chunks())


def test_a_file_that_is_replaced_meanwhile_is_read_as_it_was(area: Folder) -> None:
    (area.work / "x").write_bytes(b"old")
    with open_file(area, "x") as file:
        (area.work / "y").write_bytes(b"new")
        (area.work / "y").rename(area.work / "x")
        assert b"".join(file.chunks()) == b"old"


def test_what_is_no_plain_file_is_refused_at_once(area: Folder) -> None:
    make_special(area.work)
    (area.work / "folder").mkdir()
    before = descriptors()
    for name in ("fifo", "socket", "out", "up", "root", "nothing", "self", "folder", "fifo/x", "out/x"):
        with pytest.raises(InvalidRequest):
            read(area, name)
    with pytest.raises(NotFound):
        read(area, "no-such")
    assert descriptors() == before


def test_a_path_through_a_folder_that_is_swapped_never_leaves(area: Folder, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/x").write_text("secret")
    act = swapping(area.work, tmp_path / "outside")
    (area.work / "swap/x").write_text("plain")
    with meanwhile(act):
        for _ in range(1000):
            try:
                assert read(area, "swap/x").content == b"plain"
            except SandboxError:
                continue


def test_only_some_types_are_shown_in_a_browser() -> None:
    allowed = ["html", "txt", "md", "json", "xml", "csv", "png", "jpg", "jpeg", "gif", "bmp", "webp", "svg", "ico"]
    assert sorted(TYPES) == sorted(f".{suffix}" for suffix in allowed)
    assert content_type("plots/A.PNG") == "image/png"
    for name in ("x.exe", "x", ".png", "x.html.gz", "x.js"):
        with pytest.raises(InvalidRequest, match="download it instead"):
            content_type(name)
