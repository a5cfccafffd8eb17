"""What a key allows beside letting its owner in, read from its scopes.

    admin          sees what every owner has, and changes what all share: templates, nodes
    read           may look, and change nothing
    rate:N         at most N requests a minute
    sessions:N     at most N sessions that have not ended

A key without scopes does everything with what its owner has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sandbox_runtime.errors import InvalidRequest

ADMIN, READ, RATE, SESSIONS = "admin", "read", "rate", "sessions"
_MAX_NUMBER = 10_000_000


@dataclass(frozen=True, slots=True)
class Grants:
    """rate_per_minute, max_sessions: None is what the settings say."""

    admin: bool = False
    read_only: bool = False
    rate_per_minute: int | None = None
    max_sessions: int | None = None


def parse_grants(scopes: Sequence[str]) -> Grants:
    """Raises InvalidRequest for a scope that nobody knows: what is misspelt must not pass for a grant."""
    numbers: dict[str, int] = {}
    plain: set[str] = set()
    for scope in scopes:
        name, colon, value = scope.partition(":")
        if colon and name in (RATE, SESSIONS):
            numbers[name] = _number(scope, value)
        elif scope in (ADMIN, READ):
            plain.add(scope)
        else:
            raise InvalidRequest(f"{scope[:60]!r} is no scope; there are admin, read, rate:N and sessions:N")
    return Grants(ADMIN in plain, READ in plain, numbers.get(RATE), numbers.get(SESSIONS))


def _number(scope: str, value: str) -> int:
    if not (value.isascii() and value.isdigit() and len(value) <= 8 and 1 <= int(value) <= _MAX_NUMBER):
        raise InvalidRequest(f"{scope[:60]!r}: after the colon stands a whole number from 1 to {_MAX_NUMBER}")
    return int(value)
