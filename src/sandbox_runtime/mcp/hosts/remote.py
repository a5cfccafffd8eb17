"""Sandboxes on a remote server: each is a session there, created with the client's API key."""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import io
import shlex
import stat
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from datetime import datetime
from typing import cast

import anyio

from sandbox_runtime.errors import Conflict, InvalidRequest, NotFound, TooMany, Unavailable
from sandbox_runtime.mcp.hosts.port import (
    MAX_LISTED,
    TESTS_CLASS,
    WORKSPACE,
    FileView,
    JudgeOutcome,
    RunOutcome,
    RunSpec,
    SandboxSpec,
    SandboxView,
    Sink,
    Solution,
    start_or_undo,
)
from sandbox_runtime.sdk import Dependency, EvalResult, ExecutionResult, FileChange, SandboxClient, SessionInfo, TestConfig

_MIB = 1024**2
_QUEUE_S = 300.0
_MAX_JUDGE_S = 3600.0
_RETRY_S = 1.0
_MAX_BROKEN_STREAMS = 5
"""Consecutive streams that break before the first change."""
_STAT_TIMEOUT_S = 30.0
_MAX_PAGES = 10
_PAGE = 200
_NOT_FOUND = 44
"""Exit code of _STAT_SCRIPT for a missing file."""
_STAT_SCRIPT = """
import os, sys
top, deep, limit = sys.argv[1], sys.argv[2] == "deep", int(sys.argv[3])
def line(path, name):
    s = os.lstat(path)
    sys.stdout.write(f"{s.st_mode} {s.st_size} {s.st_mtime_ns // 1000000} {name.encode(errors='replace').hex()}\\n")
try:
    if sys.argv[2] == "one":
        line(top, "")
        sys.exit()
    files = [(n, os.path.join(top, n)) for n in sorted(os.listdir(top))] if not deep else sorted(
        (os.path.relpath(os.path.join(d, n), top), os.path.join(d, n)) for d, ds, fs in os.walk(top) for n in (*ds, *fs))
except (FileNotFoundError, NotADirectoryError):
    sys.exit(44)
for name, path in files[:limit]:
    try:
        line(path, name)
    except OSError:
        pass
"""
"""Runs inside the sandbox and prints mode, size, time and hex name of each file."""


