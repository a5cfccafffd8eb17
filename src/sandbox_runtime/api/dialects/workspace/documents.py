"""Documents from the operator's document server: asked for by id, which gives an address, and fetched from there.

Only the server of the settings is asked: a request that could name any address would let its sender reach whatever this machine
can reach. The address that the document server gives is its own storage, which may be elsewhere.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

import httpx

from sandbox_runtime.api.dialects.workspace.mapping.requests import file_name, relative
from sandbox_runtime.api.dialects.workspace.schemas import DownloadFromEfast, EfastFile, Json
from sandbox_runtime.errors import Denied, InvalidRequest, PlatformFault, SandboxError, Unavailable
from sandbox_runtime.settings import Settings
from sandbox_runtime.workspace import SessionFiles

_ASK = "/api/efast/v1/file/osdownload"
_CONNECT_WITHIN_S = 10.0
_PIECE_WITHIN_S = 60.0
_MOST_ANSWER_BYTES = 64 * 1024
_SUCCESS = 200


@dataclass(frozen=True, slots=True)
class Source:
    url: str
    token: str
    timeout_s: float


def source_of(asked: DownloadFromEfast, settings: Settings) -> Source:
    known = settings.efast_downloader_url.rstrip("/")
    if not known:
        raise Unavailable("no document server is set: the operator sets efast_downloader_url (EFAST_DOWNLOADER_URL)")
    if asked.efast_url and asked.efast_url.rstrip("/") != known:
        raise Denied("documents come from the server that the operator set: leave efast_url out")
    token = asked.token or ""
    if not (token.isascii() and token.isprintable()):
        raise InvalidRequest("the token must be made of printable ASCII characters")
    return Source(known, token, min(asked.timeout or settings.downloader_timeout, settings.downloader_timeout))


async def fetch_all(source: Source, asked: DownloadFromEfast, files: SessionFiles) -> Json:
    """One after another; what fails is told and does not keep the rest from coming."""
    folder = relative(asked.save_path or "")
    results: list[Json] = []
    limits = httpx.Timeout(_PIECE_WITHIN_S, connect=_CONNECT_WITHIN_S)
    deadline = asyncio.get_running_loop().time() + source.timeout_s
    async with httpx.AsyncClient(timeout=limits, verify=source.url.startswith("https://")) as client:
        for one in asked.file_params:
            results.append(await _fetched(client, source, one, folder, files, deadline))
    good = sum(bool(result["success"]) for result in results)
    return {
        "message": f"{good} of {len(results)} files were downloaded",
        "success_count": good,
        "failed_count": len(results) - good,
        "total_count": len(results),
        "results": results,
        "save_path": folder or ".",
    }


async def _fetched(
    client: httpx.AsyncClient, source: Source, one: EfastFile, folder: str, files: SessionFiles, deadline: float
) -> Json:
    told: Json = {"docid": one.docid, "success": False}
    try:
        async with asyncio.timeout_at(deadline):
            name = _name(one, folder)
            entry = await files.write(name, _pieces(client, await _address(client, source, one)))
    except TimeoutError:
        return {**told, "error": "the time for this download is over"}
    except (SandboxError, httpx.HTTPError, httpx.InvalidURL) as error:
        return {**told, "error": str(error) or type(error).__name__}
    return {**told, "success": True, "filename": name, "size": entry.size_bytes}


def _name(one: EfastFile, folder: str) -> str:
    name = file_name(one.savename or one.docid.rstrip("/").rpartition("/")[2])
    return f"{folder}/{name}" if folder and folder != "." else name


@dataclass(frozen=True, slots=True)
class _Address:
    method: str
    url: str
    headers: dict[str, str]


async def _address(client: httpx.AsyncClient, source: Source, one: EfastFile) -> _Address:
    body = {"docid": one.docid, "rev": one.rev or "", "authtype": "QUERY_STRING", "savename": one.savename or ""}
    headers = {"Authorization": f"Bearer {source.token}"} if source.token else {}
    answer = await client.post(f"{source.url}{_ASK}", json=body, headers=headers)
    if answer.status_code != _SUCCESS:
        raise PlatformFault(f"the document server answered {answer.status_code}: {answer.text[:200]}")
    if len(answer.content) > _MOST_ANSWER_BYTES:
        raise PlatformFault("the document server gave an answer that is too long")
    try:
        method, url, *lines = answer.json()["authrequest"]
        pairs = (str(line).partition(":")[::2] for line in lines)
        return _Address(str(method), str(url), {name.strip(): value.strip() for name, value in pairs})
    except (ValueError, KeyError, TypeError) as error:
        raise PlatformFault("the document server gave an answer of another shape") from error


async def _pieces(client: httpx.AsyncClient, address: _Address) -> AsyncIterator[bytes]:
    async with client.stream(address.method, address.url, headers=address.headers) as answer:
        if answer.status_code != _SUCCESS:
            raise PlatformFault(f"the storage of the document server answered {answer.status_code}")
        async for piece in answer.aiter_bytes():
            yield piece
