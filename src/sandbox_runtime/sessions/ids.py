"""Names for what has none yet, in the forms that clients of the control plane know."""

from __future__ import annotations

import re
import secrets
import time

_SESSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]*")


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def session_id() -> str:
    return f"sess_{time.strftime('%Y%m%d', time.gmtime())}_{secrets.token_hex(8)}"


def execution_id() -> str:
    return f"exec_{time.strftime('%Y%m%d%H%M%S', time.gmtime())}_{secrets.token_hex(8)}"


def context_id() -> str:
    return f"ctx_{secrets.token_hex(8)}"


def artifact_id() -> str:
    return f"art_{secrets.token_hex(12)}"


def is_session_name(text: str) -> bool:
    """What a caller may call a session: fit for paths and addresses."""
    return _SESSION.fullmatch(text) is not None
