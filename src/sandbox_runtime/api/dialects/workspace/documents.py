"""Download documents from the operator's document server.

The document server is asked for the URL of a document id, and the document is fetched from there. Only the server in the settings
is asked: a request that could name any URL would give its sender access to whatever this machine can reach. The URL that the
document server returns is trusted; it may be on another host, such as object storage.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

import httpx

from sandbox_runtime.api.dialects.workspace.mapping.requests import file_path, relative_path
from sandbox_runtime.api.dialects.workspace.schemas import EfastDownloadRequest, EfastFile, Json
from sandbox_runtime.errors import Denied, InvalidRequest, PlatformFault, SandboxError, Unavailable
from sandbox_runtime.settings import Settings
from sandbox_runtime.workspace import SessionFiles

_DOWNLOAD_PATH = "/api/efast/v1/file/osdownload"
_CONNECT_TIMEOUT_S = 10.0
_READ_TIMEOUT_S = 60.0
_MAX_RESPONSE_BYTES = 64 * 1024
_SUCCESS = 200


@dataclass(frozen=True, slots=True)
class DocumentServer:
    url: str
    token: str
    timeout_s: float


def document_server(body: EfastDownloadRequest, settings: Settings) -> DocumentServer:
    url = settings.efast_downloader_url.rstrip("/")
    if not url:
        raise Unavailable("no document server is configured: the operator sets efast_downloader_url (EFAST_DOWNLOADER_URL)")
    if body.efast_url and body.efast_url.rstrip("/") != url:
        raise Denied("efast_url is not the configured document server; omit it")
    token = body.token or ""
    if not (token.isascii() and token.isprintable()):
        raise InvalidRequest("the token must consist of printable ASCII characters")
    return DocumentServer(url, token, min(body.timeout or settings.downloader_timeout, settings.downloader_timeout))


async def download_all(server: DocumentServer, body: EfastDownloadRequest, files: SessionFiles) -> Json:
    """Download the documents one after another and return the result of each. A failure does not stop the rest."""
    folder = relative_path(body.save_path or "")
    results: list[Json] = []
    timeouts = httpx.Timeout(_READ_TIMEOUT_S, connect=_CONNECT_TIMEOUT_S)
    deadline = asyncio.get_running_loop().time() + server.timeout_s
    async with httpx.AsyncClient(timeout=timeouts, verify=server.url.startswith("https://")) as client:
        for document in body.file_params:
            results.append(await _download(client, server, document, folder, files, deadline))
    succeeded = sum(bool(result["success"]) for result in results)
    return {
        "message": f"{succeeded} of {len(results)} files were downloaded",
        "success_count": succeeded,
        "failed_count": len(results) - succeeded,
        "total_count": len(results),
        "results": results,
        "save_path": folder or ".",
    }


async def _download(
    client: httpx.AsyncClient, server: DocumentServer, document: EfastFile, folder: str, files: SessionFiles, deadline: float
) -> Json:
    result: Json = {"docid": document.docid, "success": False}
    try:
        async with asyncio.timeout_at(deadline):
            path = _save_path(document, folder)
            entry = await files.write(path, _content(client, await _request_url(client, server, document)))
    except TimeoutError:
        return {**result, "error": "the download timed out"}
    except (SandboxError, httpx.HTTPError, httpx.InvalidURL) as error:
        return {**result, "error": str(error) or type(error).__name__}
    return {**result, "success": True, "filename": path, "size": entry.size_bytes}


def _save_path(document: EfastFile, folder: str) -> str:
    path = file_path(document.savename or document.docid.rstrip("/").rpartition("/")[2])
    return f"{folder}/{path}" if folder and folder != "." else path


@dataclass(frozen=True, slots=True)
class _DocumentUrl:
    method: str
    url: str
    headers: dict[str, str]


async def _request_url(client: httpx.AsyncClient, server: DocumentServer, document: EfastFile) -> _DocumentUrl:
    """Ask the document server where to fetch the document. It returns [method, url, "header: value", ...]."""
    question = {
        "docid": document.docid,
        "rev": document.rev or "",
        "authtype": "QUERY_STRING",
        "savename": document.savename or "",
    }
    headers = {"Authorization": f"Bearer {server.token}"} if server.token else {}
    response = await client.post(f"{server.url}{_DOWNLOAD_PATH}", json=question, headers=headers)
    if response.status_code != _SUCCESS:
        raise PlatformFault(f"the document server returned status {response.status_code}: {response.text[:200]}")
    if len(response.content) > _MAX_RESPONSE_BYTES:
        raise PlatformFault("the response of the document server is too long")
    try:
        method, url, *lines = response.json()["authrequest"]
        pairs = (str(line).partition(":")[::2] for line in lines)
        return _DocumentUrl(str(method), str(url), {name.strip(): value.strip() for name, value in pairs})
    except (ValueError, KeyError, TypeError) as error:
        raise PlatformFault("the document server returned a malformed response") from error


async def _content(client: httpx.AsyncClient, document: _DocumentUrl) -> AsyncIterator[bytes]:
    async with client.stream(document.method, document.url, headers=document.headers) as response:
        if response.status_code != _SUCCESS:
            raise PlatformFault(f"the storage of the document server returned status {response.status_code}")
        async for chunk in response.aiter_bytes():
            yield chunk
