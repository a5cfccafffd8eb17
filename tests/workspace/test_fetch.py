"""Files out of a box, whatever the guest makes of them meanwhile."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from tests.workspace.areas import QUOTAS, Folder

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.workspace import Quotas, fetch


def contents(area: Folder, *names: str) -> dict[str, bytes]:
    return {file.name: file.content for file in fetch(area, names, QUOTAS).files}


def test_files_come_back_by_the_names_that_were_asked_for(area: Folder) -> None:
    (area.path / "work/a").write_bytes(b"\0\xff1")
    (area.path / "temporary/b").write_bytes(b"2")
    assert contents(area, "./a", "/tmp/b", "a") == {"./a": b"\0\xff1", "/tmp/b": b"2", "a": b"\0\xff1"}


def test_what_is_missing_or_no_regular_file_is_absent(area: Folder) -> None:
    (area.path / "work/folder").mkdir()
    os.mkfifo(area.path / "work/fifo")
    assert contents(area, "missing", "folder", "fifo", "missing/too", "x" * 300) == {}


@pytest.mark.parametrize("target", ["/etc/passwd", "../../secret", "/proc/self/environ", "real"])
def test_a_symbolic_link_is_absent(area: Folder, target: str) -> None:
    (area.path.parent / "secret").write_text("secret")
    (area.path / "work/real").write_text("real")
    (area.path / "work/link").symlink_to(target)
    assert contents(area, "link") == {}


def test_a_linked_folder_is_not_entered(area: Folder) -> None:
    (area.path / "work/link").symlink_to("/etc")
    assert contents(area, "link/passwd") == {}


@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "", "a\0b"])
def test_a_name_outside_is_refused(area: Folder, name: str) -> None:
    with pytest.raises(InvalidRequest):
        fetch(area, [name], QUOTAS)


def test_a_file_that_is_too_large_is_skipped_with_the_reason(area: Folder) -> None:
    (area.path / "work/large").write_bytes(b"x" * 1001)
    (area.path / "work/small").write_bytes(b"x" * 1000)
    found = fetch(area, ["large", "small"], QUOTAS)
    assert [file.name for file in found.files] == ["small"]
    assert found.skipped[0][0] == "large" and "1000 bytes" in found.skipped[0][1]


def test_all_files_together_are_bounded(area: Folder) -> None:
    for number in range(4):
        (area.path / f"work/f{number}").write_bytes(b"x" * 900)
    found = fetch(area, [f"f{number}" for number in range(4)], QUOTAS)
    assert len(found.files) == 2 and len(found.skipped) == 2


def test_a_sparse_file_of_a_terabyte_costs_nothing(area: Folder) -> None:
    with open(area.path / "work/sparse", "wb") as file:
        file.truncate(2**40)
    assert fetch(area, ["sparse"], QUOTAS).files == ()


def test_a_file_that_grows_while_it_is_read_is_bounded(area: Folder) -> None:
    stop = threading.Event()

    def grow() -> None:
        with open(area.path / "work/growing", "ab", buffering=0) as file:
            while not stop.is_set() and file.tell() < 64 * 2**20:
                file.write(b"x" * 4096)

    writer = threading.Thread(target=grow)
    writer.start()
    try:
        for _ in range(50):
            found = fetch(area, ["growing"], Quotas(1, 100_000, 100_000))
            assert all(len(file.content) <= 100_000 for file in found.files)
    finally:
        stop.set()
        writer.join()


def test_a_name_that_is_swapped_for_a_link_all_the_time_never_leads_outside(area: Folder, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x").write_text("secret")
    inside = area.path / "work/d"
    inside.mkdir()
    (inside / "x").write_text("mine")
    (area.path / "work/link").symlink_to(outside)
    stop = threading.Event()

    def swap() -> None:
        held, aside = area.path / "work/link", area.path / "work/aside"
        while not stop.is_set():
            os.rename(inside, aside)
            os.rename(held, inside)
            os.rename(inside, held)
            os.rename(aside, inside)

    guest = threading.Thread(target=swap)
    guest.start()
    try:
        seen = {content for _ in range(3000) for content in contents(area, "d/x").values()}
    finally:
        stop.set()
        guest.join()
    assert seen == {b"mine"}


def test_no_descriptor_is_left_open(area: Folder) -> None:
    os.mkfifo(area.path / "work/fifo")
    (area.path / "work/x").write_text("x")
    before = len(os.listdir("/proc/self/fd"))
    contents(area, "fifo", "x", "missing")
    assert len(os.listdir("/proc/self/fd")) == before
