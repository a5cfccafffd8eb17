"""Every exception this package raises on purpose.

    SandboxError
    ├── RequestError            the caller can mend it
    │   ├── InvalidRequest      malformed or out of bounds
    │   ├── NotFound            names something that does not exist
    │   ├── Conflict            does not fit the present state
    │   ├── Denied              the caller may not do this
    │   └── TooMany             a bound on how much at once was reached; carries retry_after_s
    │       ├── StorageFull     the node has no memory or disk left for it
    │       └── QuotaExceeded   the owner holds as much as one owner may
    ├── Unavailable             this deployment lacks what the request needs (a toolchain, a kernel feature)
    └── PlatformFault           our fault: never scored against the program that ran

A failing program is no exception: it is an Outcome. Each door (HTTP, CLI, …) has one table from these classes to its codes.
"""

from __future__ import annotations

from typing import Self


class SandboxError(Exception):
    """Root of the tree; its text is fit to be shown to the caller. private: what is for the operator alone, such as the address
    of a database; it is logged and printed by commands, never sent to a client."""

    private: str = ""

    def with_private(self, text: str) -> Self:
        self.private = text
        return self


class RequestError(SandboxError):
    pass


class InvalidRequest(RequestError):
    pass


class NotFound(RequestError):
    pass


class Conflict(RequestError):
    pass


class Denied(RequestError):
    pass


class TooMany(RequestError):
    def __init__(self, message: str, retry_after_s: float = 1.0) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class StorageFull(TooMany):
    def __init__(self, message: str, retry_after_s: float = 30.0) -> None:
        super().__init__(message, retry_after_s)


class QuotaExceeded(TooMany):
    def __init__(self, message: str, retry_after_s: float = 30.0) -> None:
        super().__init__(message, retry_after_s)


class Unavailable(SandboxError):
    pass


class PlatformFault(SandboxError):
    pass


def operator_text(error: BaseException) -> str:
    """Return what an operator may read of an error: its private text, or the one that everybody sees."""
    return (error.private if isinstance(error, SandboxError) else "") or str(error)
