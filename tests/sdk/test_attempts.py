"""When a call is made again, and when not: against a server on loopback that answers as it is told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest

from sandbox_runtime.errors import InvalidRequest, PlatformFault, SandboxError, TooMany, Unavailable
from sandbox_runtime.sdk import RunCodeRequest, RunCodeResponse, retry, run_code, run_code_async

OK = b'HTTP/1.1 200 OK\r\nContent-Length: 34\r\n\r\n{"status": "Success", "message":""}'.replace(b"34", b"35")
BUSY = b'HTTP/1.1 504 Gateway Timeout\r\nRetry-After: 0\r\nContent-Length: 18\r\n\r\n{"detail": "later"}'.replace(b"18", b"19")
HANG_UP = b""
REQUEST = RunCodeRequest(code="x", language="python")


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retry, "FIRST_DELAY_S", 0.001)


def status(number: int, body: bytes = b"no") -> bytes:
    return b"HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n%s" % (number, len(body), body)


@asynccontextmanager
async def answering(*answers: bytes) -> AsyncIterator[tuple[str, list[bytes]]]:
    """Each request gets the next answer; the requests are kept."""
    seen: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await reader.readuntil(b"\r\n\r\n"):
            length = next(int(line.split()[1]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length"))
            seen.append(await reader.readexactly(length))
            answer = answers[len(seen) - 1]
            writer.write(answer)
            if answer == HANG_UP:
                break
        writer.close()

    async def guarded(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await serve(reader, writer)
        except asyncio.IncompleteReadError:
            writer.close()

    server = await asyncio.start_server(guarded, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", seen


async def called(form: str, url: str, attempts: int = 5) -> RunCodeResponse:
    if form == "async":
        return await run_code_async(REQUEST, url, attempts)
    return await asyncio.to_thread(run_code, REQUEST, url, attempts)


both = pytest.mark.parametrize("form", ["sync", "async"])


@pytest.mark.requirement("fusion-13.12")
@both
async def test_an_overloaded_server_is_asked_again(form: str) -> None:
    async with answering(BUSY, BUSY, OK) as (url, seen):
        assert (await called(form, url)).status == "Success"
    assert len(seen) == 3 and len(set(seen)) == 1


@pytest.mark.requirement("fusion-13.12")
@both
async def test_a_connection_that_breaks_is_made_again(form: str) -> None:
    async with answering(HANG_UP, OK) as (url, seen):
        assert (await called(form, url)).status == "Success"
    assert len(seen) == 2


@both
async def test_after_the_last_attempt_overload_is_raised_as_such(form: str) -> None:
    async with answering(BUSY, BUSY) as (url, seen):
        with pytest.raises(TooMany, match="later"):
            await called(form, url, 2)
    assert len(seen) == 2


@both
@pytest.mark.parametrize(
    ("answer", "kind"), [(status(422), InvalidRequest), (status(400), InvalidRequest), (status(500), PlatformFault)]
)
async def test_what_another_attempt_cannot_mend_is_raised_at_once(form: str, answer: bytes, kind: type[SandboxError]) -> None:
    async with answering(answer) as (url, seen):
        with pytest.raises(kind):
            await called(form, url)
    assert len(seen) == 1


@pytest.mark.parametrize("body", [b"", b"[]", b"<html>", b'{"status": "Odd", "message": ""}', b"\xff"])
async def test_an_answer_of_another_shape_is_a_platform_fault(body: bytes) -> None:
    async with answering(status(200, body)) as (url, _):
        with pytest.raises(PlatformFault, match="unexpected response"):
            await run_code_async(REQUEST, url)


async def test_a_long_complaint_is_shortened() -> None:
    async with answering(status(500, b"x" * 100_000)) as (url, _):
        with pytest.raises(PlatformFault) as told:
            await run_code_async(REQUEST, url)
    assert len(str(told.value)) < 1000


@pytest.mark.parametrize("header", [b"9999999", b"-3", b"soon", b"nan", b"inf"])
def test_a_server_cannot_make_a_client_wait_for_ever(header: bytes) -> None:
    response = httpx.Response(504, headers={"Retry-After": header.decode()})
    delay_s = retry.Retries("http://x", 5, idempotent=True).next_delay_s(retry.FailedAttempt.from_response(response))
    assert 0 < delay_s <= retry.MAX_DELAY_S


@pytest.mark.parametrize(("attempts", "timeout_s"), [(0, None), (-1, None), (1, 0.0), (1, -1.0), (1, float("nan"))])
async def test_numbers_that_make_no_sense_are_refused(attempts: int, timeout_s: float | None) -> None:
    with pytest.raises(InvalidRequest):
        await run_code_async(REQUEST, "http://127.0.0.1:9", attempts, timeout_s)


async def test_a_time_limit_of_the_client_is_not_tried_again() -> None:
    async with answering(b"HTTP/1.1 200 OK\r\n") as (url, seen):
        with pytest.raises(Unavailable, match="client_timeout"):
            await run_code_async(REQUEST, url, client_timeout=0.2)
    assert len(seen) == 1
