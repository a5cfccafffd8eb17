"""A result as a text, and back. Pure."""

from __future__ import annotations

import base64
import json
import zlib

from sandbox_runtime.mcp.hosts.port import Ran


def packed(ran: Ran, level: int, least_bytes: int) -> tuple[str, bool]:
    """And whether it was compressed."""
    text = json.dumps({"stdout": ran.stdout, "stderr": ran.stderr, "ending": ran.ending, "wall_s": ran.wall_s})
    raw = text.encode()
    if not level or len(raw) < least_bytes:
        return text, False
    small = base64.b64encode(zlib.compress(raw, level)).decode()
    return (small, True) if len(small) < len(text) else (text, False)


def unpacked(content: str, *, compressed: bool) -> Ran:
    told = json.loads(zlib.decompress(base64.b64decode(content)) if compressed else content)
    return Ran(
        id="",
        state="completed",
        exit_code=0,
        stdout=told["stdout"],
        stderr=told["stderr"],
        ending=told["ending"],
        wall_s=told["wall_s"],
        cached=True,
    )
