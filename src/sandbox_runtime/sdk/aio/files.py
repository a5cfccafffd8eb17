"""Calls for the files of a session."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
from pydantic import TypeAdapter

from sandbox_runtime.errors import Unavailable
from sandbox_runtime.sdk.aio.sessions import API
from sandbox_runtime.sdk.aio.transport import Transport
from sandbox_runtime.sdk.events import EventParser
from sandbox_runtime.sdk.local import Source, atomic_write, in_thread, open_source, source_name
from sandbox_runtime.sdk.requests import Request, quote_name, quote_path
from sandbox_runtime.sdk.session_models import FileChange, FileInfo, FileList, UploadedFile

_FILE_LIST = TypeAdapter(FileList)
_UPLOADED_FILE = TypeAdapter(UploadedFile)
_TRANSFER_S = 3600.0
_QUIET_S = 90.0
"""The server sends keep-alives more often than that."""


class FileCalls:
    _transport: Transport

    async def upload_file(self, session_id: str, source: Source, path: str = "") -> UploadedFile:
        """Upload a file of any size. `source`: a local path, an open file, or bytes. `path`: path in the workspace; by default
        the source's file name."""
        target = path or source_name(source)
        with open_source(source) as file:
            request = Request(
                "POST",
                f"{_files_path(session_id)}/upload",
                {"path": _relative(target)},
                file=(Path(target).name, file),
                timeout_s=_TRANSFER_S,
            )
            return await self._transport.call(request, _UPLOADED_FILE)

    async def download_file(self, session_id: str, path: str) -> bytes:
        """Return the content of a file. For large files use save_file or read_pieces."""
        return b"".join([piece async for piece in self.read_pieces(session_id, path)])

    async def save_file(self, session_id: str, path: str, target: str | Path) -> Path:
        """Download to a local file, which is created when the download is complete."""
        with atomic_write(target) as file:
            async for piece in self.read_pieces(session_id, path):
                await in_thread(file.write, piece)
        return Path(target)

    async def read_pieces(self, session_id: str, path: str) -> AsyncIterator[bytes]:
        request = Request("GET", f"{_files_path(session_id)}/{quote_path(path)}", {"download": "true"}, timeout_s=_TRANSFER_S)
        async for piece in self._transport.pieces(request):
            yield piece

    async def save_archive(self, session_id: str, target: str | Path, path: str = "", form: str = "tar.gz") -> Path:
        """Download a folder of the workspace, or all of it, as tar, tar.gz or zip."""
        url_path = f"{API}/sessions/{quote_name(session_id, 'session')}/archive"
        request = Request("GET", url_path, {"path": _relative(path), "format": form}, timeout_s=_TRANSFER_S)
        with atomic_write(target) as file:
            async for piece in self._transport.pieces(request):
                await in_thread(file.write, piece)
        return Path(target)

    async def delete_file(self, session_id: str, path: str, *, recursive: bool = False) -> None:
        query = {"recursive": "true" if recursive else "false"}
        await self._transport.send(Request("DELETE", f"{_files_path(session_id)}/{quote_path(path)}", query, idempotent=False))

    async def move_file(self, session_id: str, source: str, target: str, *, replace: bool = False) -> None:
        body = {"source": _relative(source), "target": _relative(target), "replace": replace}
        await self._transport.send(Request("POST", f"{_files_path(session_id)}/move", body=body, idempotent=False))

    async def list_files(self, session_id: str, path: str = "", limit: int = 1000) -> list[FileInfo]:
        """List all files below a folder of the workspace. Names are relative to the workspace."""
        query = {"path": _relative(path) or None, "limit": limit}
        return (await self._transport.call(Request("GET", _files_path(session_id), query), _FILE_LIST)).files

    async def watch_files(self, session_id: str, path: str = "") -> AsyncIterator[FileChange]:
        """Yield changes below a folder of the workspace until the server closes the stream, which it does after an hour. The
        first one has the kind ready. Raises Unavailable if the connection breaks."""
        url_path = f"{API}/sessions/{quote_name(session_id, 'session')}/watch"
        headers = {"Accept": "text/event-stream"}
        request = Request("GET", url_path, {"path": _relative(path) or None}, headers=headers, timeout_s=_QUIET_S)
        events = EventParser()
        async with self._transport.open(request) as response:
            try:
                async for piece in response.aiter_bytes():
                    for event in events.take(piece):
                        yield FileChange.model_validate({"kind": event.name, **json.loads(event.data)})
            except httpx.TransportError as error:
                raise Unavailable(f"{response.url}: the connection broke: {str(error) or type(error).__name__}") from error


def _files_path(session_id: str) -> str:
    return f"{API}/sessions/{quote_name(session_id, 'session')}/files"


def _relative(path: str) -> str:
    """Return the path relative to the workspace."""
    return "" if path in ("", ".", "/workspace") else path.removeprefix("/workspace/")
