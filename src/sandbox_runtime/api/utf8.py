"""Cut UTF-8 without splitting a character."""

from __future__ import annotations

import codecs

_MAX_INCOMPLETE_BYTES = 3
_CONTINUATION_BYTES = bytes(range(0x80, 0xC0))


def split_incomplete(data: bytes) -> tuple[bytes, bytes]:
    """Split off the bytes at the end that are the beginning of a character."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    decoder.decode(data[-_MAX_INCOMPLETE_BYTES:])
    incomplete: bytes = decoder.getstate()[0]
    return data[: len(data) - len(incomplete)], incomplete


def drop_partial_start(data: bytes) -> bytes:
    """Remove the bytes at the start that are the end of a character."""
    start, rest = data[:_MAX_INCOMPLETE_BYTES], data[_MAX_INCOMPLETE_BYTES:]
    return start.lstrip(_CONTINUATION_BYTES) + rest
