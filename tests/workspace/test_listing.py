"""What is there, whatever a guest put there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.workspace.areas import Folder, descriptors, make_deep, make_special, meanwhile, swapping

from sandbox_runtime.errors import InvalidRequest, NotFound
from sandbox_runtime.workspace import EntryKind, Listing
from sandbox_runtime.workspace.listing import list_folder, stat_entry


def names(listing: Listing) -> list[str]:
    return [entry.name for entry in listing.entries]


def fill(area: Folder) -> None:
    (area.work / "b/c").mkdir(parents=True)
    (area.work / "b/c/deep.txt").write_text("deep")
    (area.work / "b/x").write_text("1")
    (area.work / "a.txt").write_text("hello")
    (area.work / ".hidden").mkdir()
    (area.work / ".hidden/inside").write_text("")


def test_a_folder_is_listed_by_name(area: Folder) -> None:
    fill(area)
    found = list_folder(area)
    assert names(found) == [".hidden", "a.txt", "b"] and not found.truncated
    text = found.entries[1]
    assert (text.kind, text.size_bytes, text.nameable) == (EntryKind.file, 5, True)
    assert found.entries[2].kind is EntryKind.folder
    assert text.modified_s == pytest.approx((area.work / "a.txt").stat().st_mtime)


def test_a_folder_is_listed_with_all_below_it(area: Folder) -> None:
    fill(area)
    expected = [".hidden", ".hidden/inside", "a.txt", "b", "b/c", "b/c/deep.txt", "b/x"]
    assert names(list_folder(area, recursive=True)) == expected
    assert names(list_folder(area, "b", recursive=True)) == ["c", "c/deep.txt", "x"]


def test_hidden_names_and_those_to_be_left_out_are_not_shown(area: Folder) -> None:
    fill(area)
    (area.work / "b/a.txt").write_text("")
    shown = names(list_folder(area, recursive=True, hidden=False, leave_out=("a.txt",)))
    assert shown == ["b", "b/a.txt", "b/c", "b/c/deep.txt", "b/x"]


@pytest.mark.parametrize("name", ["", ".", "./", "/work", "/work/", "/work/."])
def test_the_workspace_has_several_names(area: Folder, name: str) -> None:
    (area.work / "x").write_text("")
    assert names(list_folder(area, name)) == ["x"]


def test_other_writable_folders_are_listed_by_their_own_names(area: Folder) -> None:
    (area.path / "temporary/t").write_text("")
    assert names(list_folder(area, "/tmp")) == ["t"]


@pytest.mark.parametrize("name", ["..", "b/..", "/", "/etc", "a\0b", "/work/../etc"])
def test_a_folder_outside_is_refused(area: Folder, name: str) -> None:
    with pytest.raises(InvalidRequest):
        list_folder(area, name)


def test_a_folder_that_is_not_there_is_told_so(area: Folder) -> None:
    with pytest.raises(NotFound, match="no-such"):
        list_folder(area, "no-such")


def test_what_is_no_folder_is_not_listed(area: Folder) -> None:
    make_special(area.work)
    (area.work / "file").write_text("")
    for name in ("fifo", "socket", "out", "up", "root", "self", "file"):
        with pytest.raises(InvalidRequest, match="link, which is never followed, or not a folder"):
            list_folder(area, name)


def test_links_and_special_files_are_told_as_what_they_are(area: Folder) -> None:
    make_special(area.work)
    kinds = {entry.name: entry.kind for entry in list_folder(area, recursive=True).entries}
    links = dict.fromkeys(("out", "up", "root", "nothing", "self"), EntryKind.link)
    assert kinds == {"fifo": EntryKind.other, "socket": EntryKind.other, **links}
    assert stat_entry(area, "out").kind is EntryKind.link and stat_entry(area, "out").size_bytes == len("/etc/passwd")


def test_more_than_the_limit_is_cut_after_the_first_in_order(area: Folder) -> None:
    for number in range(20):
        (area.work / f"{number:02}").write_text("")
    found = list_folder(area, limit=5)
    assert names(found) == ["00", "01", "02", "03", "04"] and found.truncated
    assert not list_folder(area, limit=20).truncated


def test_a_huge_folder_is_listed_within_bounds(area: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sandbox_runtime.workspace.listing._MAX_SCANNED", 100)
    for number in range(300):
        os.close(os.open(area.work / f"{number:03}", os.O_CREAT | os.O_WRONLY))
    found = list_folder(area, limit=1000)
    assert len(found.entries) == 100 and found.truncated and names(found)[-1] == "099"


def test_names_of_any_bytes_are_shown_as_text(area: Folder) -> None:
    for name in (b"new\nline", b"\xff\xfe", "ünï".encode(), b"-rf", b" "):
        (area.work / os.fsdecode(name)).write_text("")
    found = {entry.name: entry.nameable for entry in list_folder(area).entries}
    assert found == {"new\nline": True, "��": False, "ünï": True, "-rf": True, " ": True}
    for name in found:
        name.encode()


def test_folders_deeper_than_any_path_are_listed_as_far_as_paths_go(area: Folder) -> None:
    make_deep(area.work, 60)
    found = list_folder(area, recursive=True)
    assert found.truncated and 30 < len(found.entries) < 45


def test_an_entry_tells_its_own_facts(area: Folder) -> None:
    (area.work / "x").write_text("12")
    (area.work / "x").chmod(0o640)
    before = stat_entry(area, "x")
    assert (before.name, before.size_bytes, before.mode) == ("x", 2, 0o640)
    (area.work / "x").write_text("1234")
    assert stat_entry(area, "x").etag != before.etag
    with pytest.raises(NotFound):
        stat_entry(area, "y")


def test_a_folder_that_is_swapped_for_a_link_out_is_never_entered(area: Folder, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret").write_text("")
    act = swapping(area.work, tmp_path / "outside")
    (area.work / "swap/plain").write_text("")
    before = descriptors()
    with meanwhile(act):
        for _ in range(500):
            assert not any("secret" in name for name in names(list_folder(area, recursive=True)))
    assert descriptors() == before
