"""Clients that are slow on purpose: a bounded wait, then the connection is closed, and the server goes on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import httpx
import pytest
import pytest_asyncio
from tests.api.servers import Listening, listening

from sandbox_runtime.cli.connections import BoundedProtocol
from sandbox_runtime.settings import Settings

pytestmark = pytest.mark.asyncio(loop_scope="module")

HEAD = b"GET /v1/ping HTTP/1.1\r\nHost: localhost\r\n"


class Watched(BoundedProtocol):
    """As patient as ever, where a test does not change that. Counts the connections that are gone."""

    gone = 0

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        Watched.gone += 1


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Watched, "head_within_s", 0.3)
    monkeypatch.setattr(Watched, "taken_within_s", 0.3)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Listening]:
    settings = Settings(state_dir=str(tmp_path_factory.mktemp("state")), pool_size=0, check_languages=False, log_level="error")
    async with listening(settings, Watched) as opened:
        yield opened


async def answer_to(server: Listening, *pieces: bytes, pause_s: float = 0.0) -> bytes:
    """All that comes back until the server closes the connection."""
    reader, writer = await server.connect()
    try:
        async with asyncio.timeout(30):
            coming = asyncio.create_task(_all(reader))
            for piece in pieces:
                if not coming.done():
                    writer.write(piece)
                    await asyncio.sleep(pause_s)
            return await coming
    finally:
        writer.close()


async def _all(reader: asyncio.StreamReader) -> bytes:
    """What was written to a server that had closed already breaks the connection; what it had said before counts all the same."""
    said = bytearray()
    try:
        while piece := await reader.read(65536):
            said += piece
    except ConnectionResetError:
        said += reader._buffer  # type: ignore[attr-defined]
    return bytes(said)


@pytest.mark.usefixtures("impatient")
async def test_a_connection_that_says_nothing_is_closed(server: Listening) -> None:
    assert (await answer_to(server)).startswith(b"HTTP/1.1 400 ")


@pytest.mark.usefixtures("impatient")
async def test_headers_that_do_not_end_are_not_waited_for(server: Listening) -> None:
    assert b"did not arrive" in await answer_to(server, HEAD)


@pytest.mark.usefixtures("impatient")
async def test_headers_that_trickle_in_are_not_waited_for(server: Listening) -> None:
    trickle = [b"X-%d: y\r\n" % number for number in range(40)]
    assert b"did not arrive" in await answer_to(server, HEAD, *trickle, pause_s=0.02)


async def test_headers_without_end_are_refused(server: Listening) -> None:
    flood = [b"X-%d: %s\r\n" % (number, b"y" * 8000) for number in range(20)]
    assert b"longer than" in await answer_to(server, HEAD, *flood, pause_s=0.001)


async def test_a_request_in_two_pieces_is_served(server: Listening) -> None:
    answer = await answer_to(server, HEAD, b"Connection: close\r\n\r\n", pause_s=0.05)
    assert answer.startswith(b"HTTP/1.1 200 ") and answer.endswith(b'"pong"')


@pytest.mark.usefixtures("impatient")
async def test_a_kept_connection_may_rest_between_requests(server: Listening) -> None:
    async with httpx.AsyncClient(base_url=server.url, timeout=30) as client:
        await client.get("/v1/ping")
        await asyncio.sleep(0.5)
        assert (await client.get("/v1/ping")).json() == "pong"


@pytest.mark.usefixtures("impatient")
async def test_an_answer_that_is_not_taken_is_dropped(server: Listening) -> None:
    reader, writer = await server.connect()
    body = b'{"code": "head -c 30000000 /dev/zero | tr \'\\\\0\' x", "language": "bash", "run_timeout": 30}'
    writer.write(b"POST /run_code HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    reader._transport.pause_reading()  # type: ignore[attr-defined]
    before = Watched.gone
    async with asyncio.timeout(60):
        while Watched.gone == before:
            await asyncio.sleep(0.01)
        reader._transport.resume_reading()  # type: ignore[attr-defined]
        head, _, taken = (await reader.read()).partition(b"\r\n\r\n")
    writer.close()
    declared = next(line for line in head.split(b"\r\n") if line.startswith(b"content-length: "))
    assert 0 < len(taken) < int(declared.removeprefix(b"content-length: "))


async def test_the_server_goes_on(server: Listening) -> None:
    async with httpx.AsyncClient(base_url=server.url, timeout=30) as client:
        assert (await client.get("/v1/ping")).json() == "pong"
