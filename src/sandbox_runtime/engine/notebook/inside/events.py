"""Events from the driver to the server."""

from __future__ import annotations

import json
import os
from typing import Any

Event = dict[str, Any]


def emit(event: Event) -> None:
    """Write one event. Lone surrogates cannot be encoded, so they travel as JSON escapes."""
    data = memoryview(json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode(errors="backslashreplace") + b"\n")
    while data:
        data = data[os.write(1, data) :]
