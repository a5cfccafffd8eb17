"""A session as an object that ends with its block, and its live interpreters."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from sandbox_runtime.errors import Conflict, NotFound
from sandbox_runtime.sdk.aio.client import SandboxClient
from sandbox_runtime.sdk.local import Source
from sandbox_runtime.sdk.session_config import Config
from sandbox_runtime.sdk.session_models import ContextInfo, Dependency, ExecutionResult, FileInfo, Output, SessionInfo


class Context:
    """A Python interpreter that keeps its variables. Closed by close(), at the end of its block, or with its session."""

    def __init__(self, client: SandboxClient, info: ContextInfo, session_id: str) -> None:
        self._client = client
        self._session_id = session_id
        self.info = info

    @property
    def id(self) -> str:
        return self.info.id

    async def run(self, code: str, timeout: float = 30) -> ExecutionResult:
        return await self._client.execute_in_context(self._session_id, self.id, code, timeout)

    async def interrupt(self) -> None:
        self.info = await self._client.interrupt_context(self._session_id, self.id)

    async def restart(self) -> None:
        self.info = await self._client.restart_context(self._session_id, self.id)

    async def close(self) -> None:
        await self._client.close_context(self._session_id, self.id)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()


class Sandbox:
    """A new session for the duration of its block:

        async with Sandbox() as box:
            print((await box.run("print(6 * 7)")).stdout)

    - `config`, `options`: as in create_session.
    - `client`: a client to use, which stays open; by default a new one with `base_url` and `api_key`.

    attach() uses an existing session and does not end it."""

    def __init__(
        self,
        config: Config | Mapping[str, Any] | None = None,
        *,
        session_id: str | None = None,
        client: SandboxClient | None = None,
        base_url: str = "",
        api_key: str | None = None,
        **options: Any,
    ) -> None:
        self._client = client or SandboxClient(base_url, api_key=api_key)
        self._owns_client = client is None
        self._owns_session = True
        self._request = (session_id, config, options)
        self._info: SessionInfo | None = None

    @classmethod
    def attach(
        cls, session: SessionInfo | str, *, client: SandboxClient | None = None, base_url: str = "", api_key: str | None = None
    ) -> Self:
        sandbox = cls(client=client, base_url=base_url, api_key=api_key)
        sandbox._owns_session = False
        sandbox._request = (session if isinstance(session, str) else session.id, None, {})
        return sandbox

    @property
    def info(self) -> SessionInfo:
        """The session as of the last request."""
        if self._info is None:
            raise Conflict("this sandbox is not open: use it in a with block, or call open() first")
        return self._info

    @property
    def id(self) -> str:
        return self.info.id

    async def open(self) -> Self:
        """Start the session, as the block does. Call close() afterwards."""
        session_id, config, options = self._request
        try:
            if self._owns_session:
                self._info = await self._client.create_session(session_id, config, **options)
            else:
                self._info = await self._client.get_session(session_id or "")
        except BaseException:
            await self._close_client()
            raise
        return self

    async def close(self) -> None:
        """End the session, unless it was attached. A session that has already ended is not an error."""
        try:
            if self._owns_session and self._info is not None:
                await self._client.delete_session(self._info.id)
        except NotFound:
            pass
        finally:
            await self._close_client()

    async def refresh(self) -> SessionInfo:
        self._info = await self._client.get_session(self.id)
        return self._info

    async def run(self, code: str, timeout: float = 30, **more: Any) -> ExecutionResult:
        """Run a program, or code with a handler. Takes language, event, stdin and env as in execute_code."""
        return await self._client.execute_code(self.id, code, timeout, **more)

    async def shell(self, command: str, *args: str, **more: Any) -> ExecutionResult:
        return await self._client.execute(self.id, command, *args, **more)

    async def stream(self, code: str, timeout: float = 30, **more: Any) -> AsyncIterator[Output]:
        """Run a program and yield its output as it is printed. Closing the iterator does not stop the program."""
        submitted = await self._client.submit_code(self.id, code, timeout, **more)
        async for output in self._client.follow(submitted.id):
            yield output

    async def context(self) -> Context:
        """Open a live interpreter: `async with await box.context() as python`."""
        return Context(self._client, await self._client.open_context(self.id), self.id)

    async def contexts(self) -> list[Context]:
        return [Context(self._client, info, self.id) for info in await self._client.list_contexts(self.id)]

    async def fork(self, count: int = 1) -> list[Self]:
        """Return copies with the same files and live interpreters. Close each, or use it as a block. They share the connections
        of this sandbox, so keep it open as long as they are used."""
        return [self._copy(info) for info in await self._client.fork_session(self.id, count)]

    async def install(self, *dependencies: Dependency | str) -> SessionInfo:
        self._info = await self._client.install(self.id, dependencies)
        return self._info

    async def upload(self, source: Source, path: str = "") -> None:
        await self._client.upload_file(self.id, source, path)

    async def download(self, path: str, target: str | Path) -> Path:
        return await self._client.save_file(self.id, path, target)

    async def write(self, path: str, content: str | bytes) -> None:
        await self._client.upload_file(self.id, content.encode() if isinstance(content, str) else content, path)

    async def read(self, path: str) -> bytes:
        return await self._client.download_file(self.id, path)

    async def files(self, path: str = "") -> Sequence[FileInfo]:
        return await self._client.list_files(self.id, path)

    def _copy(self, info: SessionInfo) -> Self:
        sandbox = type(self)(client=self._client)
        sandbox._info = info
        return sandbox

    async def _close_client(self) -> None:
        if self._owns_client:
            await self._client.close()

    async def __aenter__(self) -> Self:
        return self if self._info is not None else await self.open()

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()
