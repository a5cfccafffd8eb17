"""Clients that are slow on purpose: a bounded wait, then the connection is closed, and the server goes on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from tests.api.servers import RunningServer, listening

from sandbox_runtime.cli.connections import BoundedProtocol
from sandbox_runtime.cli.web_server import server_options
from sandbox_runtime.settings import Settings

pytestmark = pytest.mark.asyncio(loop_scope="module")

HEAD = b"GET /v1/ping HTTP/1.1\r\nHost: localhost\r\n"


class Watched(BoundedProtocol):
    """As patient as ever, where a test does not change that. Counts the connections that are gone."""

    gone = 0

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        Watched.gone += 1


def settings_in(folder: Path, **changed: Any) -> Settings:
    return Settings(state_dir=str(folder), pool_size=0, check_languages=False, log_level="error", **changed)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningServer]:
    async with listening(settings_in(tmp_path_factory.mktemp("state")), Watched) as opened:
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def impatient(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningServer]:
    deadlines = {"header_timeout_s": 0.3, "body_timeout_s": 0.3, "send_timeout_s": 0.3, "keep_alive_s": 5.0}
    async with listening(settings_in(tmp_path_factory.mktemp("state"), **deadlines), Watched) as opened:
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def small(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningServer]:
    caps = {"max_connections": 3, "max_connections_per_address": 2}
    async with listening(settings_in(tmp_path_factory.mktemp("state"), **caps)) as opened:
        yield opened


async def answer_to(server: RunningServer, *pieces: bytes, pause_s: float = 0.0) -> bytes:
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


async def test_a_connection_that_says_nothing_is_closed(impatient: RunningServer) -> None:
    assert (await answer_to(impatient)).startswith(b"HTTP/1.1 400 ")


async def test_headers_that_do_not_end_are_not_waited_for(impatient: RunningServer) -> None:
    assert b"did not arrive" in await answer_to(impatient, HEAD)


async def test_headers_that_trickle_in_are_not_waited_for(impatient: RunningServer) -> None:
    trickle = [b"X-%d: y\r\n" % number for number in range(40)]
    assert b"did not arrive" in await answer_to(impatient, HEAD, *trickle, pause_s=0.02)


async def test_headers_without_end_are_refused(server: RunningServer) -> None:
    flood = [b"X-%d: %s\r\n" % (number, b"y" * 8000) for number in range(20)]
    assert b"longer than" in await answer_to(server, HEAD, *flood, pause_s=0.001)


async def test_a_request_in_two_pieces_is_served(server: RunningServer) -> None:
    answer = await answer_to(server, HEAD, b"Connection: close\r\n\r\n", pause_s=0.05)
    assert answer.startswith(b"HTTP/1.1 200 ") and answer.endswith(b'"pong"')


async def test_a_kept_connection_may_rest_between_requests(impatient: RunningServer) -> None:
    async with httpx.AsyncClient(base_url=impatient.url, timeout=30) as client:
        await client.get("/v1/ping")
        await asyncio.sleep(0.5)
        assert (await client.get("/v1/ping")).json() == "pong"


async def test_an_answer_that_is_not_taken_is_dropped(impatient: RunningServer) -> None:
    reader, writer = await impatient.connect()
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


async def test_bytes_between_requests_do_not_keep_a_connection_open(impatient: RunningServer) -> None:
    """An empty line after an answer used to end the idle deadline, and no other one began."""
    answer = await answer_to(impatient, HEAD + b"\r\n", b"\r\n", pause_s=0.2)
    assert answer.startswith(b"HTTP/1.1 200 ") and b"did not arrive" in answer


async def test_a_body_that_does_not_come_is_not_waited_for(impatient: RunningServer) -> None:
    head = b"POST /run_code HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n"
    assert b"did not continue" in await answer_to(impatient, head)


async def test_a_body_that_trickles_in_is_not_waited_for(impatient: RunningServer) -> None:
    head = b"POST /run_code HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n"
    assert b"did not continue" in await answer_to(impatient, head, *[b"x" * 10] * 40, pause_s=0.02)


async def test_a_body_that_nobody_wants_keeps_no_connection_open(impatient: RunningServer) -> None:
    head = b"POST /v1/nothing HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n"
    assert (await answer_to(impatient, head, *[b"x" * 2000] * 40, pause_s=0.02)).startswith(b"HTTP/1.1 404 ")


async def test_a_body_that_keeps_coming_is_read_to_its_end(impatient: RunningServer) -> None:
    body = b'{"code": "echo 1", "language": "bash"}' + b" " * 80_000
    head = b"POST /run_code HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body)
    pieces = [body[at : at + 4_000] for at in range(0, len(body), 4_000)]
    answer = await answer_to(impatient, head, *pieces, pause_s=0.03)
    assert b"HTTP/1.1 200 " in answer and b"Success" in answer


async def test_two_hundred_silent_connections_are_closed_by_the_server(impatient: RunningServer) -> None:
    half = [b"", HEAD, b"POST /run_code HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n", b"\r\n"]
    answers = await asyncio.gather(*[answer_to(impatient, half[number % 4]) for number in range(200)])
    assert all(answer.startswith(b"HTTP/1.1 400 ") for answer in answers)


async def test_connections_over_the_cap_are_refused_and_told_when_to_come_again(small: RunningServer) -> None:
    held = [await small.connect() for _ in range(2)]
    answer = await answer_to(small, HEAD + b"\r\n")
    assert answer.startswith(b"HTTP/1.1 503 ") and b"\r\nretry-after: " in answer
    for _, writer in held:
        writer.close()
        await writer.wait_closed()
    async with asyncio.timeout(30), httpx.AsyncClient(base_url=small.url, timeout=30) as client:
        while (answer_now := await client.get("/v1/ping")).status_code == 503:
            await asyncio.sleep(0.01)
    assert answer_now.json() == "pong"


async def test_connections_of_one_address_are_capped_and_those_of_others_served(small: RunningServer) -> None:
    held = [await small.connect() for _ in range(2)]
    assert (await answer_to(small, HEAD + b"\r\n")).startswith(b"HTTP/1.1 503 ")
    reader, writer = await asyncio.open_connection("127.0.0.1", small.port, local_addr=("127.0.0.2", 0))
    writer.write(HEAD + b"Connection: close\r\n\r\n")
    async with asyncio.timeout(30):
        assert (await reader.read()).startswith(b"HTTP/1.1 200 ")
    for _, other in [*held, (reader, writer)]:
        other.close()


async def test_idle_connections_are_kept_for_as_long_as_clients_pool_them() -> None:
    assert server_options(Settings())["timeout_keep_alive"] >= 75


async def test_the_server_goes_on(server: RunningServer) -> None:
    async with httpx.AsyncClient(base_url=server.url, timeout=30) as client:
        assert (await client.get("/v1/ping")).json() == "pong"
