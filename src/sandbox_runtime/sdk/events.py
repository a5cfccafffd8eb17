"""Parse server-sent events of an execution's output."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncGenerator, Generator, Iterator
from dataclasses import dataclass, field

from sandbox_runtime.errors import PlatformFault
from sandbox_runtime.sdk.session_models import Output

STREAMS = ("stdout", "stderr")
_END = "end"
Outputs = AsyncGenerator[Output, None]
SyncOutputs = Generator[Output, None, None]
_MAX_EVENT = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Event:
    name: str
    data: str


@dataclass(slots=True)
class EventParser:
    """Parses a byte stream into events. An empty line completes an event; comments are keep-alives and ignored."""

    _rest: bytes = b""
    _name: str = "message"
    _data: list[str] = field(default_factory=list)
    _size: int = 0

    def take(self, piece: bytes) -> Iterator[Event]:
        *lines, self._rest = (self._rest + piece).split(b"\n")
        self._bound(len(self._rest))
        for line in lines:
            event = self._line(line.removesuffix(b"\r").decode(errors="replace"))
            if event is not None:
                yield event

    def _line(self, line: str) -> Event | None:
        if not line:
            return self._complete()
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "event":
            self._name = value
        elif name == "data":
            self._size += len(value)
            self._bound(self._size)
            self._data.append(value)
        return None

    def _complete(self) -> Event | None:
        event = Event(self._name, "\n".join(self._data)) if self._data else None
        self._name, self._data, self._size = "message", [], 0
        return event

    def _bound(self, size: int) -> None:
        if size > _MAX_EVENT:
            raise PlatformFault(f"the server sent an event with more than {_MAX_EVENT} characters")


@dataclass(slots=True)
class StreamPosition:
    """How far each stream was read: where to resume after a broken connection, and which output is already known."""

    offsets: dict[str, int]
    ended: bool = False
    """Whether the server sent the end of the output."""

    def take(self, event: Event) -> Output | None:
        """Return the new part of an output event; None for other events and for output that is already known."""
        if event.name not in STREAMS:
            self.ended = self.ended or event.name == _END
            return None
        try:
            fields = json.loads(event.data)
            offset = int(fields["offset"])
            exact = fields.get("data_base64")
            data = fields["data"].encode() if exact is None else base64.b64decode(exact, validate=True)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise PlatformFault(f"the server sent an unexpected event: {event.data[:100]}") from error
        return self._fresh(event.name, offset, data)

    def _fresh(self, stream: str, offset: int, data: bytes) -> Output | None:
        seen = self.offsets.get(stream)
        if seen is None or offset + len(data) <= seen:
            return None
        data, offset = data[max(0, seen - offset) :], max(offset, seen)
        self.offsets[stream] = offset + len(data)
        return Output(stream, offset, data)
