"""A log file that is put aside when it is full, compressed, and deleted in the end."""

from __future__ import annotations

import gzip
import os
import time
from pathlib import Path

import pytest

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.telemetry import LogFile, Rotation, open_log


def aside(path: Path) -> list[Path]:
    return sorted(one for one in path.parent.iterdir() if one.name != path.name)


def text_of(path: Path) -> str:
    return gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()


@pytest.mark.parametrize("compress", [False, True])
def test_a_full_file_is_put_aside_and_no_line_is_torn_or_lost(tmp_path: Path, compress: bool) -> None:
    path = tmp_path / "logs" / "s[1].log"
    file = LogFile(path, Rotation(size_bytes=500, backups=0, compress=compress))
    log = open_log("info", "json", file)
    for number in range(40):
        log.info("a line", number=number)
    file.close()
    LogFile(path, Rotation(size_bytes=500, backups=0, compress=compress)).close()  # finishes what the first one left
    parts = [*aside(path), path]
    assert len(parts) > 5 and all(one.suffix == ".gz" for one in parts[:-1]) is compress
    lines = [line for one in parts for line in text_of(one).splitlines()]
    assert [line.count('"event"') for line in lines] == [1] * 40
    assert all(path.stat().st_mode & 0o077 == 0 for path in parts)


def test_only_the_newest_are_kept_and_no_stranger_is_touched(tmp_path: Path) -> None:
    path = tmp_path / "own.log"
    stranger = tmp_path / "own-notes.log"
    stranger.write_text("mine")
    for _ in range(6):
        file = LogFile(path, Rotation(size_bytes=10, backups=2, compress=False))
        file.write("0123456789\n")
        file.close()
    LogFile(path, Rotation(size_bytes=10, backups=2, compress=False)).close()
    assert len(aside(path)) == 3 and stranger.read_text() == "mine"


def test_what_is_too_old_goes(tmp_path: Path) -> None:
    path = tmp_path / "own.log"
    old = tmp_path / "own-2020-01-01T00-00-00.000000.log"
    old.write_text("long ago")
    os.utime(old, (time.time() - 100, time.time() - 100))
    LogFile(path, Rotation(backups=0, age_s=1000, compress=False)).close()
    assert old.exists()
    LogFile(path, Rotation(backups=0, age_s=50, compress=False)).close()
    assert not old.exists()


def test_a_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidRequest, match="cannot be written"):
        LogFile(tmp_path / "file" / "own.log", Rotation())
    (tmp_path / "link.log").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InvalidRequest):
        LogFile(tmp_path / "link.log", Rotation())


def test_a_disk_that_is_full_costs_no_line(capsys: pytest.CaptureFixture[str]) -> None:
    file = LogFile(Path("/dev/full"), Rotation())
    open_log("info", "text", file).info("where does it go")
    file.close()
    told = capsys.readouterr().err
    assert "where does it go" in told and "cannot be written" in told
