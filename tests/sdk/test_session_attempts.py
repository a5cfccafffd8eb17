"""When a request about a session is sent again, and when not: against a server on loopback that answers as it is told."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from sandbox_runtime.errors import Conflict, Denied, NotFound, PlatformFault, SandboxError, TooMany, Unavailable
from sandbox_runtime.sdk import SandboxClient, SyncSandboxClient, retry

SESSION = b'{"id": "s", "status": "running"}'
RESULT = b'{"id": "e", "status": "completed"}'
HANG_UP = b""
Call = Callable[[SandboxClient], Awaitable[object]]


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retry, "FIRST_DELAY_S", 0.001)


def status(number: int, body: bytes = b'{"message": "no"}', *headers: bytes) -> bytes:
    lines = [b"HTTP/1.1 %d X" % number, b"Content-Length: %d" % len(body), *headers, b"", body]
    return b"\r\n".join(lines)


@asynccontextmanager
async def answering(*answers: bytes) -> AsyncIterator[tuple[str, list[bytes]]]:
    """Each request gets the next answer; the requests are kept."""
    seen: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                lengths = [int(line.split()[1]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")]
                seen.append(head + await reader.readexactly(sum(lengths)))
                writer.write(answers[len(seen) - 1])
                if answers[len(seen) - 1] == HANG_UP:
                    break
        except asyncio.IncompleteReadError:
            pass
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", seen


async def create(client: SandboxClient) -> object:
    return await client.create_session("s")


async def execute(client: SandboxClient) -> object:
    return await client.execute_code("s", "print(1)")


async def show(client: SandboxClient) -> object:
    return await client.get_session("s")


async def press(client: SandboxClient) -> object:
    return await client.type_in("e", b"rm -rf /\n")


@pytest.mark.requirement("sdk-1.07")
@pytest.mark.parametrize("number", [429, 503])
@pytest.mark.parametrize(("call", "good"), [(create, SESSION), (execute, RESULT), (show, SESSION), (press, b"")])
async def test_what_an_overloaded_server_did_not_do_is_asked_for_again(number: int, call: Call, good: bytes) -> None:
    async with answering(status(number), status(number), status(200, good)) as (url, seen), SandboxClient(url) as client:
        await call(client)
    assert len(seen) == 3


@pytest.mark.requirement("sdk-1.07")
async def test_the_server_says_how_long_to_wait() -> None:
    busy = status(429, b"{}", b"Retry-After: 1")
    async with answering(busy, status(200, SESSION)) as (url, seen), SandboxClient(url) as client:
        begun = time.monotonic()
        await client.get_session("s")
        assert time.monotonic() - begun >= 1.0 and len(seen) == 2


@pytest.mark.requirement("sdk-1.08")
@pytest.mark.parametrize("broken", [HANG_UP, status(502), status(504)])
async def test_an_execution_that_may_have_begun_is_asked_for_again_under_the_same_key(broken: bytes) -> None:
    async with answering(broken, status(200, RESULT)) as (url, seen), SandboxClient(url) as client:
        await execute(client)
    keys = [line for request in seen for line in request.lower().split(b"\r\n") if line.startswith(b"idempotency-key")]
    assert len(keys) == 2 and len(set(keys)) == 1


@pytest.mark.requirement("sdk-1.08")
@pytest.mark.parametrize("broken", [HANG_UP, status(502), status(504)])
@pytest.mark.parametrize("call", [create, press])
async def test_what_may_not_happen_twice_is_not_sent_twice(call: Call, broken: bytes) -> None:
    async with answering(broken) as (url, seen), SandboxClient(url) as client:
        with pytest.raises((Unavailable, TooMany)):
            await call(client)
    assert len(seen) == 1


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (401, Denied),
        (403, Denied),
        (404, NotFound),
        (409, Conflict),
        (408, Unavailable),
        (501, Unavailable),
        (500, PlatformFault),
    ],
)
async def test_each_refusal_has_its_exception(number: int, kind: type[SandboxError]) -> None:
    async with (
        answering(status(number, b'{"error": "X", "message": "because", "detail": ""}')) as (url, _),
        SandboxClient(url) as client,
    ):
        with pytest.raises(kind, match=f"{number}: because"):
            await client.get_session("s")


async def test_the_last_attempt_is_the_last() -> None:
    async with answering(*[status(503)] * 2) as (url, seen), SandboxClient(url, max_attempts=2) as client:
        with pytest.raises(TooMany):
            await client.get_session("s")
    assert len(seen) == 2


async def test_the_blocking_twin_tries_again_too() -> None:
    async with answering(status(503), HANG_UP, status(200, SESSION)) as (url, seen):

        def blocking() -> str:
            with SyncSandboxClient(url) as client:
                return client.get_session("s").id

        assert await asyncio.to_thread(blocking) == "s"
    assert len(seen) == 3


async def test_an_answer_of_another_shape_is_a_fault_of_the_server() -> None:
    async with answering(status(200, b"[]")) as (url, _), SandboxClient(url) as client:
        with pytest.raises(PlatformFault, match="unexpected response"):
            await client.get_session("s")


async def test_the_key_goes_along_and_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDBOX_API_KEY", "from-the-environment")
    async with answering(status(200, SESSION), status(200, SESSION)) as (url, seen):
        async with SandboxClient(url) as client:
            await client.get_session("s")
        async with SandboxClient(url, api_key="given") as client:
            await client.get_session("s")
    assert b"Bearer from-the-environment" in seen[0] and b"Bearer given" in seen[1]


async def test_a_redirect_to_another_server_does_not_get_the_key() -> None:
    async with answering(status(200, b"bytes")) as (elsewhere, told):
        away = status(307, b"", b"Location: " + elsewhere.replace("127.0.0.1", "localhost").encode() + b"/file")
        async with answering(away) as (url, _), SandboxClient(url, api_key="secret") as client:
            assert await client.download_file("s", "file") == b"bytes"
    assert b"secret" not in told[0]
