"""Connections of clients that are slow on purpose: bounds on what the web server itself would wait for without end.

The head of a request must arrive within head_within_s and head_bytes; an answer must be taken within taken_within_s once the
client stopped reading. Requests that arrive in one piece, as nearly all do, set no timer. Bodies are bounded where they are read.
"""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle


class BoundedProtocol(HttpToolsProtocol):
    head_within_s = 20.0
    head_bytes = 64 * 1024
    taken_within_s = 60.0

    _head_open = False
    _head_bytes = 0
    _head_timer: asyncio.TimerHandle | None = None
    _taking_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._head_timer = self.loop.call_later(self.head_within_s, self._too_slow)

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_arrived()
        self.resume_writing()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if not self._head_open:
            return
        self._head_bytes += len(data)
        if self._head_bytes > self.head_bytes:
            self._refuse(f"The request's headers are longer than {self.head_bytes} bytes.")
        elif self._head_timer is None:
            self._head_timer = self.loop.call_later(self.head_within_s, self._too_slow)

    def on_message_begin(self) -> None:
        self._head_open, self._head_bytes = True, 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._head_open = False
        self._head_arrived()
        super().on_headers_complete()

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._taking_timer is None:
            self._taking_timer = self.loop.call_later(self.taken_within_s, self.transport.abort)

    def resume_writing(self) -> None:
        if self._taking_timer is not None:
            self._taking_timer.cancel()
            self._taking_timer = None
        super().resume_writing()

    @property
    def _answering(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is not None and not cycle.response_complete

    def _head_arrived(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _too_slow(self) -> None:
        """While an earlier request of the same connection is being answered, nothing may be written in between."""
        if self._answering:
            self._head_timer = self.loop.call_later(self.head_within_s, self._too_slow)
        else:
            self._refuse(f"The request's headers did not arrive within {self.head_within_s:g} s.")

    def _refuse(self, reason: str) -> None:
        if not self.transport.is_closing():
            self.send_400_response(reason)
