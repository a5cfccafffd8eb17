"""Checks that several nouns share: what an id, a text, an environment may be. Each raises InvalidRequest and says what to do."""

from __future__ import annotations

from collections.abc import Mapping

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.quantities import KIB, MIB, check_range

ID_CHARACTERS = 255
SHORT_ID_CHARACTERS = 64
NAME_CHARACTERS = 128
TEXT_BYTES = MIB
MESSAGE_BYTES = 64 * KIB
ENV_KEYS = 64
JSON_VALUES = 200_000
"""In one message, so that parsing it holds nobody else up for long."""
_PIECE_BYTES = 256 * 1024
ENV_BYTES = 10 * KIB


def check_id(value: str, what: str, max_length: int = ID_CHARACTERS, *, optional: bool = False) -> None:
    """An id is part of paths and addresses: no separators, no white space, nothing that cannot be seen."""
    if not value and optional:
        return
    if not 1 <= len(value) <= max_length:
        raise InvalidRequest(f"{what} must have 1 to {max_length} characters, not {len(value)}")
    if value in (".", "..") or not value.isprintable() or any(c.isspace() or c in "/\\" for c in value):
        raise InvalidRequest(f"{what} must be printable, without spaces, '/' or '\\', and not '.' or '..': {value[:60]!r}")


def check_name(value: str, what: str, max_length: int = NAME_CHARACTERS, *, optional: bool = False) -> None:
    """A name is for people: printable, and without spaces at its ends, which databases do not tell apart."""
    if not value and optional:
        return
    if not 1 <= len(value) <= max_length:
        raise InvalidRequest(f"{what} must have 1 to {max_length} characters, not {len(value)}")
    if not value.isprintable() or value != value.strip():
        raise InvalidRequest(f"{what} must be printable and have no spaces at its ends: {value[:60]!r}")


def check_text(value: str | None, what: str, max_bytes: int = TEXT_BYTES) -> None:
    """Every text can be written as UTF-8 and has a largest size; None is no text."""
    if value is None:
        return
    size = utf8_size(value, what)
    if size > max_bytes:
        raise InvalidRequest(f"{what} has {size} bytes; at most {max_bytes} are kept: shorten it")


def utf8_size(value: str, what: str = "a text") -> int:
    if value.isascii():
        return len(value)
    try:
        return len(value.encode())
    except UnicodeEncodeError as error:
        raise InvalidRequest(
            f"{what} holds half of a surrogate pair, which is no text: decode it with errors='replace'"
        ) from error


def count_json_values(text: bytes, exact_above: int) -> int:
    """Return about how many values a JSON text holds, without parsing it.

    What stands in strings is left out where more than `few` seem to be there. Parsing takes up to a microsecond for each, in
    which no other thread of the interpreter runs; this goes piece by piece, so that others can run in between.
    """
    if len(text) <= _PIECE_BYTES and (count := _separators(text)) <= exact_above:
        return count
    counter = JsonValueCounter()
    for at in range(0, len(text), _PIECE_BYTES):
        counter.feed(text[at : at + _PIECE_BYTES])
    return counter.count


class JsonValueCounter:
    """Counts the values of a JSON text that comes in pieces, without those marks that stand in strings."""

    def __init__(self) -> None:
        self.count = 0
        self._quoted = 0
        self._rest = b""
        """Backslashes at the end of the latest piece: what they escape comes with the next one."""

    def feed(self, piece: bytes) -> None:
        data = self._rest + piece
        whole = data.rstrip(b"\\")
        self._rest = data[len(whole) :][len(data[len(whole) :]) // 2 * 2 :]
        parts = whole.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')
        self.count += _separators(b"".join(parts[self._quoted :: 2]))
        self._quoted = (self._quoted + len(parts) - 1) % 2


def _separators(text: bytes) -> int:
    return sum(text.count(mark) for mark in (b",", b":", b"[", b"{"))


def check_json_values(text: bytes, what: str, max_values: int = JSON_VALUES) -> None:
    count = count_json_values(text, max_values) if len(text) > max_values else 0
    if count > max_values:
        raise InvalidRequest(f"{what} holds about {count:,} JSON values; at most {max_values:,} are allowed: send less at once")


def check_env(env: Mapping[str, str], what: str = "env") -> None:
    if len(env) > ENV_KEYS:
        raise InvalidRequest(f"{what} has {len(env)} variables; at most {ENV_KEYS} are allowed")
    for name, value in env.items():
        if not name or "=" in name or "\0" in name or "\0" in value:
            raise InvalidRequest(f"{what}: a variable has a name without '=' and no NUL bytes: {name[:60]!r}")
    size = sum(utf8_size(name, what) + utf8_size(value, what) for name, value in env.items())
    if size > ENV_BYTES:
        raise InvalidRequest(f"{what} has {size} bytes in names and values; at most {ENV_BYTES} are allowed")


def check_number(value: object, what: str, low: float, high: float) -> None:
    """None is no number given; whether that is allowed is what the field's type says."""
    if value is not None:
        check_range(value, what, low, high)


def check_count(values: tuple[object, ...], what: str, max_count: int) -> None:
    if len(values) > max_count:
        raise InvalidRequest(f"{what} has {len(values)} entries; at most {max_count} are allowed")
