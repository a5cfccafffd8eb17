"""`sandbox-run SCRIPT`: a handler called with an event, here and now, without a server."""

from __future__ import annotations

import asyncio
import datetime
import json
import sys
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from sandbox_runtime.cli.handler_arguments import Asked, parser, read_arguments, text_of
from sandbox_runtime.cli.handler_config import find
from sandbox_runtime.cli.handler_report import Report, rendered
from sandbox_runtime.engine.environments import RunRequest, RunResult
from sandbox_runtime.engine.handlers import HandlerContext, HandlerExitCode, check_code, exit_code
from sandbox_runtime.engine.handlers.rules import OUT_OF_MEMORY_EXIT_CODE
from sandbox_runtime.errors import InvalidRequest, NotFound, PlatformFault, SandboxError, Unavailable
from sandbox_runtime.model import Blame, ExecutionKind, Limits
from sandbox_runtime.model.limits import KIB, MIB
from sandbox_runtime.settings import Settings, load

GENERAL, UNREADABLE, NOT_LOADED, TIMED_OUT, NO_BOX, INTERRUPTED = 1, 2, 3, 4, 5, 130
_OF_CODE = {
    HandlerExitCode.success: 0,
    HandlerExitCode.not_loaded: NOT_LOADED,
    HandlerExitCode.empty: NOT_LOADED,
    HandlerExitCode.timed_out: TIMED_OUT,
    OUT_OF_MEMORY_EXIT_CODE: OUT_OF_MEMORY_EXIT_CODE,
}
_LANGUAGES = {".js": "nodejs", ".cjs": "nodejs", ".mjs": "nodejs"}


def main(argv: Sequence[str] | None = None) -> NoReturn:
    sys.exit(run(argv))


def run(argv: Sequence[str] | None = None) -> int:
    try:
        config = find(Path.cwd(), Path.home())
        asked = read_arguments(parser(config).parse_args(argv), config)
        return _run(asked)
    except KeyboardInterrupt:
        return INTERRUPTED
    except SandboxError as error:
        print(f"sandbox-run: {error}", file=sys.stderr)
        return _code_of(error)


def _code_of(error: SandboxError) -> int:
    if isinstance(error, NotFound):
        return UNREADABLE
    return NO_BOX if isinstance(error, Unavailable | PlatformFault) else GENERAL


def _run(asked: Asked) -> int:
    code = text_of(asked.script)
    if not code.strip():
        print(f"sandbox-run: {asked.script} is empty: define handler(event)", file=sys.stderr)
        return NOT_LOADED
    check_code(code)
    settings = load({"log_level": asked.log_level, "allow_network": asked.box.allow_network})
    if not asked.quiet:
        print(f"Calling the handler of {asked.script} (timeout {asked.timeout_s:g} s)", file=sys.stderr)
    ran = asyncio.run(_called(settings, asked, code))
    if ran.outcome.blame is Blame.platform:
        raise PlatformFault(ran.outcome.message or "the box broke")
    found = exit_code(ran.outcome, ran.handler_result)
    _write(asked, _report(asked, ran, found))
    return _OF_CODE.get(found, GENERAL)


async def _called(settings: Settings, asked: Asked, code: str) -> RunResult:
    from sandbox_runtime.assembly import open_platform

    async with open_platform(settings, prewarm=False) as platform:
        work = RunRequest(
            kind=ExecutionKind.handler,
            code=code,
            language=_LANGUAGES.get(asked.script.suffix.lower(), "python"),
            limits=_limits(platform.request_limits.default, asked),
            event=asked.event,
            context=HandlerContext(str(uuid.uuid4()), str(uuid.uuid4()), extra=tuple(asked.context.items())),
        )
        return await platform.invocations.invoke(work)


def _limits(default: Limits, asked: Asked) -> Limits:
    return default.replace(
        wall_s=asked.timeout_s,
        cpu_s=float(asked.box.cpu_quota),
        memory_bytes=asked.box.memory_limit * KIB,
        processes=asked.box.max_user_progress,
    )


def _report(asked: Asked, ran: RunResult, code: int) -> Report:
    outcome, told = ran.outcome, ran.handler_result
    peak = outcome.usage.memory_peak_bytes
    said = (told.error if told is not None else "") or outcome.message or f"exit code {code}"
    return Report(
        exit_code=code,
        stdout=outcome.stdout.text,
        stderr=outcome.stderr.text,
        result=json.loads(told.value_json) if told is not None and told.value_json is not None else None,
        metrics={
            "duration_ms": round(outcome.usage.wall_s * 1000, 3),
            "cpu_time_ms": round(outcome.usage.cpu_s * 1000, 3),
            "memory_peak_mb": None if peak is None else round(peak / MIB, 3),
        },
        summary="Success" if code == 0 else f"Failed: {said}",
        timestamp=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        details={
            "script": str(asked.script.resolve()),
            "timeout_s": f"{asked.timeout_s:g}",
            "memory_limit_kb": str(asked.box.memory_limit),
            "isolation": outcome.isolation,
            "ending": outcome.ending.value,
        },
    )


def _write(asked: Asked, report: Report) -> None:
    text = rendered(report, asked.form, profile=asked.profile, verbose=asked.verbose, color=asked.color)
    if asked.output is None:
        sys.stdout.buffer.write(text.encode(errors="replace"))
        sys.stdout.buffer.flush()
        return
    try:
        asked.output.write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        raise InvalidRequest(f"{asked.output} cannot be written: {error.strerror}") from error
    if not asked.quiet:
        print(f"The result is in {asked.output}", file=sys.stderr)
