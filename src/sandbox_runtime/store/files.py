"""Files that were sent into sandboxes: one row for each version, the newest of which is what a path holds.

Noted behind the answer and in batches, so a row may come a moment after its file. Sessions that are gone by then are passed over.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, func, select, update
from sqlalchemy.exc import IntegrityError

from sandbox_runtime.model import FileRecord
from sandbox_runtime.model.footprint import hash_path
from sandbox_runtime.store import mappings
from sandbox_runtime.store.database import Database
from sandbox_runtime.store.footprint_tables import FILES
from sandbox_runtime.store.page import Page, check_page
from sandbox_runtime.store.tables import SESSIONS

MAX_VERSIONS = 20
"""Of one path; older ones are forgotten."""
MAX_PATHS = 10_000
"""Of one session; files beyond that are not noted."""


@dataclass(frozen=True, slots=True)
class FileRead:
    session: str
    path: str
    at_ms: int
    times: int = 1


@dataclass(frozen=True, slots=True)
class FileDeleted:
    """A folder takes along what was below it."""

    session: str
    path: str
    at_ms: int


FileChange = FileRecord | FileRead | FileDeleted


class Files:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def record(self, changes: Sequence[FileChange]) -> None:
        """In this order. A record becomes the next version of its path."""
        if not changes:
            return
        try:
            await self._database.write(lambda connection: _record(connection, changes))
        except IntegrityError:
            # A session was deleted in between; now it can be seen that it is gone.
            await self._database.write(lambda connection: _record(connection, changes))

    async def latest(self, session: str, path: str) -> FileRecord | None:
        """None where it never came in, or was deleted."""
        found = await self._database.read(lambda connection: _newest(connection, session, path))
        return None if found is None or found.deleted_ms else found

    async def versions(self, session: str, path: str) -> tuple[FileRecord, ...]:
        """Newest first, deleted ones too."""
        query = select(*mappings.FILE.columns).where(*_path_clauses(session, path)).order_by(FILES.c.f_version.desc())
        rows = await self._database.read(lambda connection: connection.execute(query).all())
        return tuple(mappings.FILE.to_model(row) for row in rows)

    async def list(self, session: str, limit: int = 50, offset: int = 0) -> Page[FileRecord]:
        """What is there of it, by the time of their last versions, newest first."""
        check_page(limit, offset)
        return await self._database.read(lambda connection: _page(connection, session, limit, offset))


def _path_clauses(session: str, path: str) -> tuple[ColumnElement[bool], ...]:
    return FILES.c.f_session_id == session, FILES.c.f_path_digest == hash_path(path)


def _newest(connection: Connection, session: str, path: str) -> FileRecord | None:
    query = select(*mappings.FILE.columns).where(*_path_clauses(session, path)).order_by(FILES.c.f_version.desc()).limit(1)
    row = connection.execute(query).first()
    return None if row is None else mappings.FILE.to_model(row)


def _page(connection: Connection, session: str, limit: int, offset: int) -> Page[FileRecord]:
    newer = FILES.alias()
    same = (newer.c.f_session_id == FILES.c.f_session_id, newer.c.f_path_digest == FILES.c.f_path_digest)
    superseded = select(newer.c.f_id).where(*same, newer.c.f_version > FILES.c.f_version).exists()
    where = (FILES.c.f_session_id == session, FILES.c.f_deleted_at == 0, ~superseded)
    query = select(*mappings.FILE.columns).where(*where).order_by(FILES.c.f_created_at.desc(), FILES.c.f_id.desc())
    rows = connection.execute(query.limit(limit).offset(offset)).all()
    total = connection.execute(select(func.count()).select_from(FILES).where(*where)).scalar_one()
    return Page(tuple(mappings.FILE.to_model(row) for row in rows), total, limit, offset)


def _record(connection: Connection, changes: Sequence[FileChange]) -> None:
    """Records of different paths that follow each other go together, whatever their number."""
    known = existing_sessions(connection, {change.session for change in changes})
    paths: dict[str, int] = {}
    written: dict[tuple[str, str], FileRecord] = {}
    for change in changes:
        if change.session not in known:
            continue
        key = (change.session, change.path)
        if isinstance(change, FileRecord) and key not in written:
            written[key] = change
            continue
        _insert_versions(connection, list(written.values()), paths)
        written = {key: change} if isinstance(change, FileRecord) else {}
        if isinstance(change, FileRead):
            _record_read(connection, change)
        elif isinstance(change, FileDeleted):
            _mark_deleted(connection, change)
    _insert_versions(connection, list(written.values()), paths)


def existing_sessions(connection: Connection, sessions: set[str]) -> set[str]:
    query = select(SESSIONS.c.f_id).where(SESSIONS.c.f_id.in_(sorted(sessions)))
    return set(connection.execute(query).scalars().all())


def _insert_versions(connection: Connection, records: Sequence[FileRecord], paths: dict[str, int]) -> None:
    """Each of another path. paths: how many each session has, as far as that was counted."""
    before = _newest_versions(connection, records)
    rows: list[dict[str, Any]] = []
    for record in records:
        last = before.get((record.session, record.path_digest))
        if last is None and not _has_room(connection, record.session, paths):
            continue
        version, parent = (1, 0) if last is None else (last[0] + 1, last[1])
        updated_ms = record.updated_ms or record.created_ms
        values = mappings.FILE.to_row(dataclasses.replace(record, version=version, parent=parent, updated_ms=updated_ms))
        del values["f_id"]  # the database counts
        rows.append(values)
        if version > MAX_VERSIONS:
            old = FILES.c.f_version <= version - MAX_VERSIONS
            connection.execute(delete(FILES).where(*_path_clauses(record.session, record.path), old)).close()
    if rows:
        connection.execute(mappings.FILE.insert, rows).close()


def _newest_versions(connection: Connection, records: Sequence[FileRecord]) -> dict[tuple[str, str], tuple[int, int]]:
    """Version and id of the newest, by session and digest of the path."""
    if not records:
        return {}
    column = FILES.c
    where = (
        column.f_session_id.in_(sorted({record.session for record in records})),
        column.f_path_digest.in_(sorted({record.path_digest for record in records})),
    )
    query = select(column.f_session_id, column.f_path_digest, column.f_version, column.f_id).where(*where)
    rows = connection.execute(query.order_by(column.f_version)).all()
    return {(session, digest): (version, key) for session, digest, version, key in rows}


def _has_room(connection: Connection, session: str, paths: dict[str, int]) -> bool:
    if session not in paths:
        count = select(func.count(FILES.c.f_path_digest.distinct())).where(FILES.c.f_session_id == session)
        paths[session] = connection.execute(count).scalar_one()
    paths[session] += 1
    return paths[session] <= MAX_PATHS


def _record_read(connection: Connection, change: FileRead) -> None:
    found = _newest(connection, change.session, change.path)
    if found is None or found.deleted_ms:
        return  # a program made it: nobody sent it in
    values = {"f_access_count": FILES.c.f_access_count + change.times, "f_last_accessed_at": change.at_ms}
    connection.execute(update(FILES).where(FILES.c.f_id == found.id).values(values)).close()


def _mark_deleted(connection: Connection, change: FileDeleted) -> None:
    below = FILES.c.f_path.startswith(change.path.rstrip("/") + "/", autoescape=True)
    at = (FILES.c.f_session_id == change.session, FILES.c.f_deleted_at == 0)
    here = (FILES.c.f_path_digest == hash_path(change.path)) | below
    values = {"f_deleted_at": change.at_ms, "f_updated_at": change.at_ms}
    connection.execute(update(FILES).where(*at, here).values(values)).close()
