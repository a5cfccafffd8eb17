"""Draining a stream: head and tail are kept, the rest is counted."""

from __future__ import annotations

import os
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from sandbox_runtime.isolation.capture import READ_BYTES, Capture
from sandbox_runtime.model import Output


@contextmanager
def captured(keep_bytes: int) -> Iterator[tuple[Capture, int]]:
    """A capture, and the other end of its pipe."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    capture = Capture(reading, keep_bytes)
    try:
        yield capture, writing
    finally:
        capture.close()
        os.close(writing)


def kept(keep_bytes: int, *pieces: bytes) -> Output:
    with captured(keep_bytes) as (capture, writing):
        for piece in pieces:
            os.write(writing, piece)
            assert capture.read() == piece
        assert capture.read() is None
        return capture.output()


def numbered(count: int) -> bytes:
    return b"".join(b"%06d\n" % number for number in range(count))


@pytest.mark.parametrize("length", [0, 1, 99, 100])
def test_what_fits_is_kept_whole(length: int) -> None:
    text = numbered(100)[:length]
    output = kept(100, *(text[n : n + 1] for n in range(length)))
    assert bytes(output) == text and output.dropped_bytes == 0 and output.total_bytes == length


@pytest.mark.parametrize("keep_bytes", [1, 2, 3, 100, 101])
@pytest.mark.parametrize("piece_bytes", [1, 7, 50, 51, 100, 5000])
def test_of_what_does_not_fit_head_and_tail_are_kept(keep_bytes: int, piece_bytes: int) -> None:
    text = numbered(100)
    output = kept(keep_bytes, *(text[n : n + piece_bytes] for n in range(0, len(text), piece_bytes)))
    assert output.head == text[: keep_bytes - keep_bytes // 2]
    assert output.tail == (text[-(keep_bytes // 2) :] if keep_bytes > 1 else b"")
    assert output.dropped_bytes == len(text) - keep_bytes and output.total_bytes == len(text)


def test_one_byte_too_many_drops_one() -> None:
    output = kept(10, b"0123456789", b"X")
    assert (output.head, output.tail, output.dropped_bytes) == (b"01234", b"6789X", 1)


def test_the_end_of_the_stream_is_an_empty_piece() -> None:
    with captured(10) as (capture, writing):
        os.write(writing, b"last")
        os.dup2(os.open("/dev/null", os.O_WRONLY), writing)
        assert [capture.read(), capture.read(), capture.read()] == [b"last", b"", b""]


def test_a_piece_is_never_larger_than_what_is_read_at_once() -> None:
    with captured(10) as (capture, writing):
        os.set_blocking(writing, False)
        written = os.write(writing, b"x" * (READ_BYTES * 4))
        total = 0
        while piece := capture.read():
            assert len(piece) <= READ_BYTES
            total += len(piece)
        assert total == written == capture.total_bytes


def test_closing_twice_is_closing_once() -> None:
    with captured(10) as (capture, _):
        capture.close()
        capture.close()


@pytest.mark.parametrize("piece_bytes", [1, 1000])
def test_what_is_held_back_stays_small_in_however_many_pieces_it_comes(piece_bytes: int) -> None:
    tracemalloc.start()
    try:
        with captured(10_000) as (capture, writing):
            for _ in range(20_000):
                os.write(writing, b"x" * piece_bytes)
                capture.read()
            assert tracemalloc.get_traced_memory()[0] < 40_000
    finally:
        tracemalloc.stop()
