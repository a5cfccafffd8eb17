"""What failures of databases mean, told by their codes."""

from __future__ import annotations

import logging
import sqlite3

from sqlalchemy import exc

from sandbox_runtime.errors import PlatformFault, SandboxError, TooMany, Unavailable

_MYSQL_MISSING_PARENT, _MYSQL_HAS_CHILDREN = 1452, 1451
_MYSQL_DEADLOCK, _MYSQL_LOCK_WAIT = 1213, 1205
_MYSQL_UNREACHABLE = {1044, 1045, 1049, 1698, 2002, 2003, 2005}
_SEE_LOG = "the server's log says why"
_POSTGRES_FOREIGN_KEY = "23503"
_POSTGRES_DEADLOCK, _POSTGRES_SERIALIZATION = "40P01", "40001"


def is_missing_reference(error: exc.IntegrityError) -> bool:
    """Whether it names something that does not exist, rather than being there already."""
    if isinstance(error.orig, sqlite3.Error):
        return error.orig.sqlite_errorname == "SQLITE_CONSTRAINT_FOREIGNKEY"
    return _number(error) in (_MYSQL_MISSING_PARENT, _MYSQL_HAS_CHILDREN) or _sqlstate(error) == _POSTGRES_FOREIGN_KEY


def is_retryable(error: exc.DBAPIError) -> bool:
    """Two transactions stood in each other's way; this one was undone as a whole."""
    return _number(error) in (_MYSQL_DEADLOCK, _MYSQL_LOCK_WAIT) or _sqlstate(error) in (
        _POSTGRES_DEADLOCK,
        _POSTGRES_SERIALIZATION,
    )


def to_sandbox_error(error: Exception, display_url: str) -> SandboxError:
    """Return the error for clients, without address, user or path; those are logged. Neither text holds a statement or a
    parameter: these may carry somebody's code."""
    translated = _classify(error, display_url)
    logging.getLogger(__name__).warning("%s", translated.private)
    return translated


def _classify(error: Exception, display_url: str) -> SandboxError:
    if isinstance(error, exc.TimeoutError | TimeoutError):
        busy = TooMany("the store is busy: no answer in time; try again", retry_after_s=1.0)
        return busy.with_private(f"the database {display_url} is busy: no answer in time")
    if isinstance(error, exc.DBAPIError) and _is_locked(error):
        locked = TooMany("the store is locked by another writer; try again", retry_after_s=1.0)
        return locked.with_private(f"the database {display_url} is locked by another writer")
    if isinstance(error, OSError) or (isinstance(error, exc.DBAPIError) and _is_unreachable(error)):
        away = Unavailable(f"the store is unavailable; {_SEE_LOG}")
        return away.with_private(f"the database {display_url} cannot be reached: {error_reason(error)}")
    return PlatformFault(f"the store failed; {_SEE_LOG}").with_private(
        f"the database {display_url} failed: {error_reason(error)}"
    )


def error_reason(error: Exception) -> str:
    """The kind of failure, and its text where that cannot hold data: databases put values into the texts of some errors."""
    cause = error.orig if isinstance(error, exc.DBAPIError) and error.orig is not None else error
    telling = isinstance(cause, sqlite3.OperationalError | OSError) or (
        isinstance(error, exc.DBAPIError) and _is_unreachable(error)
    )
    return f"{type(cause).__name__}: {cause}" if telling else type(cause).__name__


def _is_locked(error: exc.DBAPIError) -> bool:
    return isinstance(error.orig, sqlite3.OperationalError) and error.orig.sqlite_errorname.startswith(
        ("SQLITE_BUSY", "SQLITE_LOCKED")
    )


def _is_unreachable(error: exc.DBAPIError) -> bool:
    state = _sqlstate(error)
    return _number(error) in _MYSQL_UNREACHABLE or state.startswith(("08", "28", "3D", "57P")) or error.connection_invalidated


def _number(error: exc.DBAPIError) -> int:
    arguments = getattr(error.orig, "args", ())
    return arguments[0] if arguments and isinstance(arguments[0], int) else 0


def _sqlstate(error: exc.DBAPIError) -> str:
    return getattr(error.orig, "sqlstate", None) or ""
