"""Which version of the protocol a request speaks."""

from __future__ import annotations

import re

from fastapi import Request

from sandbox_runtime.errors import InvalidRequest, NotFound

FIRST, SECOND = 1, 2
_PATH = re.compile(r"/api/v([12])/")
_HEADER = re.compile(r"v?([12])(?:\.0)?")
_MEDIA_TYPE = re.compile(r"application/vnd\.sandboxrunner\.v(\d{1,4})\+json")


def version_of(request: Request) -> int:
    """That of the path; else of API-Version; else of Accept; else the first. Raises InvalidRequest for one that there is not."""
    path = _PATH.match(request.url.path)
    if path:
        return int(path[1])
    header = request.headers.get("api-version", "").strip()
    if header:
        return _known(_HEADER.fullmatch(header), "API-Version")
    accepted = _MEDIA_TYPE.search(request.headers.get("accept", ""))
    return _known(_HEADER.fullmatch(accepted[1]), "Accept") if accepted else FIRST


def media_type_of(request: Request) -> str:
    """As the client asked for it."""
    accepted = _MEDIA_TYPE.search(request.headers.get("accept", ""))
    return accepted[0] if accepted else "application/json"


def check_second(request: Request) -> None:
    if version_of(request) < SECOND:
        raise NotFound("that is part of version 2: ask below /api/v2, or with the header API-Version: v2")


def _known(found: re.Match[str] | None, where: str) -> int:
    if found is None:
        raise InvalidRequest(f"{where} names a version that there is not: there are v1 and v2")
    return int(found[1])
