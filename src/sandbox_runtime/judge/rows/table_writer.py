"""Write and remove tables of a folder atomically: concurrent readers see the old table or the new one."""

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
    """Write the table and return its number of rows. Raises Conflict if the table exists and `replace` is false."""
    existing = table_files(folder, table)
    if existing and not replace:
        raise Conflict(f"{existing[0]} exists: replace it with --replace, or remove it")
    try:
        folder.mkdir(mode=0o755, parents=True, exist_ok=True)
        count = _write_rows(folder / f"{table}{SUFFIXES[0]}", rows)
        for file in existing:
            if file.name.endswith(".gz"):
                file.unlink()
    except OSError as error:
        raise Unavailable(f"the rows cannot be written to {folder}: {error}") from error
    return count


def remove_table(folder: Path, table: str) -> bool:
    """Remove the table and return whether it existed."""
    existing = table_files(folder, table)
    for path in existing:
        path.unlink()
    return bool(existing)


def table_files(folder: Path, table: str) -> list[Path]:
    check_table(table)
    return [path for suffix in SUFFIXES if (path := folder / f"{table}{suffix}").is_file()]


def _write_rows(path: Path, rows: Iterable[Row]) -> int:
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    try:
        with open(descriptor, "w", encoding="utf-8") as file:
            ids: set[RowId] = set()
            for row in rows:
                file.write(json.dumps(dict(row)) + "\n")
                ids.add(_unique_id(ids, row))
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, _FILE_MODE)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    return len(ids)


def _unique_id(ids: set[RowId], row: Row) -> RowId:
    """Return the row's id. Raises InvalidRequest if it is missing or used by an earlier row."""
    row_id = next(row_names(row), None)
    if row_id is None:
        raise InvalidRequest(f"a row has no id: {json.dumps(dict(row))[:200]}…")
    if row_id in ids:
        raise InvalidRequest(f"two rows have the id {row_id!r}")
    return row_id
