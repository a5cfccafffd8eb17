"""Output logs and stored output, without an execution."""

from __future__ import annotations

import asyncio

import pytest

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model import Execution
from sandbox_runtime.sessions.executions.output import PIECE_BYTES, OutputLog, OutputPiece, parse_offsets, stored_pieces


async def collect(log: OutputLog, **offsets: int) -> list[OutputPiece]:
    return [piece async for piece in log.follow(offsets)]


async def test_followers_get_everything_each_at_its_own_pace() -> None:
    log = OutputLog()
    early = asyncio.create_task(collect(log, stdout=0, stderr=0))
    for number in range(100):
        log.write("stdout", b"%d\n" % number)
        if number % 10 == 0:
            await asyncio.sleep(0)
    log.write("stderr", b"oops")
    late = asyncio.create_task(collect(log, stdout=0))
    await asyncio.sleep(0)
    log.end()
    whole = b"".join(b"%d\n" % number for number in range(100))
    first, second = await early, await late
    assert b"".join(piece.data for piece in first if piece.stream == "stdout") == whole
    assert b"".join(piece.data for piece in first if piece.stream == "stderr") == b"oops"
    assert b"".join(piece.data for piece in second) == whole
    assert await collect(log, stdout=len(whole) - 3) == [OutputPiece("stdout", len(whole) - 3, whole[-3:])]
    assert await collect(log, stdout=len(whole) + 5) == []
    log.close()


async def test_much_output_is_given_in_pieces_and_takes_no_memory_of_that_size() -> None:
    log = OutputLog()
    for _ in range(64):
        log.write("stdout", b"x" * PIECE_BYTES)
    log.end()
    pieces = await collect(log, stdout=10)
    assert all(len(piece.data) <= PIECE_BYTES for piece in pieces)
    assert sum(len(piece.data) for piece in pieces) == log.size_bytes - 10
    assert log.text("stdout", 5) == "xxxxx"
    log.close()


async def test_a_tape_that_is_closed_goes_on_for_those_who_follow_it() -> None:
    log = OutputLog()
    log.write("stdout", b"a" * (PIECE_BYTES + 1))
    log.end()
    following = log.follow({"stdout": 0})
    first = await anext(following)
    log.close()
    rest = [piece async for piece in following]
    assert len(first.data) + sum(len(piece.data) for piece in rest) == PIECE_BYTES + 1
    with pytest.raises(ValueError, match="closed"):
        log.read("stdout", 0)


async def test_a_follower_that_leaves_takes_nothing_along() -> None:
    log = OutputLog()
    task = asyncio.create_task(collect(log, stdout=0))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    log.write("stdout", b"more")
    log.end()
    assert b"".join(piece.data for piece in await collect(log, stdout=0)) == b"more"
    log.close()


def test_what_the_store_kept_is_given_from_any_byte() -> None:
    execution = Execution(id="e", session="s", stdout="häuser", stderr="x", created_ms=1)
    assert [(piece.offset, piece.data) for piece in stored_pieces(execution, {"stdout": 3})] == [(3, b"user")]
    assert stored_pieces(execution, {"stdout": 99}) == []
    assert {piece.stream for piece in stored_pieces(execution, parse_offsets("both", 0))} == {"stdout", "stderr"}


def test_streams_have_names_and_offsets_are_counted_from_the_beginning() -> None:
    with pytest.raises(InvalidRequest, match="stdout"):
        parse_offsets("stdin", 0)
    with pytest.raises(InvalidRequest, match="negative"):
        parse_offsets("stdout", -1)
