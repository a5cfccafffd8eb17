"""Connections with deadlines and caps: what uvicorn itself would wait for without end.

A connection is always in one of four states, and only one of them has no deadline:

    header  from connecting, or from the first byte after an answer, to the end of the header: header_s in all
    body    until the request has ended: at least LEAST_BODY_BYTES in each body_s, while the server reads at all
    answer  as long as it takes, so that streams stay possible; what is written must be taken within send_s
    idle    between requests: keep_alive_s (uvicorn's own timer)

A connection over a cap is answered with 503 and closed before anything it sends is parsed. Requests that arrive in one piece, as
nearly all do, set no timer.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from sandbox_runtime.settings import Settings

HEADER_BYTES = 64 * 1024
LEAST_BODY_BYTES = 1024
RETRY_AFTER_S = 5
_REFUSED_LINGER_S = 1.0
"""How long a refused client has to send its request: closed with unread data, it would lose the answer."""


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    header_s: float = 15.0
    body_s: float = 60.0
    send_s: float = 60.0
    most: int = 8192
    most_per_address: int = 4096


def limits_of(settings: Settings) -> ConnectionLimits:
    return ConnectionLimits(
        header_s=settings.header_timeout_s,
        body_s=settings.body_timeout_s,
        send_s=settings.send_timeout_s,
        most=settings.max_connections,
        most_per_address=settings.max_connections_per_address,
    )


class BoundedProtocol(HttpToolsProtocol):
    def __init__(self, *args: Any, limits: ConnectionLimits | None = None, **named: Any) -> None:
        super().__init__(*args, **named)
        self._limits = limits or ConnectionLimits()
        self._refused = self._head_open = self._body_open = False
        self._head_bytes = self._body_bytes = 0
        self._head_timer: asyncio.TimerHandle | None = None
        self._body_timer: asyncio.TimerHandle | None = None
        self._send_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        if self._is_over_a_cap(transport):
            self._refuse_connection(transport)
            return
        super().connection_made(transport)
        self._await_header()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_timer = _stopped(self._head_timer)
        self._body_timer = _stopped(self._body_timer)
        self._send_timer = _stopped(self._send_timer)
        if not self._refused:
            super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._refused:
            self.transport.close()
            return
        was_open = self._body_open
        super().data_received(data)
        if was_open or self._body_open:
            self._body_bytes += len(data)
        if self._head_open:
            self._count_header(len(data))
        if self.transport.is_closing():
            return
        if self._body_open:
            self._await_body()
        elif self._head_open or not self._answering:
            self._await_header()

    def on_message_begin(self) -> None:
        self._head_open, self._head_bytes = True, 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._head_open, self._body_open, self._body_bytes = False, True, 0
        self._head_timer = _stopped(self._head_timer)
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._body_open = False
        self._body_timer = _stopped(self._body_timer)
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """The idle time begins: what came before it counts for no header."""
        super().on_response_complete()
        if not self._head_open:
            self._head_timer = _stopped(self._head_timer)

    def handle_websocket_upgrade(self) -> None:
        self._body_open = False
        self._head_timer, self._body_timer = _stopped(self._head_timer), _stopped(self._body_timer)
        super().handle_websocket_upgrade()

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._send_timer is None:
            self._send_timer = self.loop.call_later(self._limits.send_s, self.transport.abort)

    def resume_writing(self) -> None:
        self._send_timer = _stopped(self._send_timer)
        super().resume_writing()

    @property
    def _answering(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is not None and not cycle.response_complete

    def _is_over_a_cap(self, transport: asyncio.Transport) -> bool:
        """Connections that became WebSockets are counted as well: they are among those of the server."""
        if len(self.connections) >= self._limits.most:
            return True
        if len(self.connections) < self._limits.most_per_address:
            return False
        address = _address(transport.get_extra_info("peername"))
        shared = sum(_address(getattr(other, "client", None)) == address for other in self.connections)
        return address is not None and shared >= self._limits.most_per_address

    def _refuse_connection(self, transport: asyncio.Transport) -> None:
        self._refused, self.transport = True, transport
        text = b"the server holds as many connections as it may; try again later\n"
        head = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: %d\r\nconnection: close\r\n" % RETRY_AFTER_S
        transport.write(head + b"content-type: text/plain; charset=utf-8\r\ncontent-length: %d\r\n\r\n" % len(text) + text)
        self._head_timer = self.loop.call_later(_REFUSED_LINGER_S, transport.abort)

    def _count_header(self, size: int) -> None:
        self._head_bytes += size
        if self._head_bytes > HEADER_BYTES:
            self._refuse(f"The request's headers are longer than {HEADER_BYTES} bytes.")

    def _await_header(self) -> None:
        if self._head_timer is None:
            self._head_timer = self.loop.call_later(self._limits.header_s, self._header_is_late)

    def _header_is_late(self) -> None:
        """While an earlier request of the same connection is being answered, nothing may be written in between."""
        self._head_timer = None
        if self._answering:
            self._await_header()
        else:
            self._refuse(f"The request's headers did not arrive within {self._limits.header_s:g} s.")

    def _await_body(self) -> None:
        if self._body_timer is None:
            self._body_bytes = 0
            self._body_timer = self.loop.call_later(self._limits.body_s, self._body_is_due)

    def _body_is_due(self) -> None:
        self._body_timer = None
        if self.flow.read_paused or (self._body_bytes >= LEAST_BODY_BYTES and self._answering):
            self._await_body()
        elif self._answering and not self.cycle.response_started and not self.transport.is_closing():
            self._refuse(f"The request's body did not go on within {self._limits.body_s:g} s.")
        else:
            self.transport.abort()

    def _refuse(self, reason: str) -> None:
        if not self.transport.is_closing():
            self.send_400_response(reason)


def protocol_for(settings: Settings, protocol: type[BoundedProtocol] = BoundedProtocol) -> Any:
    """What uvicorn makes connections with: a class, as far as it can tell."""
    return partial(protocol, limits=limits_of(settings))


def _stopped(timer: asyncio.TimerHandle | None) -> asyncio.TimerHandle | None:
    if timer is not None:
        timer.cancel()
    return None


def _address(peer: object) -> str | None:
    """None for Unix sockets, whose peers have no address."""
    return str(peer[0]) if isinstance(peer, tuple) and peer else None
