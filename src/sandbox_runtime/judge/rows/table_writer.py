"""Tables of a folder, written and removed as a whole: a server that reads meanwhile sees the old one or the new one."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from sandbox_runtime.errors import Conflict, InvalidRequest, Unavailable
from sandbox_runtime.judge.rows.folder import SUFFIXES
from sandbox_runtime.judge.rows.port import RowId, check_table, row_names
from sandbox_runtime.model.judge import Row

_FILE_MODE = 0o644


def write_table(folder: Path, table: str, rows: Iterable[Row], *, replace: bool = False) -> int:
    """Returns how many rows there are. Conflict where there is such a table and it is not to be replaced."""
    kept = table_files(folder, table)
    if kept and not replace:
        raise Conflict(f"there are rows in {kept[0]} already: replace them with --replace, or remove them")
    try:
        folder.mkdir(mode=0o755, parents=True, exist_ok=True)
        count = _write_rows(folder / f"{table}{SUFFIXES[0]}", rows)
        for packed in kept:
            if packed.name.endswith(".gz"):
                packed.unlink()
    except OSError as error:
        raise Unavailable(f"the rows cannot be kept in {folder}: {error}") from error
    return count


def remove_table(folder: Path, table: str) -> bool:
    """Whether there was one."""
    kept = table_files(folder, table)
    for path in kept:
        path.unlink()
    return bool(kept)


def table_files(folder: Path, table: str) -> list[Path]:
    check_table(table)
    return [path for suffix in SUFFIXES if (path := folder / f"{table}{suffix}").is_file()]


def _write_rows(path: Path, rows: Iterable[Row]) -> int:
    descriptor, made = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    try:
        with open(descriptor, "w", encoding="utf-8") as file:
            seen: set[RowId] = set()
            for row in rows:
                file.write(json.dumps(dict(row)) + "\n")
                seen.add(_unique_id(seen, row))
            file.flush()
            os.fsync(file.fileno())
        os.chmod(made, _FILE_MODE)
        os.replace(made, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(made)
        raise
    return len(seen)


def _unique_id(seen: set[RowId], row: Row) -> RowId:
    """The row's id, which no other may have: nobody could ask for the second."""
    called = next(row_names(row), None)
    if called is None:
        raise InvalidRequest(f"a row has no id: {json.dumps(dict(row))[:200]}…")
    if called in seen:
        raise InvalidRequest(f"two rows have the id {called!r}")
    return called
