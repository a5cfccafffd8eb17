"""One session of the workspace interface, with the names of its original client.

    async with SharedEnvSandbox("my-session", servers=["http://localhost:8000"]) as sandbox:
        print((await sandbox.execute_code("print(6 * 7)"))["stdout"])

Results are dictionaries as sent by the server, without the envelope. A session is created on first use. The block closes
connections only; delete_session ends the session.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pydantic import TypeAdapter

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.sdk.aio.transport import Transport
from sandbox_runtime.sdk.local import Source, atomic_write, in_thread, open_source, source_name
from sandbox_runtime.sdk.requests import Request, quote_name, quote_path

PREFIX = "/workspace/se"
DEFAULT_SIZE = "50M"
DEFAULT_TIMEOUT_S, DEFAULT_ATTEMPTS = 60.0, 5
_LONG_S = 3660.0
"""An execution may take an hour."""
_ANYTHING: TypeAdapter[Any] = TypeAdapter(Any)

Json = dict[str, Any]


class SharedEnvSandbox:
    """- `servers`: a session belongs to one of them, the same for every client with the same list. None: SANDBOX_URL, or
      http://localhost:8080.
    - `api_key`: None: SANDBOX_API_KEY."""

    def __init__(
        self,
        session_id: str,
        servers: Sequence[str] | None = None,
        *,
        api_key: str | None = None,
        timeout_s: float = DEFAULT_TIMEOUT_S,
        max_attempts: int = DEFAULT_ATTEMPTS,
    ) -> None:
        self.session_id = session_id
        self._name = quote_name(session_id, "session")
        self._transport = Transport(_pick_server(session_id, servers), api_key, timeout_s, max_attempts)

    async def create_session(self, size: str = DEFAULT_SIZE) -> Json:
        return await self._call(Request("POST", self._path("session"), body={"size": size}, idempotent=False))

    async def delete_session(self) -> Json:
        return await self._call(Request("DELETE", self._path("session"), idempotent=False))

    async def get_status(self) -> Json:
        return await self._call(Request("GET", self._path("status")))

    async def execute(self, command: str, *args: str) -> Json:
        """Run a shell command line; with args, a program and its arguments."""
        body = {"command": command, "args": list(args)}
        return await self._call(Request("POST", self._path("execute"), body=body, idempotent=False, timeout_s=_LONG_S))

    async def execute_code(
        self,
        code: str,
        filename: str | None = None,
        args: Sequence[str] | None = None,
        script_type: str = "python",
        output_params: Sequence[str] | None = None,
        *,
        event: Mapping[str, Any] | None = None,
        timeout: float | None = None,
    ) -> Json:
        """Run code. `output_params`: global variables returned as output_variables. `event`: passed to a handler in the code."""
        body = {
            "code": code,
            "filename": filename,
            "args": list(args or ()),
            "script_type": script_type,
            "output_params": list(output_params or ()),
            "event": dict(event or {}),
            "timeout": timeout,
        }
        return await self._call(Request("POST", self._path("execute_code"), body=body, idempotent=False, timeout_s=_LONG_S))

    async def upload_file(self, path: Source, filename: str = "") -> Json:
        """Upload a file. `path`: a local path, an open file, or bytes."""
        name = filename or source_name(path)
        with open_source(path) as file:
            request = Request(
                "POST",
                self._path("upload"),
                {"filename": name},
                file=(Path(name).name, file),
                idempotent=False,
                timeout_s=_LONG_S,
            )
            return await self._call(request)

    async def download_file(self, filename: str, save_path: str | Path | None = None) -> bytes | Path:
        """Return the content, or, with `save_path`, the path it was written to."""
        pieces = self._transport.pieces(Request("GET", f"{self._path('download')}/{quote_path(filename)}", timeout_s=_LONG_S))
        if save_path is None:
            return b"".join([piece async for piece in pieces])
        with atomic_write(save_path) as file:
            async for piece in pieces:
                await in_thread(file.write, piece)
        return Path(save_path)

    async def create_file(self, content: str, filename: str, mode: int = 0o644) -> Json:
        body = {"content": content, "filename": filename, "mode": mode}
        return await self._call(Request("POST", self._path("create"), body=body))

    async def list_files(self, directory: str = "", recursive: bool = False) -> Json:
        path = f"/{quote_path(directory)}" if directory.strip("./") else ""
        return await self._call(Request("GET", f"{self._path('files')}{path}", {"recursive": str(recursive).lower()}))

    async def read_file(self, filename: str, offset: int = 0, buffer_size: int = 4096) -> Json:
        query = {"offset": offset, "buffer_size": buffer_size}
        return await self._call(Request("GET", f"{self._path('readfile')}/{quote_path(filename)}", query))

    async def download_from_efast(
        self,
        file_params: Sequence[Mapping[str, Any]],
        save_path: str | None = None,
        *,
        efast_url: str | None = None,
        token: str | None = None,
        timeout: float | None = None,
    ) -> Json:
        files = [dict(one) for one in file_params]
        body = {"file_params": files, "efast_url": efast_url, "save_path": save_path, "token": token, "timeout": timeout}
        return await self._call(Request("POST", self._path("download_from_efast"), body=body, timeout_s=_LONG_S))

    async def close(self) -> None:
        await self._transport.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()

    def _path(self, verb: str) -> str:
        return f"{PREFIX}/{verb}/{self._name}"

    async def _call(self, request: Request) -> Json:
        model: Json = self._unwrap_result(await self._transport.call(request, _ANYTHING))
        return model

    @staticmethod
    def _unwrap_result(model: Any) -> Any:
        """Return the result from the envelope of some servers, the wrapper of others, or unchanged."""
        if not isinstance(model, dict):
            return model
        if "success" in model and isinstance(model.get("data"), dict):
            return model["data"]
        return model.get("result", model)


def _pick_server(session_id: str, servers: Sequence[str] | None) -> str:
    if servers is None:
        return ""
    if isinstance(servers, str) or not servers:
        raise InvalidRequest("servers must be a list with at least one URL")
    return servers[zlib.crc32(session_id.encode()) % len(servers)]