class RemoteHost:
    """`max_sandboxes`: concurrent sandboxes, counted before each creation."""

    def __init__(self, client: SandboxClient, max_sandboxes: int | None = None) -> None:
        self._client = client
        self._max_sandboxes = max_sandboxes

    async def create(self, spec: SandboxSpec) -> SandboxView:
        if self._max_sandboxes is not None and len(await self.list()) >= self._max_sandboxes:
            raise TooMany(f"the limit of {self._max_sandboxes} sandboxes is reached; terminate one first")
        options = {
            "cpu": None if spec.cpu_cores is None else f"{spec.cpu_cores:g}",
            "memory": _to_mebibytes(spec.memory_bytes),
            "disk": _to_mebibytes(spec.disk_bytes),
            "network": spec.network or None,
        }
        config = {name: value for name, value in options.items() if value is not None}
        return _view(await self._client.create_session(spec.id, {"env_vars": dict(spec.env), **config}))

    async def list(self) -> Sequence[SandboxView]:
        views: list[SandboxView] = []
        for number in range(_MAX_PAGES):
            page = await self._client.list_sessions(limit=_PAGE, offset=number * _PAGE)
            views += [_view(info) for info in page.items if not info.ended]
            if not page.has_more:
                break
        return sorted(views, key=lambda view: view.created_ms)

    async def get(self, sandbox_id: str) -> SandboxView:
        return _view(await self._client.get_session(sandbox_id))

    async def terminate(self, sandbox_id: str) -> None:
        await self._client.terminate_session(sandbox_id)

    async def run(self, sandbox_id: str, spec: RunSpec, sink: Sink | None = None) -> RunOutcome:
        if spec.context:
            return await self._cell(sandbox_id, spec)
        code, language = (shlex.join(spec.argv), "shell") if spec.argv else (spec.code, spec.language)
        execution = await start_or_undo(
            self._client.submit_code(sandbox_id, code, spec.timeout_s, language=language, stdin=spec.stdin, env=dict(spec.env)),
            lambda execution: self._client.cancel_execution(execution.id),
        )
        try:
            async with asyncio.timeout(spec.timeout_s + _QUEUE_S):
                await self._follow(execution.id, sink)
                return _to_outcome(await self._client.wait_execution(execution.id, spec.timeout_s + _QUEUE_S))
        except TimeoutError as error:
            raise Unavailable("the server did not report the end of the execution in time") from error
        except BaseException:
            with anyio.CancelScope(shield=True):
                await self._client.cancel_execution(execution.id)
            raise

    async def _cell(self, sandbox_id: str, spec: RunSpec) -> RunOutcome:
        """Run a cell. Cancelling interrupts it; the variables stay."""
        try:
            return _to_outcome(await self._client.execute_in_context(sandbox_id, spec.context, spec.code, spec.timeout_s))
        except asyncio.CancelledError:
            with anyio.CancelScope(shield=True):
                await self._client.interrupt_context(sandbox_id, spec.context)
            raise

    async def _follow(self, execution_id: str, sink: Sink | None) -> None:
        decoders = {name: codecs.getincrementaldecoder("utf-8")("replace") for name in ("stdout", "stderr")}
        async with contextlib.aclosing(self._client.follow(execution_id)) as outputs:
            async for output in outputs:
                if sink is not None:
                    sink(output.stream, decoders[output.stream].decode(output.data))

    async def open_context(self, sandbox_id: str) -> str:
        return (await self._client.open_context(sandbox_id)).id

    async def contexts(self, sandbox_id: str) -> Sequence[str]:
        return [info.id for info in await self._client.list_contexts(sandbox_id)]

    async def fork(self, sandbox_id: str) -> SandboxView:
        return _view((await self._client.fork_session(sandbox_id))[0])

    async def install(
        self, sandbox_id: str, packages: Sequence[tuple[str, str]], timeout_s: float, sink: Sink | None = None
    ) -> Sequence[str]:
        """`sink` is not used: the server sends no output while it installs."""
        dependencies = [Dependency(name=name, version=version or None) for name, version in packages]
        return _view(await self._client.install(sandbox_id, dependencies, timeout_s=timeout_s)).packages

    async def read(self, sandbox_id: str, name: str, max_bytes: int) -> bytes:
        content = bytearray()
        async for piece in self._client.read_pieces(sandbox_id, name):
            content += piece
            if len(content) > max_bytes:
                raise InvalidRequest(f"{name!r} is larger than the limit of {max_bytes} bytes")
        return bytes(content)

    async def write(self, sandbox_id: str, name: str, content: bytes, mode: int = 0o644) -> FileView:
        await self._client.upload_file(sandbox_id, io.BytesIO(content), name)
        if mode != 0o644:
            await self._run_command(sandbox_id, ("/bin/chmod", f"{mode:o}", "--", f"{WORKSPACE}/{name}"))
        return await self.stat(sandbox_id, name)

    async def remove(self, sandbox_id: str, name: str) -> None:
        await self._client.delete_file(sandbox_id, name, recursive=True)

    async def stat(self, sandbox_id: str, name: str) -> FileView:
        (file,) = await self._stat(sandbox_id, name, "one")
        return file

    async def files(self, sandbox_id: str, folder: str = "", *, recursive: bool = False) -> tuple[Sequence[FileView], bool]:
        files = await self._stat(sandbox_id, folder, "deep" if recursive else "flat")
        return files[:MAX_LISTED], len(files) > MAX_LISTED

    async def changes(self, sandbox_id: str) -> AsyncIterator[Sequence[str]]:
        """Follow the server's watch and reopen it when it ends or breaks. Changes in between are reported as lost."""
        broken = 0
        while True:
            try:
                watched = cast(AsyncGenerator[FileChange, None], self._client.watch_files(sandbox_id))
                async with contextlib.aclosing(watched) as watch:
                    async for change in watch:
                        if change.kind != "ready" or broken:
                            yield [change.name]
                        broken = 0
                broken = 1
            except Unavailable:
                broken += 1
                if broken > _MAX_BROKEN_STREAMS:
                    raise
                await asyncio.sleep(_RETRY_S)

    async def judge(self, solution: Solution) -> JudgeOutcome:
        config = TestConfig(
            dataset_type=TESTS_CLASS,
            language=solution.language,
            run_timeout=solution.timeout_s,
            provided_data=solution.row,
            extra={"run_all_cases": True},
        )
        timeout_s = min(_MAX_JUDGE_S, solution.timeout_s * len(solution.tests) + _QUEUE_S)
        return _judge_outcome(await self._client.judge_completion("mcp", 0, solution.fenced, config, timeout_s=timeout_s))

    async def _stat(self, sandbox_id: str, name: str, how: str) -> tuple[FileView, ...]:
        path = f"{WORKSPACE}/{name}" if name else WORKSPACE
        outcome = await self._run_command(sandbox_id, ("python3", "-c", _STAT_SCRIPT, path, how, str(MAX_LISTED + 1)))
        if outcome.exit_code == _NOT_FOUND:
            raise NotFound(f"{path!r} does not exist")
        if not outcome.ok:
            raise Conflict(f"cannot list the files of the sandbox: {outcome.stderr[-200:] or outcome.error}")
        prefix = f"{name}/" if name and how != "one" else name
        return tuple(_file(line, prefix) for line in outcome.stdout.splitlines())

    async def _run_command(self, sandbox_id: str, argv: tuple[str, ...]) -> RunOutcome:
        return _to_outcome(await self._client.execute(sandbox_id, *argv, timeout=_STAT_TIMEOUT_S))


