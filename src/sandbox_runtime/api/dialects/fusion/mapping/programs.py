"""Between the wire and the model, both ways. Pure."""

from __future__ import annotations

import base64
import binascii

from sandbox_runtime.api.dialects.fusion.mapping.output_text import decoded
from sandbox_runtime.api.dialects.fusion.schemas.programs import Json, RunCodeRequest
from sandbox_runtime.engine import RequestLimits
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model import Blame, Ending, File, Job, JobResult, Limits, Outcome
from sandbox_runtime.model.limits import MIB

IGNORED_FILE = "IGNORE_THIS_FILE"
SIGKILL = 9
_TIME_IS_UP = (Ending.timed_out, Ending.cpu_exceeded)
_NO_RESULT = (Ending.not_started, Ending.cancelled, Ending.lost)


def job_of(request: RunCodeRequest, allowance: RequestLimits) -> Job:
    memory_bytes = memory_of(request.memory_limit_MB, allowance)
    run_limits = limits_of(allowance, "run_timeout", request.run_timeout, memory_bytes)
    alike = request.compile_timeout == request.run_timeout
    return Job(
        language=request.language,
        code=request.code,
        stdin=None if request.stdin is None else request.stdin.encode(),
        files=files_of(request.files) if request.files else (),
        fetch=tuple(request.fetch_files),
        compile_limits=run_limits if alike else limits_of(allowance, "compile_timeout", request.compile_timeout, memory_bytes),
        run_limits=run_limits,
    )


def answer_of(result: JobResult, job: Job, pod_name: str) -> Json:
    compiled = None if result.compile is None else command_of(result.compile, job.compile_limits)
    ran = None if result.run is None else command_of(result.run, job.run_limits)
    status, message = overall([command for command in (compiled, ran) if command is not None])
    return {
        "status": status,
        "message": message,
        "compile_result": compiled,
        "run_result": ran,
        "executor_pod_name": pod_name or None,
        "files": {file.name: base64.b64encode(file.content).decode() for file in result.files},
        "skipped_files": dict(result.skipped),
    }


def fault_of(message: str, pod_name: str) -> Json:
    """The answer when nothing ran."""
    return {
        "status": "SandboxError",
        "message": message,
        "compile_result": None,
        "run_result": None,
        "executor_pod_name": pod_name or None,
        "files": {},
        "skipped_files": {},
    }


def memory_of(megabytes: int, allowance: RequestLimits) -> int:
    if megabytes <= 0:
        return allowance.most_memory_bytes
    if megabytes * MIB > allowance.most_memory_bytes:
        raise InvalidRequest(f"memory_limit_MB must be at most {allowance.most_memory_bytes // MIB} here, or -1 for no limit")
    return megabytes * MIB


def limits_of(allowance: RequestLimits, field: str, wall_s: float, memory_bytes: int) -> Limits:
    if wall_s > allowance.longest_wall_s:
        raise InvalidRequest(f"{field} must be at most {allowance.longest_wall_s:g} seconds here, not {wall_s:g}")
    return allowance.default.replace(wall_s=wall_s, memory_bytes=memory_bytes)


def files_of(files: dict[str, str | None]) -> tuple[File, ...]:
    return tuple(
        File(name, _content(name, text)) for name, text in files.items() if text is not None and IGNORED_FILE not in name
    )


def _content(name: str, text: str) -> bytes:
    """Line breaks are allowed, as many encoders put them in; anything else that is not base64 is refused."""
    try:
        return binascii.a2b_base64(text.replace("\n", "").replace("\r", ""), strict_mode=True)
    except ValueError as error:
        raise InvalidRequest(f"the content of file {name!r} is not base64: {error}") from error


def overall(commands: list[Json]) -> tuple[str, str]:
    """The protocol's order: our failures, then time limits, then failures of the program."""
    for command in commands:
        if command["status"] == "Error":
            return "SandboxError", command["stderr"]
    if any(command["status"] == "TimeLimitExceeded" or command["return_code"] != 0 for command in commands):
        return "Failed", ""
    return "Success", ""


def command_of(outcome: Outcome, asked: Limits | None = None) -> Json:
    """asked: what is told of the limits of a step that was not taken this time."""
    return {
        "status": _status(outcome),
        "execution_time": outcome.usage.wall_s,
        "return_code": _return_code(outcome),
        "stdout": decoded(outcome.stdout),
        "stderr": _stderr(outcome),
        "details": _details(outcome, outcome.limits or asked),
    }


def _status(outcome: Outcome) -> str:
    if outcome.ending in _TIME_IS_UP:
        return "TimeLimitExceeded"
    return "Error" if outcome.ending in _NO_RESULT else "Finished"


def _return_code(outcome: Outcome) -> int | None:
    """Negative for a death by signal. A limit that was hit is never a success, whatever the program made of it."""
    if outcome.ending is Ending.not_started:
        return outcome.exit_code
    if outcome.ending in _TIME_IS_UP or outcome.ending in _NO_RESULT:
        return None
    code = outcome.exit_code if outcome.signal is None else -outcome.signal
    if code is None or (code == 0 and outcome.blame is Blame.limit):
        return -SIGKILL
    return code


def _stderr(outcome: Outcome) -> str:
    """With a line of ours below the program's own where something else than the program ended it: the protocol has no other
    place."""
    text = decoded(outcome.stderr)
    if outcome.ending in _TIME_IS_UP or outcome.blame is Blame.program:
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
