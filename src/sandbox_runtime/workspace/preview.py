"""Which files may be shown in a browser, and as what."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.workspace.os_errors import show_name

TYPES: Mapping[str, str] = {
    ".html": "text/html; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
    ".md": "text/markdown; charset=utf-8",
    ".json": "application/json",
    ".xml": "application/xml",
    ".csv": "text/csv; charset=utf-8",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".bmp": "image/bmp",
    ".webp": "image/webp",
    ".svg": "image/svg+xml",
    ".ico": "image/x-icon",
}

HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": "sandbox; default-src 'none'; img-src 'self' data:; style-src 'unsafe-inline'; font-src data:",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
"""A page that a guest wrote must not act in the name of whoever looks at it: no scripts, no forms, an origin of its own."""


def content_type(name: str) -> str:
    """Raises InvalidRequest for what is not shown."""
    found = TYPES.get(PurePosixPath(name).suffix.lower())
    if found is None:
        shown = ", ".join(suffix[1:] for suffix in TYPES)
        raise InvalidRequest(f"{show_name(name)} is of no type that is shown: {shown}; download it instead")
    return found
