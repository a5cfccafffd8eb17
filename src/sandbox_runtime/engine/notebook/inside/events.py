"""How the driver speaks to the server."""

from __future__ import annotations

import json
import os
from typing import Any

Event = dict[str, Any]


def emit(event: Event) -> None:
    """Half characters cannot be encoded: they travel as JSON's own escapes."""
    data = memoryview(json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode(errors="backslashreplace") + b"\n")
    while data:
        data = data[os.write(1, data) :]
