"""Where a name lies in the area of a box."""

from __future__ import annotations

import pytest
from tests.workspace.areas import Folder

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.workspace import resolve


@pytest.mark.parametrize(
    ("name", "placed"),
    [
        ("main.py", "work/main.py"),
        ("./a//b/./c", "work/a/b/c"),
        ("/work/x", "work/x"),
        ("/tmp/x", "temporary/x"),
        ("/tmp/deep/x", "work/x"),
        ("/tmp/deeper", "temporary/deeper"),
        ("line\nbreak", "work/line\nbreak"),
        ("ünï", "work/ünï"),
        ("-rf", "work/-rf"),
        ("...", "work/..."),
    ],
)
def test_names_are_placed_by_the_innermost_writable_folder(area: Folder, name: str, placed: str) -> None:
    assert resolve(area, name) == placed


@pytest.mark.parametrize("name", ["/etc/passwd", "/workshop/x", "/x", "/mnt/data"])
def test_a_name_outside_is_refused_and_the_writable_folders_are_told(area: Folder, name: str) -> None:
    with pytest.raises(InvalidRequest, match="/tmp, /tmp/deep, /work"):
        resolve(area, name)


@pytest.mark.parametrize(
    "name", ["", ".", "/", "..", "a/../b", "../x", "/work/../etc/passwd", "a/", "a\0b", "x" * 5000, "/work/.", "./."]
)
def test_a_name_that_is_none_is_refused(area: Folder, name: str) -> None:
    with pytest.raises(InvalidRequest):
        resolve(area, name)


def test_a_name_that_is_no_unicode_is_refused(area: Folder) -> None:
    with pytest.raises(InvalidRequest, match="Unicode"):
        resolve(area, "\udcff")
