"""The files of one batch: its completions and its results.

Theory of operation. `input.jsonl` is written as it arrives, checked line by line, and never changes once its batch has a row in
the store. `results.jsonl` only grows: one write of one whole line per result, in order of completion. A process that dies leaves
at most one unterminated line there; the next process truncates it, reads which lines have a result, and judges the others. A
folder without a row in the store is left from an interrupted upload and is removed at the next start.
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
from sandbox_runtime.judge.batches.jsonl import BatchLine, LineResult, read_line
from sandbox_runtime.judge.metrics import Sample
from sandbox_runtime.model import Reason
from sandbox_runtime.workspace.ledger import Charge

INPUT, RESULTS = "input.jsonl", "results.jsonl"
_READ_BYTES = 1 << 20


class Spool:
    """charge: the part of the node's storage that the files of the batch use."""

    def __init__(self, folder: Path, charge: Charge) -> None:
        self.charge = charge
        self._folder = folder
        self._results = folder / RESULTS
        self._input = folder / INPUT

    @property
    def complete(self) -> bool:
        return self._input.is_file()

    async def receive(self, chunks: AsyncIterator[bytes], max_bytes: int, max_line_bytes: int) -> tuple[int, int]:
        """Write the input line by line; return the number of lines and bytes. Any error removes the folder again."""
        try:
            self._folder.mkdir(mode=0o700, parents=True)
            with open(self._input, "xb") as file:
                count = 0
                async for line in _split_lines(chunks, max_bytes, max_line_bytes):
                    read_line(line, count)
                    self.charge.grow(len(line))
                    file.write(line)
                    count += 1
                file.flush()
                await asyncio.to_thread(os.fsync, file.fileno())
                size = file.tell()
        except OSError as error:
            self.remove()
            raise Unavailable(f"the completions cannot be stored: {error.strerror}") from error
        except BaseException:
            self.remove()
            raise
        if not count:
            self.remove()
            raise InvalidRequest("the batch is empty: send at least one line of JSON with id and completion")
        return count, size

    def done(self) -> tuple[bytearray, dict[str, int]]:
        """Return a bitmap of the lines that have a result, and the counts by reason. Truncates an unterminated last line."""
        bits = bytearray()
        reasons: dict[str, int] = {}
        if not self._results.exists():
            return bits, reasons
        complete_bytes = 0
        with open(self._results, "rb") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    break
                complete_bytes += len(line)
                index, reason = _parse_result(line)
                set_bit(bits, index)
                reasons[reason] = reasons.get(reason, 0) + 1
        os.truncate(self._results, complete_bytes)
        return bits, reasons

    def lines(self, done: bytearray) -> Generator[tuple[int, BatchLine], None, None]:
        """Yield the lines that have no result yet."""
        try:
            with open(self._input, "rb") as file:
                for number, raw in enumerate(file):
                    if not has_bit(done, number):
                        yield number, read_line(raw, number)
        except OSError as error:
            raise PlatformFault(f"the completions of a batch cannot be read: {error.strerror}") from error

    def open_results(self) -> int:
        """Open the results file for appending and return its descriptor."""
        return os.open(self._results, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)

    def read_results(self, offset: int) -> tuple[bytes, int]:
        """Return complete lines from that offset on, about a megabyte at most, and the offset after them."""
        if not self._results.exists():
            return b"", offset
        with open(self._results, "rb") as file:
            file.seek(offset)
            data = file.read(_READ_BYTES)
            if data and not data.endswith(b"\n"):
                data += file.readline()
        lines = data[: data.rfind(b"\n") + 1]
        return lines, offset + len(lines)

    def samples(self) -> Iterator[Sample]:
        """Yield the part of each result that scores need."""
        offset = 0
        while (page := self.read_results(offset))[0]:
            offset = page[1]
            for line in page[0].splitlines():
                result = json.loads(line)
                yield Sample(result["id"], Reason(result["reason"]), result.get("groups", {}))

    def recount(self) -> None:
        """Set the charge to the size on disk."""
        self.charge.resize(sum(_file_size(path) for path in (self._input, self._results)), force=True)

    def remove_input(self) -> None:
        """Remove the input of a batch that has ended."""
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
        result = json.loads(line)
        return int(result["index"]), str(result["reason"])
    except (ValueError, KeyError, TypeError) as error:
        raise PlatformFault("the results file has an invalid line: something else has written to it") from error


def write_result(descriptor: int, result: LineResult) -> None:
    """Append the result in one write, so that lines never mix. If the disk is full, a partial line is truncated."""
    text = result.json_line
    before = os.fstat(descriptor).st_size
    try:
        if os.write(descriptor, text) == len(text):
            return
        reason = "the disk is full"
    except OSError as error:
        reason = error.strerror or str(error)
    os.ftruncate(descriptor, before)
    raise Unavailable(f"a result cannot be stored: {reason}")


def set_bit(bits: bytearray, number: int) -> None:
    index = number >> 3
    if index >= len(bits):
        bits.extend(bytes(index + 1 - len(bits)))
    bits[index] |= 1 << (number & 7)


def has_bit(bits: bytearray, number: int) -> bool:
    index = number >> 3
    return index < len(bits) and bool(bits[index] & 1 << (number & 7))


async def _split_lines(chunks: AsyncIterator[bytes], max_bytes: int, max_line_bytes: int) -> AsyncIterator[bytes]:
    """Yield each line with a line break; the last input line may lack one. Empty lines are dropped."""
    rest, total, number = b"", 0, 0
    async for chunk in chunks:
        total += len(chunk)
        if total > max_bytes:
            raise InvalidRequest(f"a batch may have at most {max_bytes} bytes: send it in parts, or raise batch_max_bytes")
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            number += 1
            _check_length(line, number, max_line_bytes)
            if line.strip():
                yield line + b"\n"
        _check_length(rest, number + 1, max_line_bytes)
    if rest.strip():
        yield rest + b"\n"


def _check_length(line: bytes, number: int, max_bytes: int) -> None:
    if len(line) > max_bytes:
        raise InvalidRequest(f"line {number} has more than {max_bytes} bytes: shorten it, or raise max_request_bytes")
