"""`sandbox-run SCRIPT`: call a handler with an event, without a server."""

from __future__ import annotations

import asyncio
import datetime
import json
import sys
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from sandbox_runtime.cli.handler_arguments import HandlerOptions, build_parser, read_arguments, read_text
from sandbox_runtime.cli.handler_config import find
from sandbox_runtime.cli.handler_report import Report, render
from sandbox_runtime.cli.output import write_text
from sandbox_runtime.engine.environments import RunRequest, RunResult
from sandbox_runtime.engine.handlers import HandlerContext, HandlerExitCode, check_code, exit_code
from sandbox_runtime.engine.handlers.rules import OUT_OF_MEMORY_EXIT_CODE
from sandbox_runtime.errors import NotFound, PlatformFault, SandboxError, Unavailable
from sandbox_runtime.model import Blame, ExecutionKind, Limits
from sandbox_runtime.model.limits import KIB, MIB
from sandbox_runtime.settings import Settings, load

GENERAL, UNREADABLE, NOT_LOADED, TIMED_OUT, NO_BOX, INTERRUPTED = 1, 2, 3, 4, 5, 130
_EXIT_CODES = {
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
        options = read_arguments(build_parser(config).parse_args(argv), config)
        return _run(options)
    except KeyboardInterrupt:
        return INTERRUPTED
    except SandboxError as error:
        print(f"sandbox-run: {error}", file=sys.stderr)
        return _error_exit_code(error)


def _error_exit_code(error: SandboxError) -> int:
    if isinstance(error, NotFound):
        return UNREADABLE
    return NO_BOX if isinstance(error, Unavailable | PlatformFault) else GENERAL


def _run(options: HandlerOptions) -> int:
    code = read_text(options.script)
    if not code.strip():
        print(f"sandbox-run: {options.script} is empty; define handler(event)", file=sys.stderr)
        return NOT_LOADED
    check_code(code)
    settings = load({"log_level": options.log_level, "allow_network": options.box.allow_network})
    if not options.quiet:
        print(f"Calling the handler of {options.script} (timeout {options.timeout_s:g} s)", file=sys.stderr)
    run_result = asyncio.run(_invoke(settings, options, code))
    if run_result.outcome.blame is Blame.platform:
        raise PlatformFault(run_result.outcome.message or "the box broke")
    handler_code = exit_code(run_result.outcome, run_result.handler_result)
    _write(options, _report(options, run_result, handler_code))
    return _EXIT_CODES.get(handler_code, GENERAL)


async def _invoke(settings: Settings, options: HandlerOptions, code: str) -> RunResult:
    from sandbox_runtime.assembly import open_platform

    async with open_platform(settings, prewarm=False) as platform:
        work = RunRequest(
            kind=ExecutionKind.handler,
            code=code,
            language=_LANGUAGES.get(options.script.suffix.lower(), "python"),
            limits=_limits(platform.request_limits.default, options),
            event=options.event,
            context=HandlerContext(str(uuid.uuid4()), str(uuid.uuid4()), extra=tuple(options.context.items())),
        )
        return await platform.invocations.invoke(work)


def _limits(default: Limits, options: HandlerOptions) -> Limits:
    return default.replace(
        wall_s=options.timeout_s,
        cpu_s=float(options.box.cpu_quota),
        memory_bytes=options.box.memory_limit * KIB,
        processes=options.box.max_user_progress,
    )


def _report(options: HandlerOptions, run_result: RunResult, code: int) -> Report:
    outcome, handler = run_result.outcome, run_result.handler_result
    peak = outcome.usage.memory_peak_bytes
    error = (handler.error if handler is not None else "") or outcome.message or f"exit code {code}"
    return Report(
        exit_code=code,
        stdout=outcome.stdout.text,
        stderr=outcome.stderr.text,
        result=json.loads(handler.value_json) if handler is not None and handler.value_json is not None else None,
        metrics={
            "duration_ms": round(outcome.usage.wall_s * 1000, 3),
            "cpu_time_ms": round(outcome.usage.cpu_s * 1000, 3),
            "memory_peak_mb": None if peak is None else round(peak / MIB, 3),
        },
        summary="Success" if code == 0 else f"Failed: {error}",
        timestamp=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        details={
            "script": str(options.script.resolve()),
            "timeout_s": f"{options.timeout_s:g}",
            "memory_limit_kb": str(options.box.memory_limit),
            "isolation": outcome.isolation,
            "ending": outcome.ending.value,
        },
    )


def _write(options: HandlerOptions, report: Report) -> None:
    text = render(report, options.form, profile=options.profile, verbose=options.verbose, color=options.color)
    if options.output is None:
        sys.stdout.buffer.write(text.encode(errors="replace"))
        sys.stdout.buffer.flush()
        return
    write_text(options.output, text)
    if not options.quiet:
        print(f"Result written to {options.output}", file=sys.stderr)
