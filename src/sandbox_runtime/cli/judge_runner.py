"""What `sandbox judge` does: read completions, have them judged with a bar that shows how far it is, keep the results."""

from __future__ import annotations

import contextlib
import gzip
import json
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.settings import Settings


@dataclass(frozen=True, slots=True)
class Asked:
    dataset: str
    config: dict[str, Any]
    parallel: int
    limit: int | None
    results: Path | None


@dataclass(frozen=True, slots=True)
class Judged:
    """results: as the file of results has them. skipped: rows without a reference solution, with the reason."""

    results: list[dict[str, Any]] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)


# What is judged.


def read_completions(name: str, samples: int | None, limit: int | None) -> list[dict[str, Any]]:
    """As many of each problem as were asked for. Raises InvalidRequest, with the line that is wrong."""
    from sandbox_runtime.judge.batches import read_line

    seen: Counter[Any] = Counter()
    found: list[dict[str, Any]] = []
    for number, told in enumerate(_objects(name)):
        if "task_id" in told and "id" not in told:
            told["id"] = told.pop("task_id")
        line: dict[str, Any] = {key: told[key] for key in ("id", "completion", "sample", "config") if key in told}
        called = read_line(json.dumps(line).encode(), number).id
        seen[called] += 1
        if samples is None or seen[called] <= samples:
            found.append(line)
        if limit is not None and len(found) >= limit:
            break
    few = sum(count < samples for count in seen.values()) if samples and limit is None else 0
    if few:
        print(f"sandbox: {few} of {len(seen)} problems have fewer than {samples} completions", file=sys.stderr)
    return found


def _objects(name: str) -> Iterator[dict[str, Any]]:
    try:
        with contextlib.ExitStack() as stack:
            file: IO[bytes] = sys.stdin.buffer if name == "-" else stack.enter_context(_opened(Path(name)))
            for number, line in enumerate(file):
                if line.strip():
                    yield _object(line, number)
    except (OSError, EOFError) as error:
        raise InvalidRequest(f"{name} cannot be read: {error}") from error


def _opened(path: Path) -> IO[bytes]:
    opened: Any = gzip.open(path, "rb") if path.suffix == ".gz" else open(path, "rb")  # noqa: SIM115 - the caller closes it
    return opened  # type: ignore[no-any-return]


def _object(line: bytes, number: int) -> dict[str, Any]:
    try:
        told = json.loads(line)
    except ValueError as error:
        raise InvalidRequest(f"line {number + 1} is no JSON: {error}") from error
    if not isinstance(told, dict):
        raise InvalidRequest(f"line {number + 1} must be an object with id and completion")
    return told


# Who judges it.


async def judged_here(settings: Settings, asked: Asked, completions: Iterable[Mapping[str, Any]]) -> Judged:
    from sandbox_runtime.assembly import open_platform
    from sandbox_runtime.judge.batches import BatchLine, judge_lines, make_line_judge

    lines = [(number, BatchLine(**one)) for number, one in enumerate(completions)]
    found = Judged()
    async with open_platform(settings, prewarm=True) as platform:
        platform.judge.dataset(asked.dataset, asked.config.get("dataset_type"))
        with _shown(asked, len(lines), found) as keep:
            async for result in judge_lines(make_line_judge(platform.judge), asked.dataset, asked.config, lines, asked.parallel):
                keep(json.loads(result.text))
    return found


async def self_checked(settings: Settings, asked: Asked) -> Judged:
    from sandbox_runtime.assembly import open_platform
    from sandbox_runtime.judge.batches import judge_lines

    found = Judged()
    async with open_platform(settings, prewarm=True) as platform, _references(platform.judge, asked) as (lines, judging):
        for name, reason in lines.skipped.items():
            found.skipped[name] = reason
        with _shown(asked, len(lines.found), found) as keep:
            async for result in judge_lines(judging, asked.dataset, asked.config, lines.found, asked.parallel):
                keep(json.loads(result.text))
    return found


@dataclass(slots=True)
class _Lines:
    found: list[Any] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)


@asynccontextmanager
async def _references(judge: Any, asked: Asked) -> AsyncIterator[tuple[_Lines, Any]]:
    """The reference solutions as lines, and what judges them under the options that each brings along."""
    from sandbox_runtime.judge.batches import BatchLine, read_config
    from sandbox_runtime.judge.judge import MAX_ROWS
    from sandbox_runtime.judge.metrics import groups_of
    from sandbox_runtime.judge.self_check import NoReference, Reference, references

    dataset = judge.dataset(asked.dataset, asked.config.get("dataset_type"))
    options = read_config(asked.dataset, asked.config).options
    lines, kept = _Lines(), dict[int, Reference]()
    async for one in references(judge, dataset, options, asked.limit or MAX_ROWS):
        if isinstance(one, NoReference):
            lines.skipped[one.called] = one.reason
            continue
        number = len(lines.found)
        kept[number] = one
        lines.found.append((number, BatchLine(one.called, one.completion, number)))

    async def judging(line: Any, _config: Any) -> Any:
        one = kept[line.sample]
        trial = await judge.trial(dataset, one.row, one.completion, one.options)
        return await judge.judge(trial, dataset.id), groups_of(one.row, one.options.language)

    yield lines, judging


def judged_by_server(url: str, asked: Asked, completions: list[dict[str, Any]], key: str) -> Judged:
    """Whoever interrupts us stops the batch, unless it has a key to be found by."""
    from sandbox_runtime.sdk import SyncSandboxClient

    found = Judged()
    with SyncSandboxClient(url, max_attempts=3) as client:
        batch = client.create_batch(asked.dataset, completions, config=asked.config, idempotency_key=key)
        try:
            with _shown(asked, batch.total, found) as keep:
                for result in client.batch_results(batch.id, follow=True):
                    keep(result)
        except KeyboardInterrupt:
            if not key:
                client.cancel_batch(batch.id)
            raise
    return found


# How far it is.


@contextlib.contextmanager
def _shown(asked: Asked, total: int, found: Judged) -> Iterator[Any]:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with contextlib.ExitStack() as stack:
        file = stack.enter_context(_created(asked.results)) if asked.results else None
        progress = stack.enter_context(Progress(*columns, console=Console(stderr=True), transient=True))
        task: TaskID = progress.add_task(asked.dataset, total=total)

        def keep(result: dict[str, Any]) -> None:
            found.results.append(result)
            if file:
                file.write(json.dumps(result, ensure_ascii=False) + "\n")
                file.flush()
            accepted = sum(1 for one in found.results if one["accepted"])
            progress.update(task, advance=1, description=f"{asked.dataset}: {accepted} accepted")

        yield keep


def _created(path: Path) -> IO[str]:
    try:
        return open(path, "w", encoding="utf-8", errors="replace")
    except OSError as error:
        raise InvalidRequest(f"{path} cannot be written: {error.strerror}") from error
