"""The scenario `files`: steps applied to the files of a box from outside, as the server does for its callers."""

from __future__ import annotations

import asyncio
import contextlib
import os
import tempfile
from collections.abc import AsyncIterable, Awaitable, Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from sandbox_runtime.doctor.attack_boxes import AttackRun, BackgroundProgram
from sandbox_runtime.doctor.canaries import Canaries
from sandbox_runtime.doctor.file_steps import Step, build_archive
from sandbox_runtime.errors import RequestError, SandboxError
from sandbox_runtime.isolation.port import Box
from sandbox_runtime.model.limits import MIB
from sandbox_runtime.workspace import ArchiveBounds, FileBounds, Format, SessionFiles, Snapshots, StorageOptions, open_storage

STEP_TIMEOUT_S = 15.0
"""For one step. A normal one takes milliseconds; the largest archive of the corpus takes a second on a busy machine."""
BOUNDS = FileBounds(
    max_file_bytes=8 * MIB, max_read_bytes=MIB, max_listed=2000, archives=ArchiveBounds(max_members=2000, max_bytes=32 * MIB)
)
_MAX_ANSWER_BYTES = 64 * MIB
_BLOCK_BYTES = 512


async def run_files(attack_run: AttackRun) -> None:
    with Canaries() as canaries, tempfile.TemporaryDirectory(prefix="sandbox-doctor-") as folder:
        attack_run.facts.update(canaries.facts())
        box = await attack_run.open_box()
        async with open_storage(StorageOptions(folder)) as storage:
            steps = FileSteps(attack_run, box, canaries, Snapshots(storage, "attack", [box.workdir]), folder)
            await _with_program(attack_run, box, steps)
        if "second" in attack_run.attack.programs:
            await attack_run.run_program(steps.filled, "second")
        attack_run.evidence.breaches += canaries.harmed()


async def _with_program(attack_run: AttackRun, box: Box, steps: FileSteps) -> None:
    background: BackgroundProgram | None = None
    if attack_run.attack.alongside:
        background = await attack_run.start_program(box, "program")
    elif "program" in attack_run.attack.programs:
        await attack_run.run_program(box, "program")
    try:
        for step in attack_run.attack.steps * attack_run.attack.rounds:
            await steps.do(step)
    finally:
        if background is not None:
            await background.end()


