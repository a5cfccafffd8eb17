"""The version of the protocol that a request uses."""

from __future__ import annotations

import re

from fastapi import Request

from sandbox_runtime.errors import InvalidRequest, NotFound

V1, V2 = 1, 2
_PATH = re.compile(r"/api/v([12])/")
_HEADER = re.compile(r"v?([12])(?:\.0)?")
_MEDIA_TYPE = re.compile(r"application/vnd\.sandboxrunner\.v(\d{1,4})\+json")


def version_of(request: Request) -> int:
    """Return the version of the path, else of API-Version, else of Accept, else 1. Raises InvalidRequest for an unknown one."""
    path = _PATH.match(request.url.path)
    if path:
        return int(path[1])
    header = request.headers.get("api-version", "").strip()
    if header:
        return _parse_version(header, "API-Version")
    accepted = _MEDIA_TYPE.search(request.headers.get("accept", ""))
    return _parse_version(accepted[1], "Accept") if accepted else V1


def media_type_of(request: Request) -> str:
    """Return the media type that the client accepts: with a version, or plain JSON."""
    accepted = _MEDIA_TYPE.search(request.headers.get("accept", ""))
    return accepted[0] if accepted else "application/json"


def require_v2(request: Request) -> None:
    if version_of(request) < V2:
        raise NotFound("this route needs version 2: use a path below /api/v2, or the header API-Version: v2")


def _parse_version(text: str, header: str) -> int:
    match = _HEADER.fullmatch(text)
    if match is None:
        raise InvalidRequest(f"unknown version in {header}: use v1 or v2")
    return int(match[1])
