"""Sandboxes of a server, through its client. Each is a session there, under the key that the client shows."""

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
from sandbox_runtime.mcp.hosts.cleanup import start_or_undo
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
)
from sandbox_runtime.sdk import Dependency, EvalResult, ExecutionResult, FileChange, SandboxClient, SessionInfo, TestConfig

_MIB = 1024**2
_QUEUE_S = 300.0
_MAX_JUDGE_S = 3600.0
_RETRY_S = 1.0
_MAX_BROKEN_STREAMS = 5
"""Streams in a row that broke before they were there."""
_STAT_TIMEOUT_S = 30.0
_MAX_PAGES = 10
_PAGE = 200
_NOT_FOUND = 44
"""Exit code of our look at files where there is no such one."""
_STAT_SCRIPT = """
import os, sys
top, deep, most = sys.argv[1], sys.argv[2] == "deep", int(sys.argv[3])
def line(path, name):
    s = os.lstat(path)
    sys.stdout.write(f"{s.st_mode} {s.st_size} {s.st_mtime_ns // 1000000} {name.encode(errors='replace').hex()}\\n")
try:
    if sys.argv[2] == "one":
        line(top, "")
        sys.exit()
    found = [(n, os.path.join(top, n)) for n in sorted(os.listdir(top))] if not deep else sorted(
        (os.path.relpath(os.path.join(d, n), top), os.path.join(d, n)) for d, ds, fs in os.walk(top) for n in (*ds, *fs))
except (FileNotFoundError, NotADirectoryError):
    sys.exit(44)
for name, path in found[:most]:
    try:
        line(path, name)
    except OSError:
        pass
"""
"""Run in the sandbox itself: sizes, kinds and times of files in one answer."""


class RemoteHost:
    """most: sandboxes that may be there at once, counted before one is made."""

    def __init__(self, client: SandboxClient, most: int | None = None) -> None:
        self._client = client
        self._max_sandboxes = most

    async def create(self, spec: SandboxSpec) -> SandboxView:
        if self._max_sandboxes is not None and len(await self.list()) >= self._max_sandboxes:
            raise TooMany(f"there are {self._max_sandboxes} sandboxes already, which is the most: terminate one first")
        words = {
            "cpu": None if spec.cpu_cores is None else f"{spec.cpu_cores:g}",
            "memory": _to_mebibytes(spec.memory_bytes),
            "disk": _to_mebibytes(spec.disk_bytes),
            "network": spec.network or None,
        }
        given = {name: value for name, value in words.items() if value is not None}
        return _view(await self._client.create_session(spec.id, {"env_vars": dict(spec.env), **given}))

    async def list(self) -> Sequence[SandboxView]:
        found: list[SandboxView] = []
        for page in range(_MAX_PAGES):
            some = await self._client.list_sessions(limit=_PAGE, offset=page * _PAGE)
            found += [_view(info) for info in some.items if not info.ended]
            if not some.has_more:
                break
        return sorted(found, key=lambda view: view.created_ms)

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
            raise Unavailable("the server did not tell the end of it in time") from error
        except BaseException:
            with anyio.CancelScope(shield=True):
                await self._client.cancel_execution(execution.id)
            raise

    async def _cell(self, sandbox_id: str, spec: RunSpec) -> RunOutcome:
        """Cancelled, the cell is interrupted; the variables stay."""
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
        """The server tells nothing until it is done."""
        asked = [Dependency(name=name, version=version or None) for name, version in packages]
        return _view(await self._client.install(sandbox_id, asked, timeout_s=timeout_s)).packages

    async def read(self, sandbox_id: str, name: str, max_bytes: int) -> bytes:
        found = bytearray()
        async for piece in self._client.read_pieces(sandbox_id, name):
            found += piece
            if len(found) > max_bytes:
                raise InvalidRequest(f"{name!r} has more than the {max_bytes} bytes that may be read at once")
        return bytes(found)

    async def write(self, sandbox_id: str, name: str, content: bytes, mode: int = 0o644) -> FileView:
        await self._client.upload_file(sandbox_id, io.BytesIO(content), name)
        if mode != 0o644:
            await self._run_command(sandbox_id, ("/bin/chmod", f"{mode:o}", "--", f"{WORKSPACE}/{name}"))
        return await self.stat(sandbox_id, name)

    async def remove(self, sandbox_id: str, name: str) -> None:
        await self._client.delete_file(sandbox_id, name, recursive=True)

    async def stat(self, sandbox_id: str, name: str) -> FileView:
        (found,) = await self._stat(sandbox_id, name, "one")
        return found

    async def files(self, sandbox_id: str, folder: str = "", *, recursive: bool = False) -> tuple[Sequence[FileView], bool]:
        found = await self._stat(sandbox_id, folder, "deep" if recursive else "flat")
        return found[:MAX_LISTED], len(found) > MAX_LISTED

    async def changes(self, sandbox_id: str) -> AsyncIterator[Sequence[str]]:
        """The server's own watch. A stream that ended, or broke, is taken up again; what changed meanwhile is not known then."""
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
        longest_s = min(_MAX_JUDGE_S, solution.timeout_s * len(solution.tests) + _QUEUE_S)
        told = await self._client.judge_completion("mcp", 0, solution.fenced, config, timeout_s=longest_s)
        return _judge_outcome(told)

    async def _stat(self, sandbox_id: str, name: str, how: str) -> tuple[FileView, ...]:
        path = f"{WORKSPACE}/{name}" if name else WORKSPACE
        outcome = await self._run_command(sandbox_id, ("python3", "-c", _STAT_SCRIPT, path, how, str(MAX_LISTED + 1)))
        if outcome.exit_code == _NOT_FOUND:
            raise NotFound(f"{path!r} is not there")
        if not outcome.ok:
            raise Conflict(f"the files of the sandbox cannot be looked at: {outcome.stderr[-200:] or outcome.error}")
        before = f"{name}/" if name and how != "one" else name
        return tuple(_file(line, before) for line in outcome.stdout.splitlines())

    async def _run_command(self, sandbox_id: str, argv: tuple[str, ...]) -> RunOutcome:
        return _to_outcome(await self._client.execute(sandbox_id, *argv, timeout=_STAT_TIMEOUT_S))


def _file(line: str, before: str) -> FileView:
    mode, size, modified_ms, name = line.split(" ")
    bits = int(mode)
    return FileView(before + bytes.fromhex(name).decode(), int(size), stat.S_ISDIR(bits), stat.S_IMODE(bits), int(modified_ms))


def _to_mebibytes(size_bytes: int | None) -> str | None:
    return None if size_bytes is None else f"{max(1, size_bytes // _MIB)}Mi"


def _ms(iso_time: datetime | None) -> int:
    return 0 if iso_time is None else int(iso_time.timestamp() * 1000)


def _view(info: SessionInfo) -> SandboxView:
    return SandboxView(
        id=info.id,
        state=info.status,
        created_ms=_ms(info.created_at),
        updated_ms=_ms(info.updated_at),
        env=info.env_vars,
        network=info.network or "",
        packages=tuple(f"{one.name}{one.version}" for one in info.installed_dependencies),
    )


def _judge_outcome(told: EvalResult) -> JudgeOutcome:
    """Reasons are beside the fields that this protocol had at first."""
    extra = told.extra or {}
    cases = tuple({"passed": case.passed, "reason": str((case.model_extra or {}).get("reason", ""))} for case in told.tests)
    return JudgeOutcome(told.accepted, str(extra.get("reason", "")), str(extra.get("message") or ""), cases)


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
