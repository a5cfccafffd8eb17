"""The scenes of attacks: who runs where, and when, and what is looked at from outside."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType

from sandbox_runtime.doctor.attack_boxes import QUOTAS, Arena, ready_words
from sandbox_runtime.doctor.canaries import Canaries
from sandbox_runtime.doctor.corpus import Name
from sandbox_runtime.doctor.file_scenario import files
from sandbox_runtime.doctor.network_scenario import lab
from sandbox_runtime.errors import RequestError
from sandbox_runtime.isolation.port import Box
from sandbox_runtime.model import File
from sandbox_runtime.workspace import fetch, stage

OUTSIDE_TIMEOUT_S = 3.0
"""For one look at a box's files from outside; a healthy one takes milliseconds."""


async def alone(arena: Arena) -> None:
    await arena.run(await arena.open_box(), "program")


async def again(arena: Arena) -> None:
    box = await arena.open_box()
    first = await arena.run(box, "first")
    arena.tell(ready_words(first.stdout.text) or "")
    await arena.run(box, "second")


async def after(arena: Arena) -> None:
    box = await arena.open_box()
    first = await arena.run(box, "first")
    await box.close()
    arena.tell(ready_words(first.stdout.text) or "")
    await arena.run(await arena.open_box(), "second")


async def beside(arena: Arena) -> None:
    one, other = await arena.open_box(), await arena.open_box()
    first = await arena.start(one, "first")
    try:
        arena.tell(first.words)
        await arena.run(other, "second")
    finally:
        await first.end()


async def host(arena: Arena) -> None:
    with Canaries() as canaries:
        arena.facts.update(canaries.facts())
        await alone(arena)
        arena.evidence.breaches += canaries.harmed()


async def upload(arena: Arena) -> None:
    await _from_outside(arena, _put_in, arena.attack.uploads)


async def fetched(arena: Arena) -> None:
    await _from_outside(arena, _take_out, arena.attack.fetches)


_Look = Callable[[Arena, Box, Name, Canaries], None]


async def _from_outside(arena: Arena, look: _Look, names: tuple[Name, ...]) -> None:
    """The program prepares the box; then, or meanwhile, each name is written or read from outside."""
    with Canaries() as canaries:
        arena.facts.update(canaries.facts())
        box = await arena.open_box()
        waiting = None
        if arena.attack.alongside:
            waiting = await arena.start(box, "program")
        elif "program" in arena.attack.programs:
            await arena.run(box, "program")
        try:
            await _look_at_all(arena, look, box, names, canaries)
        finally:
            if waiting is not None:
                await waiting.end()
        arena.evidence.breaches += canaries.harmed()


async def _look_at_all(arena: Arena, look: _Look, box: Box, names: tuple[Name, ...], canaries: Canaries) -> None:
    for name in names * arena.attack.rounds:
        try:
            await asyncio.wait_for(asyncio.to_thread(look, arena, box, name, canaries), OUTSIDE_TIMEOUT_S)
        except TimeoutError:
            arena.evidence.breaches.append(f"the name {name.name!r} made the host wait")
            return


def _put_in(arena: Arena, box: Box, name: Name, canaries: Canaries) -> None:
    evidence, shown = arena.evidence, repr(name.name[:40])
    try:
        stage(box, [File(name.name, name.content.encode())])
    except RequestError:
        if not name.refused and not arena.attack.alongside:
            evidence.doubts.append(f"the harmless name {shown} was refused")
        return _remark(arena, "refused what leads out")
    if name.refused:
        evidence.breaches.append(f"the name {shown} was accepted")
        return None
    back = fetch(box, [name.name], QUOTAS).files
    if not arena.attack.alongside and (not back or back[0].content != name.content.encode()):
        evidence.breaches.append(f"{shown} did not land where its name says")
    return _remark(arena, "what was accepted landed inside")


def _take_out(arena: Arena, box: Box, name: Name, canaries: Canaries) -> None:
    evidence, shown = arena.evidence, repr(name.name[:40])
    try:
        found = fetch(box, [name.name], QUOTAS).files
    except RequestError:
        if not name.refused:
            evidence.doubts.append(f"the harmless name {shown} was refused")
        return _remark(arena, "refused what leads out")
    content = found[0].content.decode(errors="replace") if found else ""
    if name.refused:
        evidence.breaches.append(f"the name {shown} was accepted")
    elif canaries.secret in content:
        evidence.breaches.append(f"a secret of the host came out as {shown}")
    elif not arena.attack.alongside and content != name.content:
        evidence.breaches.append(f"{content[:40]!r} came out as {shown}")
    return _remark(arena, "only what lies inside came out")


def _remark(arena: Arena, text: str) -> None:
    if text not in arena.evidence.remarks:
        arena.evidence.remarks.append(text)


SCENE: Mapping[str, Callable[[Arena], Awaitable[None]]] = MappingProxyType(
    {
        "alone": alone,
        "again": again,
        "after": after,
        "beside": beside,
        "host": host,
        "upload": upload,
        "fetch": fetched,
        "files": files,
        "lab": lab,
    }
)
