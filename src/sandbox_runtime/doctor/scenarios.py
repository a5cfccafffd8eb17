"""The scenarios of attacks: which program runs where and when, and what is checked from outside."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType

from sandbox_runtime.doctor.attack_boxes import QUOTAS, AttackRun, parse_ready_line
from sandbox_runtime.doctor.canaries import Canaries
from sandbox_runtime.doctor.corpus import Name
from sandbox_runtime.doctor.file_scenario import run_files
from sandbox_runtime.doctor.network_scenario import run_lab
from sandbox_runtime.errors import RequestError
from sandbox_runtime.isolation.port import Box
from sandbox_runtime.model import File
from sandbox_runtime.workspace import fetch, stage

OUTSIDE_TIMEOUT_S = 3.0
"""For one access to a box's files from outside; a normal one takes milliseconds."""


async def run_alone(attack_run: AttackRun) -> None:
    await attack_run.run_program(await attack_run.open_box(), "program")


async def run_again(attack_run: AttackRun) -> None:
    box = await attack_run.open_box()
    first = await attack_run.run_program(box, "first")
    attack_run.pass_to_second(parse_ready_line(first.stdout.text) or "")
    await attack_run.run_program(box, "second")


async def run_after(attack_run: AttackRun) -> None:
    box = await attack_run.open_box()
    first = await attack_run.run_program(box, "first")
    await box.close()
    attack_run.pass_to_second(parse_ready_line(first.stdout.text) or "")
    await attack_run.run_program(await attack_run.open_box(), "second")


async def run_beside(attack_run: AttackRun) -> None:
    first_box, second_box = await attack_run.open_box(), await attack_run.open_box()
    first = await attack_run.start_program(first_box, "first")
    try:
        attack_run.pass_to_second(first.ready_text)
        await attack_run.run_program(second_box, "second")
    finally:
        await first.end()


async def run_with_canaries(attack_run: AttackRun) -> None:
    with Canaries() as canaries:
        attack_run.facts.update(canaries.facts())
        await run_alone(attack_run)
        attack_run.evidence.breaches += canaries.harmed()


async def run_upload(attack_run: AttackRun) -> None:
    await _check_from_outside(attack_run, _check_upload, attack_run.attack.uploads)


async def run_fetch(attack_run: AttackRun) -> None:
    await _check_from_outside(attack_run, _check_fetch, attack_run.attack.fetches)


_FileCheck = Callable[[AttackRun, Box, Name, Canaries], None]


async def _check_from_outside(attack_run: AttackRun, check: _FileCheck, names: tuple[Name, ...]) -> None:
    """Let the program prepare the box; then, or meanwhile, write or read each name from outside."""
    with Canaries() as canaries:
        attack_run.facts.update(canaries.facts())
        box = await attack_run.open_box()
        background = None
        if attack_run.attack.alongside:
            background = await attack_run.start_program(box, "program")
        elif "program" in attack_run.attack.programs:
            await attack_run.run_program(box, "program")
        try:
            await _check_all(attack_run, check, box, names, canaries)
        finally:
            if background is not None:
                await background.end()
        attack_run.evidence.breaches += canaries.harmed()


async def _check_all(attack_run: AttackRun, check: _FileCheck, box: Box, names: tuple[Name, ...], canaries: Canaries) -> None:
    for name in names * attack_run.attack.rounds:
        try:
            await asyncio.wait_for(asyncio.to_thread(check, attack_run, box, name, canaries), OUTSIDE_TIMEOUT_S)
        except TimeoutError:
            attack_run.evidence.breaches.append(f"the name {name.name!r} blocked the host")
            return


def _check_upload(attack_run: AttackRun, box: Box, name: Name, canaries: Canaries) -> None:
    evidence, shown = attack_run.evidence, repr(name.name[:40])
    try:
        stage(box, [File(name.name, name.content.encode())])
    except RequestError:
        if not name.refused and not attack_run.attack.alongside:
            evidence.doubts.append(f"the harmless name {shown} was refused")
        return _remark(attack_run, "paths that lead out were refused")
    if name.refused:
        evidence.breaches.append(f"the name {shown} was accepted")
        return None
    back = fetch(box, [name.name], QUOTAS).files
    if not attack_run.attack.alongside and (not back or back[0].content != name.content.encode()):
        evidence.breaches.append(f"{shown} was not written where its name says")
    return _remark(attack_run, "accepted files landed inside")


def _check_fetch(attack_run: AttackRun, box: Box, name: Name, canaries: Canaries) -> None:
    evidence, shown = attack_run.evidence, repr(name.name[:40])
    try:
        files = fetch(box, [name.name], QUOTAS).files
    except RequestError:
        if not name.refused:
            evidence.doubts.append(f"the harmless name {shown} was refused")
        return _remark(attack_run, "paths that lead out were refused")
    content = files[0].content.decode(errors="replace") if files else ""
    if name.refused:
        evidence.breaches.append(f"the name {shown} was accepted")
    elif canaries.secret in content:
        evidence.breaches.append(f"reading {shown} returned a secret of the host")
    elif not attack_run.attack.alongside and content != name.content:
        evidence.breaches.append(f"reading {shown} returned {content[:40]!r}")
    return _remark(attack_run, "only files inside were read")


def _remark(attack_run: AttackRun, text: str) -> None:
    if text not in attack_run.evidence.remarks:
        attack_run.evidence.remarks.append(text)


SCENARIO_RUNNERS: Mapping[str, Callable[[AttackRun], Awaitable[None]]] = MappingProxyType(
    {
        "alone": run_alone,
        "again": run_again,
        "after": run_after,
        "beside": run_beside,
        "host": run_with_canaries,
        "upload": run_upload,
        "fetch": run_fetch,
        "files": run_files,
        "lab": run_lab,
    }
)
