"""A session as an object that ends with its block, and its live interpreters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from sandbox_runtime.errors import Conflict, NotFound
from sandbox_runtime.sdk.blocking.client import SyncSandboxClient
from sandbox_runtime.sdk.local import Source
from sandbox_runtime.sdk.session_config import Config
from sandbox_runtime.sdk.session_models import ContextInfo, Dependency, ExecutionResult, FileInfo, Output, SessionInfo


class SyncContext:
    """A Python interpreter that keeps its variables. Closed by close(), at the end of its block, or with its session."""

    def __init__(self, client: SyncSandboxClient, info: ContextInfo, session_id: str) -> None:
        self._client = client
        self._session_id = session_id
        self.info = info

    @property
    def id(self) -> str:
        return self.info.id

    def run(self, code: str, timeout: float = 30) -> ExecutionResult:
        return self._client.execute_in_context(self._session_id, self.id, code, timeout)

    def interrupt(self) -> None:
        self.info = self._client.interrupt_context(self._session_id, self.id)

    def restart(self) -> None:
        self.info = self._client.restart_context(self._session_id, self.id)

    def close(self) -> None:
        self._client.close_context(self._session_id, self.id)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


class SyncSandbox:
    """A new session for the duration of its block:

        with SyncSandbox() as box:
            print((box.run("print(6 * 7)")).stdout)

    - `config`, `options`: as in create_session.
    - `client`: a client to use, which stays open; by default a new one with `base_url` and `api_key`.

    attach() uses an existing session and does not end it."""

    def __init__(
        self,
        config: Config | Mapping[str, Any] | None = None,
        *,
        session_id: str | None = None,
        client: SyncSandboxClient | None = None,
        base_url: str = "",
        api_key: str | None = None,
        **options: Any,
    ) -> None:
        self._client = client or SyncSandboxClient(base_url, api_key=api_key)
        self._owns_client = client is None
        self._owns_session = True
        self._request = (session_id, config, options)
        self._info: SessionInfo | None = None

    @classmethod
    def attach(
        cls,
        session: SessionInfo | str,
        *,
        client: SyncSandboxClient | None = None,
        base_url: str = "",
        api_key: str | None = None,
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

    def open(self) -> Self:
        """Start the session, as the block does. Call close() afterwards."""
        session_id, config, options = self._request
        try:
            if self._owns_session:
                self._info = self._client.create_session(session_id, config, **options)
            else:
                self._info = self._client.get_session(session_id or "")
        except BaseException:
            self._close_client()
            raise
        return self

    def close(self) -> None:
        """End the session, unless it was attached. A session that has already ended is not an error."""
        try:
            if self._owns_session and self._info is not None:
                self._client.delete_session(self._info.id)
        except NotFound:
            pass
        finally:
            self._close_client()

    def refresh(self) -> SessionInfo:
        self._info = self._client.get_session(self.id)
        return self._info

    def run(self, code: str, timeout: float = 30, **more: Any) -> ExecutionResult:
        """Run a program, or code with a handler. Takes language, event, stdin and env as in execute_code."""
        return self._client.execute_code(self.id, code, timeout, **more)

    def shell(self, command: str, *args: str, **more: Any) -> ExecutionResult:
        return self._client.execute(self.id, command, *args, **more)

    def stream(self, code: str, timeout: float = 30, **more: Any) -> Iterator[Output]:
        """Run a program and yield its output as it is printed. Closing the iterator does not stop the program."""
        submitted = self._client.submit_code(self.id, code, timeout, **more)
        yield from self._client.follow(submitted.id)

    def context(self) -> SyncContext:
        """Open a live interpreter: `with box.context() as python`."""
        return SyncContext(self._client, self._client.open_context(self.id), self.id)

    def contexts(self) -> list[SyncContext]:
        return [SyncContext(self._client, info, self.id) for info in self._client.list_contexts(self.id)]

    def fork(self, count: int = 1) -> list[Self]:
        """Return copies with the same files and live interpreters. Close each, or use it as a block. They share the connections
        of this sandbox, so keep it open as long as they are used."""
        return [self._copy(info) for info in self._client.fork_session(self.id, count)]

    def install(self, *dependencies: Dependency | str) -> SessionInfo:
        self._info = self._client.install(self.id, dependencies)
        return self._info

    def upload(self, source: Source, path: str = "") -> None:
        self._client.upload_file(self.id, source, path)

    def download(self, path: str, target: str | Path) -> Path:
        return self._client.save_file(self.id, path, target)

    def write(self, path: str, content: str | bytes) -> None:
        self._client.upload_file(self.id, content.encode() if isinstance(content, str) else content, path)

    def read(self, path: str) -> bytes:
        return self._client.download_file(self.id, path)

    def files(self, path: str = "") -> Sequence[FileInfo]:
        return self._client.list_files(self.id, path)

    def _copy(self, info: SessionInfo) -> Self:
        sandbox = type(self)(client=self._client)
        sandbox._info = info
        return sandbox

    def _close_client(self) -> None:
        if self._owns_client:
            self._client.close()

    def __enter__(self) -> Self:
        return self if self._info is not None else self.open()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()
