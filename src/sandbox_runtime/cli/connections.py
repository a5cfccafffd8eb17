"""HTTP connections with timeouts and limits that uvicorn does not have.

A connection is always in one of four states, and only one of them has no timeout:

    header    from connecting, or from the first byte after a response, to the end of the headers: header_s in total
    body      until the request ends: at least MIN_BODY_BYTES per body_s, while the server reads
    response  unlimited, so that streams are possible; the client must receive written data within send_s
    idle      between requests: keep_alive_s (uvicorn's own timer)

A connection over a limit gets 503 and is closed before its data is parsed. Requests that arrive in one piece, as nearly all do,
start no timer.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from sandbox_runtime.settings import Settings

HEADER_BYTES = 64 * 1024
MIN_BODY_BYTES = 1024
RETRY_AFTER_S = 5
_REFUSED_LINGER_S = 1.0
"""How long a refused client may take to send its request: closing with unread data would discard the response."""


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    header_s: float = 15.0
    body_s: float = 60.0
    send_s: float = 60.0
    max_connections: int = 8192
    max_per_address: int = 4096


def connection_limits(settings: Settings) -> ConnectionLimits:
    return ConnectionLimits(
        header_s=settings.header_timeout_s,
        body_s=settings.body_timeout_s,
        send_s=settings.send_timeout_s,
        max_connections=settings.max_connections,
        max_per_address=settings.max_connections_per_address,
    )


class BoundedProtocol(HttpToolsProtocol):
    def __init__(self, *args: Any, limits: ConnectionLimits | None = None, **options: Any) -> None:
        super().__init__(*args, **options)
        self._limits = limits or ConnectionLimits()
        self._refused = self._head_open = self._body_open = False
        self._head_bytes = self._body_bytes = 0
        self._head_timer: asyncio.TimerHandle | None = None
        self._body_timer: asyncio.TimerHandle | None = None
        self._send_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        if self._exceeds_limit(transport):
            self._refuse_connection(transport)
            return
        super().connection_made(transport)
        self._await_header()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_timer = _cancel(self._head_timer)
        self._body_timer = _cancel(self._body_timer)
        self._send_timer = _cancel(self._send_timer)
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
        elif self._head_open or not self._is_responding:
            self._await_header()

    def on_message_begin(self) -> None:
        self._head_open, self._head_bytes = True, 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._head_open, self._body_open, self._body_bytes = False, True, 0
        self._head_timer = _cancel(self._head_timer)
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._body_open = False
        self._body_timer = _cancel(self._body_timer)
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Start the idle time. The header timer restarts with the next request."""
        super().on_response_complete()
        if not self._head_open:
            self._head_timer = _cancel(self._head_timer)

    def handle_websocket_upgrade(self) -> None:
        self._body_open = False
        self._head_timer, self._body_timer = _cancel(self._head_timer), _cancel(self._body_timer)
        super().handle_websocket_upgrade()

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._send_timer is None:
            self._send_timer = self.loop.call_later(self._limits.send_s, self.transport.abort)

    def resume_writing(self) -> None:
        self._send_timer = _cancel(self._send_timer)
        super().resume_writing()

    @property
    def _is_responding(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is not None and not cycle.response_complete

    def _exceeds_limit(self, transport: asyncio.Transport) -> bool:
        """Connections upgraded to WebSocket count too."""
        if len(self.connections) >= self._limits.max_connections:
            return True
        if len(self.connections) < self._limits.max_per_address:
            return False
        address = _address(transport.get_extra_info("peername"))
        shared = sum(_address(getattr(other, "client", None)) == address for other in self.connections)
        return address is not None and shared >= self._limits.max_per_address

    def _refuse_connection(self, transport: asyncio.Transport) -> None:
        self._refused, self.transport = True, transport
        text = b"the server has reached its connection limit; try again later\n"
        head = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: %d\r\nconnection: close\r\n" % RETRY_AFTER_S
        transport.write(head + b"content-type: text/plain; charset=utf-8\r\ncontent-length: %d\r\n\r\n" % len(text) + text)
        self._head_timer = self.loop.call_later(_REFUSED_LINGER_S, transport.abort)

    def _count_header(self, size: int) -> None:
        self._head_bytes += size
        if self._head_bytes > HEADER_BYTES:
            self._refuse(f"The request's headers are longer than {HEADER_BYTES} bytes.")

    def _await_header(self) -> None:
        if self._head_timer is None:
            self._head_timer = self.loop.call_later(self._limits.header_s, self._on_header_timeout)

    def _on_header_timeout(self) -> None:
        """While an earlier request of the connection is answered, nothing may be written in between, so wait again."""
        self._head_timer = None
        if self._is_responding:
            self._await_header()
        else:
            self._refuse(f"The request's headers did not arrive within {self._limits.header_s:g} s.")

    def _await_body(self) -> None:
        if self._body_timer is None:
            self._body_bytes = 0
            self._body_timer = self.loop.call_later(self._limits.body_s, self._on_body_timeout)

    def _on_body_timeout(self) -> None:
        self._body_timer = None
        if self.flow.read_paused or (self._body_bytes >= MIN_BODY_BYTES and self._is_responding):
            self._await_body()
        elif self._is_responding and not self.cycle.response_started and not self.transport.is_closing():
            self._refuse(f"The request's body did not continue within {self._limits.body_s:g} s.")
        else:
            self.transport.abort()

    def _refuse(self, reason: str) -> None:
        if not self.transport.is_closing():
            self.send_400_response(reason)


def protocol_for(settings: Settings, protocol: type[BoundedProtocol] = BoundedProtocol) -> Any:
    """Return the connection factory for uvicorn."""
    return partial(protocol, limits=connection_limits(settings))


def _cancel(timer: asyncio.TimerHandle | None) -> asyncio.TimerHandle | None:
    if timer is not None:
        timer.cancel()
    return None


def _address(peer: object) -> str | None:
    """Return the peer's address; None for Unix sockets."""
    return str(peer[0]) if isinstance(peer, tuple) and peer else None
