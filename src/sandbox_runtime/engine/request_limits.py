"""Bounds of requests and default limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model.job import Job
from sandbox_runtime.model.limits import GIB, Limits
from sandbox_runtime.quantities import show_amount, show_bytes, show_number
from sandbox_runtime.workspace.area import Quotas

MAX_INPUTS = 10_000
_MAX_CHARACTER_BYTES = 4
_LOWER_ONLY = ("processes", "output_bytes", "file_bytes", "disk_bytes", "disk_files", "cpu_cores")
"""Limits that a request may lower but not raise: the operator's values are what the machine can give."""
_CHECK_WALL_S, _CHECK_MEMORY_BYTES = 60.0, GIB


@dataclass(frozen=True, slots=True)
class RequestLimits:
    default: Limits
    """Limits of a request that sets none."""
    max_wall_s: float
    max_memory_bytes: int
    max_code_bytes: int
    max_stdin_bytes: int
    quotas: Quotas

    def for_checks(self) -> Limits:
        """Return the limits of check programs. Compilers need more memory than most programs."""
        return self.default.replace(
            wall_s=min(_CHECK_WALL_S, self.max_wall_s), memory_bytes=min(_CHECK_MEMORY_BYTES, self.max_memory_bytes)
        )

    def check_inputs(self, stdins: Sequence[bytes | None]) -> None:
        """Check the inputs of a job that runs with many. Raises InvalidRequest."""
        if not 1 <= len(stdins) <= MAX_INPUTS:
            raise InvalidRequest(f"a job may have 1 to {MAX_INPUTS} inputs, not {len(stdins)}")
        for number, stdin in enumerate(stdins):
            if stdin is not None and len(stdin) > self.max_stdin_bytes:
                told = f"input {number} has {len(stdin)} bytes; at most {self.max_stdin_bytes} are allowed"
                raise InvalidRequest(told)

    def check(self, job: Job) -> None:
        """Check that a job is within bounds. Raises InvalidRequest. File names are checked later, when a box exists."""
        self._check_code(job.code)
        self.quotas.check(job.files)
        if job.stdin is not None and len(job.stdin) > self.max_stdin_bytes:
            raise InvalidRequest(f"the standard input has {len(job.stdin)} bytes; at most {self.max_stdin_bytes} are allowed")
        if len(job.fetch) > self.quotas.max_files:
            raise InvalidRequest(f"{len(job.fetch)} files to fetch; at most {self.quotas.max_files} are allowed")
        self._check_limits(job.run_limits)
        if job.compile_limits is not job.run_limits:
            self._check_limits(job.compile_limits)

    def _check_code(self, code: str) -> None:
        if len(code) * _MAX_CHARACTER_BYTES <= self.max_code_bytes:
            return
        size = len(code.encode(errors="surrogatepass"))
        if size > self.max_code_bytes:
            raise InvalidRequest(f"the code has {size} bytes; at most {self.max_code_bytes} are allowed")

    def _check_limits(self, limits: Limits) -> None:
        if limits.wall_s > self.max_wall_s:
            longest = show_number(self.max_wall_s)
            raise InvalidRequest(f"the wall time of a step must be at most {longest} s, not {show_number(limits.wall_s)} s")
        if limits.memory_bytes is None or limits.memory_bytes > self.max_memory_bytes:
            raise InvalidRequest(f"the memory limit must be at most {show_bytes(self.max_memory_bytes)}")
        for name in _LOWER_ONLY:
            if getattr(limits, name) > getattr(self.default, name):
                raise InvalidRequest(f"{name} must be at most {show_amount(getattr(self.default, name), name)}")
