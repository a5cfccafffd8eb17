"""The client: every call, over shared connections."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

from pydantic import TypeAdapter

from sandbox_runtime.sdk.aio.batches import BatchCalls
from sandbox_runtime.sdk.aio.contexts import ContextCalls
from sandbox_runtime.sdk.aio.files import FileCalls
from sandbox_runtime.sdk.aio.judge import JudgeCalls
from sandbox_runtime.sdk.aio.sessions import API, SessionCalls
from sandbox_runtime.sdk.aio.streams import StreamCalls
from sandbox_runtime.sdk.aio.terminals import TerminalCalls
from sandbox_runtime.sdk.aio.transport import Transport
from sandbox_runtime.sdk.requests import Request

_ANYTHING = TypeAdapter(dict[str, Any])
DEFAULT_TIMEOUT_S = 60.0
DEFAULT_ATTEMPTS = 5


class SandboxClient(SessionCalls, StreamCalls, FileCalls, ContextCalls, TerminalCalls, BatchCalls, JudgeCalls):
    """- `base_url`: empty: SANDBOX_URL, or http://localhost:8080.
    - `api_key`: None: SANDBOX_API_KEY.
    - `timeout_s`: default time a response may take.
    - `max_attempts`: attempts per request. Overload and broken connections are retried, after Retry-After if the server sends it.

    Failures are raised as one of sandbox_runtime.errors. Safe for concurrent use. Close it, or use it as a context manager."""

    def __init__(
        self,
        base_url: str = "",
        *,
        api_key: str | None = None,
        timeout_s: float = DEFAULT_TIMEOUT_S,
        max_attempts: int = DEFAULT_ATTEMPTS,
    ) -> None:
        self._transport = Transport(base_url, api_key, timeout_s, max_attempts)

    @property
    def base_url(self) -> str:
        return self._transport.base_url

    async def health(self) -> dict[str, Any]:
        return await self._transport.call(Request("GET", f"{API}/health"), _ANYTHING)

    async def close(self) -> None:
        await self._transport.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()