def _file(line: str, prefix: str) -> FileView:
    mode, size, modified_ms, name = line.split(" ")
    bits = int(mode)
    return FileView(prefix + bytes.fromhex(name).decode(), int(size), stat.S_ISDIR(bits), stat.S_IMODE(bits), int(modified_ms))


def _to_mebibytes(size_bytes: int | None) -> str | None:
    return None if size_bytes is None else f"{max(1, size_bytes // _MIB)}Mi"


def _ms(time: datetime | None) -> int:
    return 0 if time is None else int(time.timestamp() * 1000)


def _view(info: SessionInfo) -> SandboxView:
    return SandboxView(
        id=info.id,
        state=info.status,
        created_ms=_ms(info.created_at),
        updated_ms=_ms(info.updated_at),
        env=info.env_vars,
        network=info.network or "",
        packages=tuple(f"{package.name}{package.version}" for package in info.installed_dependencies),
    )


def _judge_outcome(result: EvalResult) -> JudgeOutcome:
    """Reasons are in `extra`: the protocol has no fields for them."""
    extra = result.extra or {}
    cases = tuple({"passed": case.passed, "reason": str((case.model_extra or {}).get("reason", ""))} for case in result.tests)
    return JudgeOutcome(result.accepted, str(extra.get("reason", "")), str(extra.get("message") or ""), cases)


def _to_outcome(result: ExecutionResult) -> RunOutcome:
    state = "completed" if result.status == "success" else result.status
    return RunOutcome(
        id=result.id,
        state=state,
        exit_code=result.exit_code,
        stdout=result.stdout,
        stderr=result.stderr,
        error=result.error_message or "",
        wall_s=(result.metrics.duration_ms / 1000) if result.metrics else (result.execution_time or 0.0),
        displays=tuple(result.displays or ()),
    )
