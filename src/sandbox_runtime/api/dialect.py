"""What a dialect declares about itself. A new dialect is one folder in dialects/ and its name in app.py.

dialects/NAME/router.py defines `dialect = Dialect(...)`. The app factory mounts its routers and the middleware reads its paths,
so no other file contains a path of a dialect.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from importlib import import_module
from typing import Any

from fastapi import APIRouter
from starlette.routing import BaseRoute

from sandbox_runtime.languages import Catalog

_PARAMETER = re.compile(r"\{\w+(:path)?\}")
_NOTHING = r"(?!)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """Paths are written as in routes: `{name}` matches one segment, `{name:path}` the rest of the path."""

    name: str
    routers: Sequence[APIRouter]
    fast_routes: Sequence[BaseRoute] = ()
    """Matched before the routers of all dialects."""
    open_paths: Sequence[str] = ()
    """Served without an API key."""
    token_paths: Sequence[str] = ()
    """Served without an API key because their routes check a token of their own."""
    linkable_paths: Sequence[str] = ()
    """Need a key, but pages of other sites may link to them: a GET has no side effects."""
    upload_paths: Sequence[str] = ()
    """Take bodies of up to `session_file_max_bytes`; other bodies are limited to `max_request_bytes`."""
    batch_paths: Sequence[str] = ()
    """Take bodies of up to `batch_max_bytes`, unless the body is JSON, which is read into memory."""
    compressed_paths: Sequence[str] = ()
    """Responses are compressed with gzip if the client accepts it and they are long enough."""
    uncompressed_paths: Sequence[str] = ()
    """Exceptions from compressed_paths, in any dialect."""
    amend_openapi: Callable[[dict[str, Any], Catalog], None] | None = None
    """Called once with the OpenAPI document, to add what depends on the language catalog."""


@dataclass(frozen=True, slots=True)
class PathRules:
    """The paths that all dialects declare, one pattern for each kind. See Dialect."""

    open: re.Pattern[str]
    token: re.Pattern[str]
    linkable: re.Pattern[str]
    upload: re.Pattern[str]
    batch: re.Pattern[str]
    compressed: re.Pattern[str]
    uncompressed: re.Pattern[str]


def load_dialect(name: str) -> Dialect:
    """Import dialects/NAME/router.py and return what it declares."""
    dialect: Dialect = import_module(f"sandbox_runtime.api.dialects.{name}.router").dialect
    return dialect


def path_rules(dialects: Iterable[Dialect]) -> PathRules:
    known = tuple(dialects)

    def pattern(field: str) -> re.Pattern[str]:
        return path_pattern(path for dialect in known for path in getattr(dialect, f"{field}_paths"))

    return PathRules(**{field.name: pattern(field.name) for field in fields(PathRules)})


def path_pattern(paths: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern that fully matches each of these paths, and nothing if there are none."""
    alternatives = "|".join(_expression(path) for path in paths)
    return re.compile(rf"(?:{alternatives or _NOTHING})\Z", re.DOTALL)


def _expression(path: str) -> str:
    literal, *rest = _PARAMETER.split(path)
    pairs = zip(rest[::2], rest[1::2], strict=True)
    return re.escape(literal) + "".join((".*" if is_path else "[^/]+") + re.escape(text) for is_path, text in pairs)
