"""The files of one batch: what was sent, and what came of it.

Theory of operation. `input.jsonl` is written as it comes, checked line by line, and never changes once its batch has a row in
the store. `results.jsonl` only grows: one write of one whole line for each result, in the order in which they come. A process
that dies leaves at most one line without an end there; whoever goes on cuts it off, reads which lines have their result, and
judges the others. A folder without a row is what is left of an upload that was broken off, and goes at the next start.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
from collections.abc import AsyncIterator, Generator, Iterator
from pathlib import Path

from sandbox_runtime.errors import InvalidRequest, PlatformFault, Unavailable
from sandbox_runtime.judge.batches.lines import BatchLine, LineResult, read_line
from sandbox_runtime.judge.metrics import Sample
from sandbox_runtime.model import Reason
from sandbox_runtime.workspace.ledger import Charge

INPUT, RESULTS = "input.jsonl", "results.jsonl"
_READ_BYTES = 1 << 20


class Spool:
    """charge: what the files of the batch hold of the node's storage."""

    def __init__(self, folder: Path, charge: Charge) -> None:
        self.charge = charge
        self._folder = folder
        self._results = folder / RESULTS
        self._input = folder / INPUT

    @property
    def complete(self) -> bool:
        return self._input.is_file()

    async def receive(self, pieces: AsyncIterator[bytes], most_bytes: int, most_line_bytes: int) -> tuple[int, int]:
        """Writes what comes, line by line; returns how many lines and bytes there were. Whatever is wrong with them leaves
        nothing behind."""
        try:
            self._folder.mkdir(mode=0o700, parents=True)
            with open(self._input, "xb") as file:
                count = 0
                async for line in _split_lines(pieces, most_bytes, most_line_bytes):
                    read_line(line, count)
                    self.charge.grow(len(line))
                    file.write(line)
                    count += 1
                file.flush()
                await asyncio.to_thread(os.fsync, file.fileno())
                size = file.tell()
        except OSError as error:
            self.remove()
            raise Unavailable(f"the completions cannot be kept: {error.strerror}") from error
        except BaseException:
            self.remove()
            raise
        if not count:
            self.remove()
            raise InvalidRequest("a batch needs at least one completion: a line of JSON with id and completion")
        return count, size

    def done(self) -> tuple[bytearray, dict[str, int]]:
        """Which lines have a result, as a map of bits, and how many by reason. Cuts off a last line that has no end."""
        bits = bytearray()
        reasons: dict[str, int] = {}
        if not self._results.exists():
            return bits, reasons
        whole_bytes = 0
        with open(self._results, "rb") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    break
                whole_bytes += len(line)
                index, reason = _parse_result(line)
                set_bit(bits, index)
                reasons[reason] = reasons.get(reason, 0) + 1
        os.truncate(self._results, whole_bytes)
        return bits, reasons

    def lines(self, done: bytearray) -> Generator[tuple[int, BatchLine], None, None]:
        """Those that have no result yet."""
        try:
            with open(self._input, "rb") as file:
                for number, raw in enumerate(file):
                    if not has_bit(done, number):
                        yield number, read_line(raw, number)
        except OSError as error:
            raise PlatformFault(f"the completions of a batch cannot be read: {error.strerror}") from error

    def open_results(self) -> int:
        """A descriptor to add results with."""
        return os.open(self._results, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)

    def read_results(self, offset: int) -> tuple[bytes, int]:
        """Whole lines from that byte on, about a megabyte at most, and the byte after them."""
        if not self._results.exists():
            return b"", offset
        with open(self._results, "rb") as file:
            file.seek(offset)
            found = file.read(_READ_BYTES)
            if found and not found.endswith(b"\n"):
                found += file.readline()
        whole = found[: found.rfind(b"\n") + 1]
        return whole, offset + len(whole)

    def samples(self) -> Iterator[Sample]:
        """What scores need of each result."""
        offset = 0
        while (found := self.read_results(offset))[0]:
            offset = found[1]
            for line in found[0].splitlines():
                told = json.loads(line)
                yield Sample(told["id"], Reason(told["reason"]), told.get("groups", {}))

    def recount(self) -> None:
        """Charge what lies on the disk."""
        self.charge.resize(sum(_file_size(path) for path in (self._input, self._results)), force=True)

    def remove_input(self) -> None:
        """The batch has ended: nobody reads what was sent again."""
        with contextlib.suppress(OSError):
            self._input.unlink()
        self.recount()

    def remove(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)
        self.charge.release()


def _file_size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _parse_result(line: bytes) -> tuple[int, str]:
    try:
        told = json.loads(line)
        return int(told["index"]), str(told["reason"])
    except (ValueError, KeyError, TypeError) as error:
        raise PlatformFault("the file of results holds a line that is no result: something else has written to it") from error


def write_result(descriptor: int, result: LineResult) -> None:
    """In one call, so that lines never mix. A full disk takes it back as a whole."""
    text = result.text
    before = os.fstat(descriptor).st_size
    try:
        if os.write(descriptor, text) == len(text):
            return
        reason = "the disk is full"
    except OSError as error:
        reason = error.strerror or str(error)
    os.ftruncate(descriptor, before)
    raise Unavailable(f"a result cannot be kept: {reason}")


def set_bit(bits: bytearray, number: int) -> None:
    at = number >> 3
    if at >= len(bits):
        bits.extend(bytes(at + 1 - len(bits)))
    bits[at] |= 1 << (number & 7)


def has_bit(bits: bytearray, number: int) -> bool:
    at = number >> 3
    return at < len(bits) and bool(bits[at] & 1 << (number & 7))


async def _split_lines(pieces: AsyncIterator[bytes], most_bytes: int, most_line_bytes: int) -> AsyncIterator[bytes]:
    """Each with its end; the last may come without one. Empty ones are left out."""
    rest, total, number = b"", 0, 0
    async for piece in pieces:
        total += len(piece)
        if total > most_bytes:
            raise InvalidRequest(f"a batch has at most {most_bytes} bytes: send it in parts, or raise batch_max_bytes")
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            number += 1
            _check_length(line, number, most_line_bytes)
            if line.strip():
                yield line + b"\n"
        _check_length(rest, number + 1, most_line_bytes)
    if rest.strip():
        yield rest + b"\n"


def _check_length(line: bytes, number: int, most_bytes: int) -> None:
    if len(line) > most_bytes:
        raise InvalidRequest(f"line {number} has more than {most_bytes} bytes: shorten it, or raise max_request_bytes")
