"""Signed tokens for URLs that allow one file to be downloaded for some time without a key.

They are signed with a secret of this process and become invalid when it ends.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from dataclasses import dataclass

from sandbox_runtime.errors import Denied

_MAX_TOKEN_LENGTH = 8192


@dataclass(frozen=True, slots=True)
class FileGrant:
    session: str
    owner: str
    path: str
    until_s: int


def sign(grant: FileGrant, secret: bytes) -> str:
    body = json.dumps([grant.session, grant.owner, grant.path, grant.until_s]).encode()
    return f"{_encode(body)}.{_encode(_signature(body, secret))}"


def verify(token: str, secret: bytes) -> FileGrant:
    """Return what the token grants. Raises Denied if it is invalid or expired."""
    body, _, signature = token.partition(".")
    try:
        if len(token) > _MAX_TOKEN_LENGTH:
            raise ValueError
        content = _decode(body)
        if not hmac.compare_digest(_decode(signature), _signature(content, secret)):
            raise ValueError
    except ValueError as error:
        raise Denied("this URL is invalid, or the server has restarted: request a new one") from error
    grant = FileGrant(*json.loads(content))
    if time.time() > grant.until_s:
        raise Denied("this URL has expired: request a new one")
    return grant


def _signature(body: bytes, secret: bytes) -> bytes:
    return hmac.new(secret, body, hashlib.sha256).digest()


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))
