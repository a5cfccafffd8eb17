"""Run notebooks.

A run checks bounds, waits for a slot, takes a warm kernel or starts one, stages files, runs the cells, fetches files, closes
the box and releases the slot.
"""

from __future__ import annotations

import asyncio
from typing import Self

from sandbox_runtime.engine.admission import Admission
from sandbox_runtime.engine.notebook.kernel import KernelStartError, LiveKernel
from sandbox_runtime.engine.pools.box_pool import BoxPool
from sandbox_runtime.engine.pools.on_demand import OnDemandPool
from sandbox_runtime.engine.request_limits import RequestLimits
from sandbox_runtime.engine.threads import run_to_end
from sandbox_runtime.errors import PlatformFault, Unavailable
from sandbox_runtime.model.job import Job
from sandbox_runtime.model.limits import Limits
from sandbox_runtime.model.notebook import Notebook, NotebookResult
from sandbox_runtime.model.outcome import Blame, Outcome
from sandbox_runtime.model.policy import Policy
from sandbox_runtime.telemetry.logs import Log
from sandbox_runtime.telemetry.metrics import Metrics
from sandbox_runtime.workspace import fetch
from sandbox_runtime.workspace.area import resolve
from sandbox_runtime.workspace.staging import stage

NAME = "notebook"
_ATTEMPTS = 2


class Notebooks:
    """Runs notebooks.

    - policy: the policy of the boxes, which have the kernel's modules loaded.
    - ready: number of kernels to keep warm while notebooks are in use.
    - keep_bytes: how much is kept of each output stream of a cell, and of all displays together.
    """

    def __init__(
        self,
        *,
        pool: BoxPool,
        admission: Admission,
        request_limits: RequestLimits,
        python: str,
        policy: Policy,
        ready: int,
        keep_bytes: int,
        metrics: Metrics,
        log: Log,
    ) -> None:
        self._pool = pool
        self._admission = admission
        self._request_limits = request_limits
        self._python = python
        self._policy = policy
        self._keep_bytes = keep_bytes
        self._metrics = metrics
        self._log = log
        self._default_limits = request_limits.default.replace(memory_bytes=request_limits.max_memory_bytes)
        self._kernels = OnDemandPool("notebook kernel", ready, lambda: self._start(self._default_limits), self._close, log)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self._kernels.close()

    @property
    def idle(self) -> int:
        """Number of warm kernels."""
        return len(self._kernels.idle)

    async def run(self, notebook: Notebook) -> NotebookResult:
        self._check(notebook)
        entered = await self._admission.enter()
        try:
            for left in reversed(range(_ATTEMPTS)):
                result = await self._attempt(notebook, last=not left)
                if result is not None:
                    return result
            raise AssertionError("the last attempt gives a result or raises")
        finally:
            self._kernels.refill()
            self._admission.leave(entered)

    def _check(self, notebook: Notebook) -> None:
        """Check a notebook like a job whose code is all its cells."""
        code = "\n".join(notebook.cells)
        limits = notebook.limits
        self._request_limits.check(Job(NAME, code, None, notebook.files, notebook.fetch, limits, limits))

    async def _attempt(self, notebook: Notebook, *, last: bool) -> NotebookResult | None:
        """Return None if the platform failed before a cell ended, and another attempt should follow."""
        try:
            kernel = await self._kernel_for(notebook.limits)
        except KernelStartError as failure:
            return NotebookResult(failure.outcome, (), complete=False)
        except PlatformFault as fault:
            self._on_broken_box(str(fault))
            if last:
                raise
            return None
        try:
            result, untouched = await self._perform(kernel, notebook)
        finally:
            await self._close(kernel)
        if result.driver.blame is not Blame.platform:
            return result
        self._on_broken_box(result.driver.message)
        return None if untouched and not last else result

    def _on_broken_box(self, reason: str) -> None:
        self._pool.drop_idle(self._policy)
        self._log.warning("the box of a notebook broke", reason=reason)

    async def _kernel_for(self, limits: Limits) -> LiveKernel:
        """Return a kernel with these limits. Warm kernels have the default limits; a lower memory limit can be set on them if
        they already fit in it. Other limits need a new kernel."""
        default_limits = self._default_limits
        if limits.replace(wall_s=default_limits.wall_s, memory_bytes=default_limits.memory_bytes) != default_limits:
            return await self._start(limits)
        ready = await self._kernels.take()
        if ready is None or limits.memory_bytes == default_limits.memory_bytes or ready.limit(limits):
            return ready or await self._start(limits)
        await self._close(ready)
        return await self._start(limits)

    async def _start(self, limits: Limits) -> LiveKernel:
        try:
            box = await self._pool.take(self._policy)
        except Unavailable as error:
            raise Unavailable(f"notebooks do not work here: {error}") from error
        kernel = LiveKernel(box, limits, self._keep_bytes)
        try:
            await kernel.start(self._python)
        except BaseException:
            await self._close(kernel)
            raise
        return kernel

    async def _close(self, kernel: LiveKernel) -> None:
        """Close a kernel. If the caller is cancelled, the pool closes the box."""
        try:
            await self._pool.discard(self._policy, kernel.box)
        finally:
            await asyncio.shield(kernel.close())

    async def _perform(self, kernel: LiveKernel, notebook: Notebook) -> tuple[NotebookResult, bool]:
        """Run the cells. Names to fetch are checked first, so that an unanswerable request does not run."""
        for name in notebook.fetch:
            resolve(kernel.box, name)
        await run_to_end(stage, kernel.box, notebook.files)
        outcome, transcript = await kernel.perform(notebook, gently=bool(notebook.fetch))
        self._metrics.record_command(NAME, "run", outcome.ending, outcome.blame, outcome.usage.wall_s)
        cells, complete = transcript.results(_cause(outcome)), transcript.complete
        if not notebook.fetch:
            return NotebookResult(outcome, cells, complete), not transcript.begun
        fetched = await run_to_end(fetch, kernel.box, notebook.fetch, self._request_limits.quotas)
        return NotebookResult(outcome, cells, complete, fetched.files, fetched.skipped), not transcript.begun


def _cause(outcome: Outcome) -> str:
    """Return the cause of the kernel's death: the driver fails with it, and the accounting of the box shows whether a limit
    caused it."""
    return outcome.message if outcome.blame is Blame.limit else ""
