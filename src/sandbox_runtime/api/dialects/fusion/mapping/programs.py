"""Map /run_code requests to jobs, and results to response bodies. Pure."""

from __future__ import annotations

import base64
import binascii

from sandbox_runtime.api.dialects.fusion.schemas.programs import Json, RunCodeRequest
from sandbox_runtime.api.utf8 import drop_partial_start, split_incomplete
from sandbox_runtime.engine import RequestLimits
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model import Blame, Ending, File, Job, JobResult, Limits, Outcome, Output
from sandbox_runtime.model.limits import MIB

IGNORED_FILE = "IGNORE_THIS_FILE"
"""Files with this in their names are ignored, as the protocol specifies."""
SIGKILL = 9
_TIMED_OUT = (Ending.timed_out, Ending.cpu_exceeded)
_NO_RESULT = (Ending.not_started, Ending.cancelled, Ending.lost)


def to_job(request: RunCodeRequest, request_limits: RequestLimits) -> Job:
    memory_bytes = to_memory_bytes(request.memory_limit_MB, request_limits)
    run_limits = to_limits(request_limits, "run_timeout", request.run_timeout, memory_bytes)
    compile_limits = run_limits
    if request.compile_timeout != request.run_timeout:
        compile_limits = to_limits(request_limits, "compile_timeout", request.compile_timeout, memory_bytes)
    return Job(
        language=request.language,
        code=request.code,
        stdin=None if request.stdin is None else request.stdin.encode(),
        files=to_files(request.files) if request.files else (),
        fetch=tuple(request.fetch_files),
        compile_limits=compile_limits,
        run_limits=run_limits,
    )


def result_body(result: JobResult, job: Job, pod_name: str) -> Json:
    compiled = None if result.compile is None else command_body(result.compile, job.compile_limits)
    run = None if result.run is None else command_body(result.run, job.run_limits)
    status, message = overall_status([command for command in (compiled, run) if command is not None])
    return {
        "status": status,
        "message": message,
        "compile_result": compiled,
        "run_result": run,
        "executor_pod_name": pod_name or None,
        "files": {file.name: base64.b64encode(file.content).decode() for file in result.files},
        "skipped_files": dict(result.skipped),
    }


def fault_body(message: str, pod_name: str) -> Json:
    """Return the body for a job that did not run."""
    return {
        "status": "SandboxError",
        "message": message,
        "compile_result": None,
        "run_result": None,
        "executor_pod_name": pod_name or None,
        "files": {},
        "skipped_files": {},
    }


def to_memory_bytes(megabytes: int, request_limits: RequestLimits) -> int:
    if megabytes <= 0:
        return request_limits.max_memory_bytes
    if megabytes * MIB > request_limits.max_memory_bytes:
        raise InvalidRequest(f"memory_limit_MB must be at most {request_limits.max_memory_bytes // MIB}, or -1 for the maximum")
    return megabytes * MIB


def to_limits(request_limits: RequestLimits, field: str, wall_s: float, memory_bytes: int) -> Limits:
    if wall_s > request_limits.max_wall_s:
        raise InvalidRequest(f"{field} must be at most {request_limits.max_wall_s:g} seconds, not {wall_s:g}")
    return request_limits.default.replace(wall_s=wall_s, memory_bytes=memory_bytes)


def to_files(files: dict[str, str | None]) -> tuple[File, ...]:
    return tuple(
        File(name, _content(name, text)) for name, text in files.items() if text is not None and IGNORED_FILE not in name
    )


def _content(name: str, text: str) -> bytes:
    """Decode strict base64, except that line breaks are allowed: many encoders add them."""
    try:
        return binascii.a2b_base64(text.replace("\n", "").replace("\r", ""), strict_mode=True)
    except ValueError as error:
        raise InvalidRequest(f"the content of file {name!r} is not base64: {error}") from error


def overall_status(commands: list[Json]) -> tuple[str, str]:
    """Return status and message in the protocol's order: platform failures, then time limits and failures of the program."""
    for command in commands:
        if command["status"] == "Error":
            return "SandboxError", command["stderr"]
    if any(command["status"] == "TimeLimitExceeded" or command["return_code"] != 0 for command in commands):
        return "Failed", ""
    return "Success", ""


def command_body(outcome: Outcome, requested: Limits | None = None) -> Json:
    """Return the result of one step. `requested`: the limits to report if the outcome has none, e.g. from a cached build."""
    return {
        "status": _status(outcome),
        "execution_time": outcome.usage.wall_s,
        "return_code": _return_code(outcome),
        "stdout": decode_output(outcome.stdout),
        "stderr": _stderr(outcome),
        "details": _details(outcome, outcome.limits or requested),
    }


def decode_output(output: Output) -> str:
    """Return the output as text, or "[DecodeError] ..." if it is not UTF-8.

    If the middle was dropped, the characters that this cut in two are left out: the program did write UTF-8.
    """
    if output.dropped_bytes:
        output = Output(split_incomplete(output.head)[0], drop_partial_start(output.tail), output.dropped_bytes)
    try:
        return bytes(output).decode()
    except UnicodeDecodeError as error:
        return f"[DecodeError] {error}"


def _status(outcome: Outcome) -> str:
    if outcome.ending in _TIMED_OUT:
        return "TimeLimitExceeded"
    return "Error" if outcome.ending in _NO_RESULT else "Finished"


def _return_code(outcome: Outcome) -> int | None:
    """Return the exit code, or the negative signal. A run that hit a limit is never 0, even if the program exited with 0."""
    if outcome.ending is Ending.not_started:
        return outcome.exit_code
    if outcome.ending in _TIMED_OUT or outcome.ending in _NO_RESULT:
        return None
    code = outcome.exit_code if outcome.signal is None else -outcome.signal
    if code is None or (code == 0 and outcome.blame is Blame.limit):
        return -SIGKILL
    return code


def _stderr(outcome: Outcome) -> str:
    """Return stderr. If a limit or the platform ended the program, a last line says so: the protocol has no field for it."""
    text = decode_output(outcome.stderr)
    if outcome.ending in _TIMED_OUT or outcome.blame is Blame.program:
        return text
    note = outcome.message or outcome.ending.replace("_", " ")
    if outcome.ending in _NO_RESULT and not text:
        return note
    return f"{text}{'' if not text or text.endswith(chr(10)) else chr(10)}[sandbox] {note}\n"


def _details(outcome: Outcome, limits: Limits | None) -> Json:
    usage = outcome.usage
    return {
        "ending": outcome.ending.value,
        "blame": outcome.blame.value,
        "signal": outcome.signal,
        "message": outcome.message,
        "isolation": outcome.isolation,
        "stdout_dropped_bytes": outcome.stdout.dropped_bytes,
        "stderr_dropped_bytes": outcome.stderr.dropped_bytes,
        "usage": {
            "wall_s": usage.wall_s,
            "cpu_user_s": usage.cpu_user_s,
            "cpu_system_s": usage.cpu_system_s,
            "memory_peak_bytes": usage.memory_peak_bytes,
            "processes_peak": usage.processes_peak,
            "output_bytes": usage.output_bytes,
        },
        "limits": limits and {"wall_s": limits.wall_s, "memory_bytes": limits.memory_bytes},
    }
