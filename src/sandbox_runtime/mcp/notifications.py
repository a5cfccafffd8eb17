"""Notifications sent while a request runs: program output and progress."""

from __future__ import annotations

import asyncio
import base64
import gzip
import re
import warnings
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp_types import LoggingLevel

from sandbox_runtime.mcp.config.model import StreamingSection
from sandbox_runtime.mcp.hosts.port import Sink

LEVELS: tuple[LoggingLevel, ...] = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(\x07|\x1b\\)")
_PERCENT = re.compile(r"(\d{1,3})(?:\.\d+)?\s?%")
_OF = re.compile(r"\b(\d{1,9})\s*/\s*(\d{1,9})\b")
_SEND_WITHIN_S = 5.0
Context = ServerRequestContext[Any, Any]


class OutputSender:
    """Buffers output and sends it every `flush_interval`. The buffer is bounded: for a slow client it keeps the newest text."""

    def __init__(self, context: Context, options: StreamingSection, wants_level: Callable[[str], bool]) -> None:
        self._context = context
        self._options = options
        self._wants_level = wants_level
        self._pieces: list[tuple[str, str]] = []
        self._buffered_characters = 0
        self._progress_sent = 0.0
        self._received_characters = 0

    def add(self, stream: str, text: str) -> None:
        if not text:
            return
        self._received_characters += len(text)
        self._pieces.append((stream, text[-self._options.buffer_size :]))
        self._buffered_characters += len(self._pieces[-1][1])
        while self._buffered_characters > self._options.buffer_size and len(self._pieces) > 1:
            self._buffered_characters -= len(self._pieces.pop(0)[1])

    async def run(self) -> None:
        while True:
            await asyncio.sleep(self._options.flush_interval)
            await self.flush()

    async def flush(self) -> None:
        pieces, self._pieces, self._buffered_characters = self._pieces, [], 0
        for stream, text in _merge(pieces):
            shown = _ANSI.sub("", text) if self._options.filter_ansi or not self._options.enable_ansi else text
            for start in range(0, len(shown), self._options.max_chunk_size):
                await self._item(stream, shown[start : start + self._options.max_chunk_size])
            await self._progress(shown)

    async def _item(self, stream: str, text: str) -> None:
        level: LoggingLevel = "info" if stream == "stdout" else "warning"
        if self._wants_level(level):
            await log(self._context, level, stream, to_item(stream, text, self._options))

    async def _progress(self, text: str) -> None:
        """Send the progress found in the text, or the number of characters printed so far."""
        progress = find_progress(text) if self._options.detect_progress else None
        current, total = progress or (float(self._received_characters), None)
        # The protocol requires progress to grow with every notification.
        self._progress_sent = current if current > self._progress_sent else self._progress_sent + 0.001
        last_line = (text.strip().splitlines() or [""])[-1][:200]
        await self._context.session.report_progress(self._progress_sent, total, last_line or None)


def to_item(stream: str, text: str, options: StreamingSection) -> object:
    """Return a piece of output in the configured form: a JSON object, or bare text."""
    raw = text.encode(errors="replace")
    compressed = options.compress and len(raw) >= options.compression_min
    data = base64.b64encode(gzip.compress(raw)).decode() if compressed else text
    if not options.enable_json:
        return text
    kind = "data" if stream == "stdout" else "error"
    return {"type": kind, "data": data, "encoding": "gzip+base64"} if compressed else {"type": kind, "data": data}


def find_progress(text: str) -> tuple[float, float] | None:
    """Return (percent, 100) of the last "40%" or "4/10" in the text, or None."""
    of, percent = list(_OF.finditer(text)), list(_PERCENT.finditer(text))
    if of and (not percent or of[-1].start() > percent[-1].start()) and 0 < int(of[-1][2]) >= int(of[-1][1]):
        return 100.0 * int(of[-1][1]) / int(of[-1][2]), 100.0
    return (float(percent[-1][1]), 100.0) if percent and int(percent[-1][1]) <= 100 else None


async def log(context: Context, level: LoggingLevel, logger: str, data: object) -> None:
    """Send notifications/message on the request's stream. The newest revision deprecates it, but clients rely on it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        task = context.session.send_log_message(level, data, logger, related_request_id=context.request_id)
    async with asyncio.timeout(_SEND_WITHIN_S):
        await task


@asynccontextmanager
async def output_sender(context: Context, options: StreamingSection, wants_level: Callable[[str], bool]) -> AsyncIterator[Sink]:
    """Yield a sink. Output still buffered at the end is dropped; the response contains it anyway."""
    sender = OutputSender(context, options, wants_level)
    task = asyncio.create_task(sender.run())
    try:
        yield sender.add
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def _merge(pieces: list[tuple[str, str]]) -> list[tuple[str, str]]:
    merged: list[tuple[str, str]] = []
    for stream, text in pieces:
        if merged and merged[-1][0] == stream:
            merged[-1] = (stream, merged[-1][1] + text)
        else:
            merged.append((stream, text))
    return merged
