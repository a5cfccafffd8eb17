"""Output bytes as the protocol wants them: text, or a text that says why they are none."""

from __future__ import annotations

from sandbox_runtime.model import Output

_LONGEST_SEQUENCE = 4


def decoded(output: Output) -> str:
    """Where the middle was dropped, a character cut in two by that is left out; it is no fault of the program's."""
    if output.dropped_bytes:
        output = Output(_without_half_end(output.head), _without_half_start(output.tail), output.dropped_bytes)
    try:
        return bytes(output).decode()
    except UnicodeDecodeError as error:
        return f"[DecodeError] {error}"


def _without_half_end(data: bytes) -> bytes:
    for back in range(1, min(_LONGEST_SEQUENCE, len(data) + 1)):
        byte = data[-back]
        if byte >= 0xC0:
            whole = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return data[:-back] if whole > back else data
        if byte < 0x80:
            break
    return data


def _without_half_start(data: bytes) -> bytes:
    start = 0
    while start < min(_LONGEST_SEQUENCE - 1, len(data)) and 0x80 <= data[start] < 0xC0:
        start += 1
    return data[start:]
