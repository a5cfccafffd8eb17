"""Ids for new objects, in the formats that clients of the control plane expect."""

from __future__ import annotations

import re
import secrets
import time
import uuid

_SESSION_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]*")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def session_id() -> str:
    return f"sess_{time.strftime('%Y%m%d', time.gmtime())}_{secrets.token_hex(8)}"


def session_id_like(original: str) -> str:
    """Return an id for a fork. Some APIs accept only UUIDs, so the fork of a session with a UUID gets a UUID."""
    return str(uuid.uuid4()) if _UUID.fullmatch(original) else session_id()


def execution_id() -> str:
    return f"exec_{time.strftime('%Y%m%d%H%M%S', time.gmtime())}_{secrets.token_hex(8)}"


def context_id() -> str:
    return f"ctx_{secrets.token_hex(8)}"


def box_id() -> str:
    return f"box_{secrets.token_hex(8)}"


def artifact_id() -> str:
    return f"art_{secrets.token_hex(12)}"


def is_session_id(text: str) -> bool:
    """Whether a client may choose this id: it is safe in paths and URLs."""
    return _SESSION_ID.fullmatch(text) is not None
