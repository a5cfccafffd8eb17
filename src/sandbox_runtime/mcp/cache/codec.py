"""Encode a result as text, and decode it."""

from __future__ import annotations

import base64
import json
import zlib

from sandbox_runtime.mcp.hosts.port import RunOutcome


def encode(outcome: RunOutcome, level: int, min_bytes: int) -> tuple[str, bool]:
    """Return the text and whether it is compressed. Compresses from `min_bytes` on, if that makes it smaller."""
    text = json.dumps({"stdout": outcome.stdout, "stderr": outcome.stderr, "ending": outcome.ending, "wall_s": outcome.wall_s})
    raw = text.encode()
    if not level or len(raw) < min_bytes:
        return text, False
    small = base64.b64encode(zlib.compress(raw, level)).decode()
    return (small, True) if len(small) < len(text) else (text, False)


def decode(content: str, *, compressed: bool) -> RunOutcome:
    fields = json.loads(zlib.decompress(base64.b64decode(content)) if compressed else content)
    return RunOutcome(
        id="",
        state="completed",
        exit_code=0,
        stdout=fields["stdout"],
        stderr=fields["stderr"],
        ending=fields["ending"],
        wall_s=fields["wall_s"],
        cached=True,
    )
