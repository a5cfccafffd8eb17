"""Events sent over HTTP, kept so that clients can resume a broken stream after the last event they received.

Theory of operation. Each session's transport stores every event before sending it, under the stream's name, which is the request
id. Request ids repeat across sessions, so each session has its own store. All stores share one size limit; beyond it the oldest
events are dropped. A client that resumes after a dropped event gets nothing and has to repeat its call.
"""

from __future__ import annotations

import weakref
from collections import deque
from typing import Any

from mcp.server.lowlevel.server import Server
from mcp.server.streamable_http import EventCallback, EventMessage, EventStore
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types import JSONRPCError, JSONRPCMessage, JSONRPCResponse

MAX_BYTES = 32 * 1024 * 1024
RETRY_MS = 1000
"""How soon a client whose stream ended may reconnect."""
_EVENT_OVERHEAD_BYTES = 256
"""Assumed size of an event without its text."""
_MAX_DIGITS = 18


class EventBudget:
    """The size limit shared by all sessions."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._held_bytes = 0
        self._oldest_first: deque[tuple[weakref.ref[SessionEventStore], int, int]] = deque()

    def new_store(self) -> SessionEventStore:
        return SessionEventStore(self)

    def add(self, session: SessionEventStore, number: int, size_bytes: int) -> None:
        self._oldest_first.append((weakref.ref(session), number, size_bytes))
        self._held_bytes += size_bytes
        while self._held_bytes > self._max_bytes and self._oldest_first:
            reference, oldest, weight = self._oldest_first.popleft()
            self._held_bytes -= weight
            if (owner := reference()) is not None:
                owner.drop(oldest)


class SessionEventStore(EventStore):
    """The events of one MCP session."""

    def __init__(self, budget: EventBudget) -> None:
        self._budget = budget
        self._events: dict[int, tuple[str, JSONRPCMessage | None]] = {}
        self._last = 0

    async def store_event(self, stream_id: str, message: JSONRPCMessage | None) -> str:
        """Store an event and return its id. `message` None marks the start of a stream, from which a client can resume too."""
        self._last += 1
        self._events[self._last] = (stream_id, message)
        text_bytes = 0 if message is None else len(message.model_dump_json())
        self._budget.add(self, self._last, _EVENT_OVERHEAD_BYTES + text_bytes)
        return str(self._last)

    async def replay_events_after(self, last_event_id: str, send_callback: EventCallback) -> str | None:
        """Send the later events of the same stream. Return the stream if more will follow; None if its response was sent or the
        event is unknown."""
        number = int(last_event_id) if last_event_id.isdecimal() and len(last_event_id) <= _MAX_DIGITS else 0
        if number not in self._events:
            return None
        stream_id, _ = self._events[number]
        answered = False
        for later, (stream, message) in list(self._events.items()):
            if later > number and stream == stream_id and message is not None:
                await send_callback(EventMessage(message, str(later)))
                answered = answered or isinstance(message, JSONRPCResponse | JSONRPCError)
        return None if answered else stream_id

    def drop(self, number: int) -> None:
        self._events.pop(number, None)


class ResumableSessionManager(StreamableHTTPSessionManager):
    """Gives each session its own event store; the SDK would share one."""

    def __init__(
        self, sdk_server: Server[Any], budget: EventBudget, *, idle_s: float, max_sessions: int, max_body_bytes: int
    ) -> None:
        self._budget = budget
        super().__init__(
            sdk_server,
            retry_interval=RETRY_MS,
            session_idle_timeout=idle_s,
            max_sessions=max_sessions,
            max_request_body_size=max_body_bytes,
        )

    @property
    def event_store(self) -> EventStore | None:
        """Read by the SDK whenever a session opens."""
        return self._budget.new_store()

    @event_store.setter
    def event_store(self, store: EventStore | None) -> None:
        assert store is None, "each session has its own store"
