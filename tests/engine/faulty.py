"""A real backend whose faults can be arranged: openings refused, boxes killed behind the engine's back."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Sequence
from typing import Any

from sandbox_runtime.errors import PlatformFault
from sandbox_runtime.isolation.port import Backend, BackendContext
from sandbox_runtime.model import LayerReport, Policy


class FaultyBackend:
    def __init__(self, real: BackendContext) -> None:
        self._real = real
        self._backend: Backend
        self.boxes: list[Any] = []
        self.failing = False
        self.refused = 0
        self.kill_next = 0
        self.open_delay_s = 0.0

    async def __aenter__(self) -> FaultyBackend:
        self._backend = await self._real.__aenter__()
        self.name = self._backend.name
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._real.__aexit__(*error)

    def layers(self) -> Sequence[LayerReport]:
        return self._backend.layers()

    @property
    def open_boxes(self) -> list[Any]:
        return [box for box in self.boxes if box.files_fd >= 0]

    async def open(self, policy: Policy) -> Any:
        await asyncio.sleep(self.open_delay_s)
        if self.failing:
            self.refused += 1
            raise PlatformFault("no boxes today")
        box = await self._backend.open(policy)
        self.boxes.append(box)
        if self.kill_next:
            self.kill_next -= 1
            kill(box)
        return box


def kill(box: Any) -> None:
    """Its first process dies, as from the machine's own out-of-memory killer."""
    signal.pidfd_send_signal(box.pidfd, signal.SIGKILL)
