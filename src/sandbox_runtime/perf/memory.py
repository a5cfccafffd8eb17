"""What boxes that stand ready weigh.

Boxes are opened through the port, as the pool opens them; the processes that came with them are theirs. Memory that a box shares
with the spawner it was forked from is divided among all who share it (PSS), so the figure falls with the number of boxes; `added`
is how much heavier all processes together became for each box.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from sandbox_runtime.errors import Unavailable
from sandbox_runtime.isolation.port import Backend
from sandbox_runtime.model import Policy
from sandbox_runtime.perf import processes

MANY = 16
_CALM_S = 0.3


@dataclass(frozen=True, slots=True)
class BoxMemory:
    boxes: int
    pss_bytes: int
    private_bytes: int
    added_bytes: int
    """Each for one box."""
    processes: int
    spawners_pss_bytes: int
    """All processes that stand ready to make boxes, while these boxes were open."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


async def weigh(backend: Backend, policy: Policy, boxes: int) -> BoxMemory:
    """The backend must have no other boxes meanwhile."""
    makers = processes.descendants(os.getpid())
    before = _weight(makers)
    opened = []
    try:
        for _ in range(boxes):
            opened.append(await backend.open(policy))
        await asyncio.sleep(_CALM_S)
        theirs = processes.descendants(os.getpid()) - makers
        own, after = _weight(theirs, beside=makers), _weight(makers)
    finally:
        await asyncio.gather(*(box.close() for box in opened))
    added = own.pss_bytes + after.pss_bytes - before.pss_bytes
    return BoxMemory(
        boxes, own.pss_bytes // boxes, own.private_bytes // boxes, added // boxes, len(theirs) // boxes, after.pss_bytes
    )


def _weight(pids: set[int], beside: Iterable[int] = ()) -> processes.Weight:
    try:
        return processes.weight_of_all(pids, beside)
    except PermissionError as error:
        raise Unavailable("the memory of boxes is closed to this user; root may look into it") from error
