"""What to start in a box."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model.limits import Limits

MAX_ARGUMENT_BYTES = 64 * 1024
_NO_ENV: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Command:
    """argv is executed as it is, never through a shell. stdin None is an empty, closed pipe.

    env is added to the few variables every box has (PATH, HOME, LANG, TMPDIR). cwd None is the box's workspace.
    """

    argv: tuple[str, ...]
    stdin: bytes | None = None
    env: Mapping[str, str] = field(default_factory=lambda: _NO_ENV)
    cwd: str | None = None
    limits: Limits = Limits()

    def __post_init__(self) -> None:
        if not self.argv or not self.argv[0]:
            raise InvalidRequest("a command needs a program to start: argv is empty")
        words = [*self.argv, *self.env.keys(), *self.env.values(), self.cwd or ""]
        if any("\0" in word for word in words):
            raise InvalidRequest("arguments, environment and working folder cannot hold NUL bytes")
        if any(not name or "=" in name for name in self.env):
            raise InvalidRequest("an environment name must not be empty or hold '='")
        if sum(len(word.encode(errors="surrogateescape")) for word in words) > MAX_ARGUMENT_BYTES:
            raise InvalidRequest(f"arguments and environment exceed {MAX_ARGUMENT_BYTES} bytes; pass data as a file or as stdin")
