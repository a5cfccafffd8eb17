"""Output bytes as text."""

from __future__ import annotations

from sandbox_runtime.api.utf8 import drop_partial_start, split_incomplete
from sandbox_runtime.model import Output


def decoded(output: Output) -> str:
    """Return the output as text, or "[DecodeError] ..." if it is not UTF-8.

    If the middle was dropped, the characters that this cut in two are left out: the program did write UTF-8.
    """
    if output.dropped_bytes:
        output = Output(split_incomplete(output.head)[0], drop_partial_start(output.tail), output.dropped_bytes)
    try:
        return bytes(output).decode()
    except UnicodeDecodeError as error:
        return f"[DecodeError] {error}"
