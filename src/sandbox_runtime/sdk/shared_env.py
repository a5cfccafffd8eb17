"""One session of the workspace interface, as its own older client has it.

    async with SharedEnvSandbox("my-session", servers=["http://localhost:8000"]) as sandbox:
        print((await sandbox.execute_code("print(6 * 7)"))["stdout"])

Answers are dictionaries, as the server gives them, without the envelope around them. A session is there whenever it is used; the
block closes connections and leaves the session: delete_session ends it.
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
from sandbox_runtime.sdk.local import Source, in_thread, name_of, opened, replacing
from sandbox_runtime.sdk.requests import Request, file_path, named

PREFIX = "/workspace/se"
USUAL_SIZE = "50M"
USUAL_TIMEOUT_S, USUAL_ATTEMPTS = 60.0, 5
_LONG_S = 3660.0
"""An execution may take an hour."""
_ANYTHING: TypeAdapter[Any] = TypeAdapter(Any)

Json = dict[str, Any]


class SharedEnvSandbox:
    """servers: a session belongs to one of them, the same for every client that names the same ones. None: SANDBOX_URL, or
    http://localhost:8080. api_key None: SANDBOX_API_KEY."""

    def __init__(
        self,
        session_id: str,
        servers: Sequence[str] | None = None,
        *,
        api_key: str | None = None,
        timeout_s: float = USUAL_TIMEOUT_S,
        max_attempts: int = USUAL_ATTEMPTS,
    ) -> None:
        self.session_id = session_id
        self._name = named(session_id, "session")
        self._transport = Transport(_server_of(session_id, servers), api_key, timeout_s, max_attempts)

    async def create_session(self, size: str = USUAL_SIZE) -> Json:
        return await self._done(Request("POST", self._at("session"), body={"size": size}, repeatable=False))

    async def delete_session(self) -> Json:
        return await self._done(Request("DELETE", self._at("session"), repeatable=False))

    async def get_status(self) -> Json:
        return await self._done(Request("GET", self._at("status")))

    async def execute(self, command: str, *args: str) -> Json:
        """A line for the shell; with args, a program and its arguments."""
        body = {"command": command, "args": list(args)}
        return await self._done(Request("POST", self._at("execute"), body=body, repeatable=False, timeout_s=_LONG_S))

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
        """output_params: global variables whose values come back as output_variables. event: for a handler that the code has."""
        body = {
            "code": code,
            "filename": filename,
            "args": list(args or ()),
            "script_type": script_type,
            "output_params": list(output_params or ()),
            "event": dict(event or {}),
            "timeout": timeout,
        }
        return await self._done(Request("POST", self._at("execute_code"), body=body, repeatable=False, timeout_s=_LONG_S))

    async def upload_file(self, path: Source, filename: str = "") -> Json:
        """path: of a local file, an open one, or bytes."""
        name = filename or name_of(path)
        with opened(path) as file:
            request = Request(
                "POST", self._at("upload"), {"filename": name}, file=(Path(name).name, file), repeatable=False, timeout_s=_LONG_S
            )
            return await self._done(request)

    async def download_file(self, filename: str, save_path: str | Path | None = None) -> bytes | Path:
        """The bytes, or where they were written."""
        pieces = self._transport.pieces(Request("GET", f"{self._at('download')}/{file_path(filename)}", timeout_s=_LONG_S))
        if save_path is None:
            return b"".join([piece async for piece in pieces])
        with replacing(save_path) as file:
            async for piece in pieces:
                await in_thread(file.write, piece)
        return Path(save_path)

    async def create_file(self, content: str, filename: str, mode: int = 0o644) -> Json:
        body = {"content": content, "filename": filename, "mode": mode}
        return await self._done(Request("POST", self._at("create"), body=body))

    async def list_files(self, directory: str = "", recursive: bool = False) -> Json:
        path = f"/{file_path(directory)}" if directory.strip("./") else ""
        return await self._done(Request("GET", f"{self._at('files')}{path}", {"recursive": str(recursive).lower()}))

    async def read_file(self, filename: str, offset: int = 0, buffer_size: int = 4096) -> Json:
        query = {"offset": offset, "buffer_size": buffer_size}
        return await self._done(Request("GET", f"{self._at('readfile')}/{file_path(filename)}", query))

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
        return await self._done(Request("POST", self._at("download_from_efast"), body=body, timeout_s=_LONG_S))

    async def close(self) -> None:
        await self._transport.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()

    def _at(self, verb: str) -> str:
        return f"{PREFIX}/{verb}/{self._name}"

    async def _done(self, request: Request) -> Json:
        answer: Json = self._unwrap_result(await self._transport.call(request, _ANYTHING))
        return answer

    @staticmethod
    def _unwrap_result(answer: Any) -> Any:
        """What is meant, from the envelope of some servers, the wrapper of others, or as it is."""
        if not isinstance(answer, dict):
            return answer
        if "success" in answer and isinstance(answer.get("data"), dict):
            return answer["data"]
        return answer.get("result", answer)


def _server_of(session_id: str, servers: Sequence[str] | None) -> str:
    if servers is None:
        return ""
    if isinstance(servers, str) or not servers:
        raise InvalidRequest("servers must be a list with the address of at least one server")
    return servers[zlib.crc32(session_id.encode()) % len(servers)]
