"""Entries on disk: whole or not at all, bounded, private; a damaged one is as good as none."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import pytest

from sandbox_runtime.engine.build.entry import decode, encode
from sandbox_runtime.engine.build.entry_store import BuildStore
from sandbox_runtime.errors import Unavailable
from sandbox_runtime.model import Build, Ending, File, Outcome, Output, Usage

OUTCOME = Outcome(
    Ending.exited,
    0,
    stdout=Output(b"head\xff", b"tail", 7),
    stderr=Output(b"warning: x\n"),
    usage=Usage(1.5, 1.25, 0.25, 1000, denied_calls={"ptrace": 2}),
    isolation="namespaces",
)
BUILD = Build(OUTCOME, (File("a/b", b"\0\xff\n", executable=True), File("ü", b"")))


def key(number: int) -> str:
    return f"{number:064x}"


def opened(folder: Path, max_bytes: int = 10_000) -> BuildStore:
    store = BuildStore(str(folder), max_bytes)
    store.open()
    return store


def test_a_build_comes_back_as_it_was_and_says_that_it_was_kept() -> None:
    assert decode(b"".join(encode(BUILD))) == Build(dataclasses.replace(OUTCOME, cached=True), BUILD.files)


def test_every_damaged_byte_makes_an_entry_worthless() -> None:
    whole = b"".join(encode(BUILD))
    for place in range(len(whole)):
        assert decode(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :]) is None
        assert decode(whole[:place]) is None
    assert decode(whole + b"x") is None and decode(b"") is None


def test_entries_outlive_the_server(tmp_path: Path) -> None:
    opened(tmp_path / "builds").write(key(1), [b"one"])
    assert opened(tmp_path / "builds").read(key(1)) == b"one"
    assert opened(tmp_path / "builds").read(key(2)) is None


def test_the_folder_is_closed_to_all_others(tmp_path: Path) -> None:
    opened(tmp_path / "deep/builds").write(key(1), [b"one"])
    assert (tmp_path / "deep/builds").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "deep/builds" / key(1)).stat().st_mode & 0o777 == 0o600


def test_a_folder_that_others_may_enter_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "builds").mkdir()
    (tmp_path / "builds").chmod(0o755)
    with pytest.raises(Unavailable, match="closed to all others"):
        opened(tmp_path / "builds")


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(Unavailable, match="is unusable"):
        opened(tmp_path / "file/builds")


def test_what_was_used_least_lately_goes_first(tmp_path: Path) -> None:
    store = opened(tmp_path, max_bytes=1000)
    for number in range(5):
        store.write(key(number), [bytes(200)])
        os.utime(tmp_path / key(number), (number, number))
    assert store.read(key(0)) is not None
    store.write(key(5), [bytes(200)])
    assert [store.read(key(number)) is not None for number in range(6)] == [True, False, False, True, True, True]


def test_what_is_there_when_it_is_opened_counts(tmp_path: Path) -> None:
    first = opened(tmp_path, max_bytes=1000)
    for number in range(5):
        first.write(key(number), [bytes(200)])
    second = opened(tmp_path, max_bytes=1000)
    second.write(key(9), [bytes(200)])
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 1000
    assert second.read(key(9)) is not None


def test_two_servers_that_share_a_folder_stay_within_the_bound_together(tmp_path: Path) -> None:
    stores = [opened(tmp_path, max_bytes=1000) for _ in range(2)]
    for number in range(20):
        stores[number % 2].write(key(number), [bytes(200)])
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 2 * 1000


def test_what_a_killed_server_had_begun_is_swept_and_strangers_are_left_alone(tmp_path: Path) -> None:
    opened(tmp_path)
    (tmp_path / ".begun-999999999-aa").write_bytes(b"half")
    (tmp_path / f".begun-{os.getpid()}-bb").write_bytes(b"under way")
    (tmp_path / "notes.txt").write_bytes(b"of the operator")
    opened(tmp_path, max_bytes=1).write(key(1), [b"12"])
    assert sorted(path.name for path in tmp_path.iterdir()) == [f".begun-{os.getpid()}-bb", "notes.txt"]


def test_nothing_is_left_of_an_entry_that_cannot_be_written(tmp_path: Path) -> None:
    store = opened(tmp_path)
    (tmp_path / key(1)).mkdir()
    with pytest.raises(OSError):
        store.write(key(1), [b"one"])
    assert [path.name for path in tmp_path.iterdir()] == [key(1)]