class FileSteps:
    """filled: the last box that a step filled; initially the program's box."""

    def __init__(self, attack_run: AttackRun, box: Box, canaries: Canaries, snapshots: Snapshots, folder: str) -> None:
        self._run = attack_run
        self._box = box
        self._canaries = canaries
        self._snapshots = snapshots
        self._folder = folder
        self._files = SessionFiles(box, BOUNDS, folder)
        self.filled = box

    async def do(self, step: Step) -> None:
        evidence = self._run.evidence
        try:
            answer = await asyncio.wait_for(_ACTIONS[step.do](self, step), STEP_TIMEOUT_S)
        except TimeoutError:
            evidence.breaches.append(f"{step.do} of {step.name!r} blocked the host")
        except RequestError as error:
            self._refused(step, error)
        except SandboxError as error:
            if not self._run.attack.alongside:
                evidence.doubts.append(f"{step.do} of {step.name!r} failed: {error}")
        else:
            self._answered(step, answer)
        self._check_size(step)

    def _refused(self, step: Step, error: RequestError) -> None:
        if not (step.refused or step.refusable or self._run.attack.alongside):
            self._run.evidence.doubts.append(f"{step.do} of {step.name!r} was refused: {error}")
        self._remark(f"{step.do} refused invalid input")

    def _answered(self, step: Step, answer: bytes) -> None:
        evidence = self._run.evidence
        if step.refused:
            evidence.breaches.append(f"{step.do} of {step.name!r} was accepted")
        elif self._canaries.secret.encode() in answer:
            evidence.breaches.append(f"{step.do} of {step.name!r} returned a secret of the host")
        elif step.max_bytes is not None and step.do in ("archive", "download", "read") and len(answer) > step.max_bytes:
            evidence.breaches.append(f"{step.do} of {step.name!r} returned {len(answer)} bytes, more than {step.max_bytes}")
        elif step.content and step.do in ("read", "download") and answer != step.content.encode():
            evidence.breaches.append(f"{step.do} of {step.name!r} returned {answer[:40]!r}")
        self._remark(f"{step.do} stayed inside")

    def _check_size(self, step: Step) -> None:
        if step.max_bytes is None or step.do not in ("save", "restore", "copy", "unpack"):
            return
        used = real_bytes(self._folder) if step.do == "save" else _used_bytes(self.filled)
        if used > step.max_bytes:
            self._run.evidence.breaches.append(f"{step.do} used {used} bytes on the host, more than {step.max_bytes}")

    def _remark(self, text: str) -> None:
        if text not in self._run.evidence.remarks:
            self._run.evidence.remarks.append(text)

    async def list(self, step: Step) -> bytes:
        listing = await self._files.list(step.name, recursive=True)
        return "\n".join(entry.name for entry in listing.entries).encode()

    async def read(self, step: Step) -> bytes:
        return (await self._files.read(step.name)).content

    async def download(self, step: Step) -> bytes:
        async with self._files.open(step.name) as opened:
            return await _joined(opened.chunks())

    async def archive(self, step: Step) -> bytes:
        return await _joined(self._files.archive(step.name, Format(step.form)))

    async def unpack(self, step: Step) -> bytes:
        await self._files.unpack(build_archive(step), step.name)
        return b""

    async def upload(self, step: Step) -> bytes:
        await self._files.write(step.name, step.content.encode())
        return b""

    async def delete(self, step: Step) -> bytes:
        await self._files.delete(step.name, recursive=True)
        return b""

    async def move(self, step: Step) -> bytes:
        await self._files.move(step.name, step.target, replace=True)
        return b""

    async def save(self, step: Step) -> bytes:
        await self._snapshots.save(self._box)
        return b"".join(path.read_bytes() for path in Path(self._folder).rglob("*") if path.is_file() and _is_small(path))

    async def restore(self, step: Step) -> bytes:
        self.filled = await self._run.open_box()
        await self._snapshots.restore(self.filled)
        return b""

    async def copy(self, step: Step) -> bytes:
        self.filled = await self._run.open_box()
        await self._files.copy_to(SessionFiles(self.filled, BOUNDS, self._folder))
        return b""


_ACTIONS: Mapping[str, Callable[[FileSteps, Step], Awaitable[bytes]]] = MappingProxyType(
    {
        "list": FileSteps.list,
        "read": FileSteps.read,
        "download": FileSteps.download,
        "archive": FileSteps.archive,
        "unpack": FileSteps.unpack,
        "upload": FileSteps.upload,
        "delete": FileSteps.delete,
        "move": FileSteps.move,
        "save": FileSteps.save,
        "restore": FileSteps.restore,
        "copy": FileSteps.copy,
    }
)


def real_bytes(folder: str) -> int:
    """Return the disk space used by the files of a folder; holes use none."""
    total = 0
    for path in Path(folder).rglob("*"):
        with contextlib.suppress(OSError):
            total += path.lstat().st_blocks * _BLOCK_BYTES
    return total


def _used_bytes(box: Box) -> int:
    """Return the space used in the area of a box, which is its own file system."""
    area = os.fstatvfs(box.files_fd)
    return (area.f_blocks - area.f_bfree) * area.f_frsize


def _is_small(path: Path) -> bool:
    return path.stat().st_size <= MIB


async def _joined(pieces: AsyncIterable[bytes]) -> bytes:
    """Join the pieces, up to a size that no attack of the corpus may reach."""
    joined = bytearray()
    async for piece in pieces:
        joined += piece
        if len(joined) > _MAX_ANSWER_BYTES:
            break
    return bytes(joined)
