"""The work of `sandbox judge`: read completions, judge them with a progress bar, record the results."""

from __future__ import annotations

import contextlib
import gzip
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.settings import Settings


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    dataset: str
    config: dict[str, Any]
    parallel: int
    limit: int | None
    results: Path | None


@dataclass(frozen=True, slots=True)
class JudgeRun:
    results: list[dict[str, Any]] = field(default_factory=list)
    """As in the results file."""
    skipped: dict[str, str] = field(default_factory=dict)
    """Rows without a reference solution, with the reason."""


# Input.


def read_completions(name: str, samples: int | None, limit: int | None) -> list[dict[str, Any]]:
    """Return up to `samples` completions per problem. Raises InvalidRequest with the number of an invalid line."""
    from sandbox_runtime.judge.batches import read_line

    seen: Counter[Any] = Counter()
    completions: list[dict[str, Any]] = []
    for number, row in enumerate(_read_objects(name)):
        if "task_id" in row and "id" not in row:
            row["id"] = row.pop("task_id")
        line: dict[str, Any] = {key: row[key] for key in ("id", "completion", "sample", "config") if key in row}
        problem = read_line(json.dumps(line).encode(), number).id
        seen[problem] += 1
        if samples is None or seen[problem] <= samples:
            completions.append(line)
        if limit is not None and len(completions) >= limit:
            break
    few = sum(count < samples for count in seen.values()) if samples and limit is None else 0
    if few:
        print(f"sandbox: {few} of {len(seen)} problems have fewer than {samples} completions", file=sys.stderr)
    return completions


def _read_objects(name: str) -> Iterator[dict[str, Any]]:
    try:
        with contextlib.ExitStack() as stack:
            file: IO[bytes] = sys.stdin.buffer if name == "-" else stack.enter_context(_open_file(Path(name)))
            for number, line in enumerate(file):
                if line.strip():
                    yield _parse_object(line, number)
    except (OSError, EOFError) as error:
        raise InvalidRequest(f"cannot read {name}: {error}") from error


def _open_file(path: Path) -> IO[bytes]:
    file: Any = gzip.open(path, "rb") if path.suffix == ".gz" else open(path, "rb")  # noqa: SIM115 - the caller closes it
    return file  # type: ignore[no-any-return]


def _parse_object(line: bytes, number: int) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise InvalidRequest(f"line {number + 1} is not valid JSON: {error}") from error
    if not isinstance(row, dict):
        raise InvalidRequest(f"line {number + 1} must be an object with id and completion")
    return row


# Judging.


async def judge_locally(settings: Settings, options: JudgeOptions, completions: Iterable[Mapping[str, Any]]) -> JudgeRun:
    from sandbox_runtime.assembly import open_platform
    from sandbox_runtime.judge.batches import BatchLine, judge_lines, make_line_judge

    lines = [(number, BatchLine(**completion)) for number, completion in enumerate(completions)]
    run = JudgeRun()
    async with open_platform(settings, prewarm=True) as platform:
        platform.judge.dataset(options.dataset, options.config.get("dataset_type"))
        with _record(options, len(lines), run) as add_result:
            async for result in judge_lines(
                make_line_judge(platform.judge), options.dataset, options.config, lines, options.parallel
            ):
                add_result(json.loads(result.json_line))
    return run


async def self_check(settings: Settings, options: JudgeOptions) -> JudgeRun:
    """Judge the dataset's reference solutions."""
    from sandbox_runtime.assembly import open_platform
    from sandbox_runtime.judge.batches import judge_lines

    async with open_platform(settings, prewarm=True) as platform:
        references = await _read_references(platform.judge, options)
        run = JudgeRun(skipped=references.skipped)
        judge_line = partial(_judge_reference, platform.judge, references)
        with _record(options, len(references.lines), run) as add_result:
            async for result in judge_lines(judge_line, options.dataset, options.config, references.lines, options.parallel):
                add_result(json.loads(result.json_line))
    return run


@dataclass(slots=True)
class _References:
    dataset: Any
    lines: list[Any] = field(default_factory=list)
    """Reference solutions as numbered lines of a batch; a line's sample is its number."""
    solutions: list[Any] = field(default_factory=list)
    """The references themselves, by number. Each has its own options."""
    skipped: dict[str, str] = field(default_factory=dict)


async def _read_references(judge: Any, options: JudgeOptions) -> _References:
    from sandbox_runtime.judge.batches import BatchLine, read_config
    from sandbox_runtime.judge.judge import MAX_ROWS
    from sandbox_runtime.judge.self_check import NoReference
    from sandbox_runtime.judge.self_check import references as read_references

    references = _References(judge.dataset(options.dataset, options.config.get("dataset_type")))
    config = read_config(options.dataset, options.config).options
    async for reference in read_references(judge, references.dataset, config, options.limit or MAX_ROWS):
        if isinstance(reference, NoReference):
            references.skipped[reference.row_id] = reference.reason
            continue
        number = len(references.lines)
        references.solutions.append(reference)
        references.lines.append((number, BatchLine(reference.row_id, reference.completion, number)))
    return references


async def _judge_reference(judge: Any, references: _References, line: Any, _config: Any) -> Any:
    from sandbox_runtime.judge.metrics import groups_of

    reference = references.solutions[line.sample]
    trial = await judge.trial(references.dataset, reference.row, reference.completion, reference.options)
    return await judge.judge(trial, references.dataset.id), groups_of(reference.row, reference.options.language)


def judge_remotely(url: str, options: JudgeOptions, completions: list[dict[str, Any]], key: str) -> JudgeRun:
    """Have a server judge them. Ctrl-C cancels the batch, unless `key` can find it again."""
    from sandbox_runtime.sdk import SyncSandboxClient

    run = JudgeRun()
    with SyncSandboxClient(url, max_attempts=3) as client:
        batch = client.create_batch(options.dataset, completions, config=options.config, idempotency_key=key)
        try:
            with _record(options, batch.total, run) as add_result:
                for result in client.batch_results(batch.id, follow=True):
                    add_result(result)
        except KeyboardInterrupt:
            if not key:
                client.cancel_batch(batch.id)
            raise
    return run


# Progress and results.


@contextlib.contextmanager
def _record(options: JudgeOptions, total: int, run: JudgeRun) -> Iterator[Any]:
    """Yield a function that adds a result to `run` and to the results file, and advances the progress bar."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with contextlib.ExitStack() as stack:
        file = stack.enter_context(_create_file(options.results)) if options.results else None
        progress = stack.enter_context(Progress(*columns, console=Console(stderr=True), transient=True))
        task: TaskID = progress.add_task(options.dataset, total=total)

        def add_result(result: dict[str, Any]) -> None:
            run.results.append(result)
            if file:
                file.write(json.dumps(result, ensure_ascii=False) + "\n")
                file.flush()
            accepted = sum(1 for result in run.results if result["accepted"])
            progress.update(task, advance=1, description=f"{options.dataset}: {accepted} accepted")

        yield add_result


def _create_file(path: Path) -> IO[str]:
    try:
        return open(path, "w", encoding="utf-8", errors="replace")
    except OSError as error:
        raise InvalidRequest(f"cannot write {path}: {error.strerror}") from error
