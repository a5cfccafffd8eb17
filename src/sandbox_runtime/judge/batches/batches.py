"""The interface of batches for callers: create, get, list, follow, read results, cancel, delete."""

from __future__ import annotations

import asyncio
import json
import secrets
import shutil
import time
from collections.abc import AsyncIterator, Container, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox_runtime import timestamps
from sandbox_runtime.errors import InvalidRequest, NotFound, TooMany
from sandbox_runtime.judge.batches.config import read_config
from sandbox_runtime.judge.batches.line_judge import LineJudge
from sandbox_runtime.judge.batches.spool import Spool
from sandbox_runtime.judge.batches.workers import BatchWorkers
from sandbox_runtime.judge.metrics import Summary, summarize
from sandbox_runtime.model import ENDED_BATCH_STATES, AuditEntry, Batch, BatchState, StorageKind
from sandbox_runtime.model.limits import GIB, MIB
from sandbox_runtime.store import BatchFilter, Page, Store
from sandbox_runtime.telemetry import Log
from sandbox_runtime.workspace.ledger import Ledger

LIVE_STATES = (BatchState.waiting, BatchState.running)
_MIN_UPDATE_INTERVAL_S = 0.25
_KEEPALIVE_S = 15.0
_RETENTION_INTERVAL_S = 3600.0
_PAGE_SIZE = 500


@dataclass(frozen=True, slots=True)
class BatchOptions:
    folder: Path
    """Holds the files of all batches."""
    parallel: int = 4
    """Completions judged concurrently, over all batches."""
    max_bytes: int = 4 * GIB
    max_line_bytes: int = 64 * MIB
    max_live_per_owner: int = 100
    keep_s: float = 7 * 86_400.0


class Batches:
    """In all methods the owner "" has access to the batches of every owner."""

    def __init__(
        self, store: Store, workers: BatchWorkers, options: BatchOptions, datasets: Container[str], ledger: Ledger
    ) -> None:
        self._ledger = ledger
        self._spools: dict[str, Spool] = {}
        self._store = store
        self._workers = workers
        self._options = options
        self._datasets = datasets

    async def create(
        self,
        dataset: str,
        config: Mapping[str, Any],
        chunks: AsyncIterator[bytes],
        *,
        owner: str = "",
        key: str = "",
        actor: str = "",
    ) -> tuple[Batch, bool]:
        """Create a batch from JSON lines; chunks may be cut anywhere. Returns the batch and whether it is new.

        With an idempotency key that was used before, the earlier batch is returned and no chunk is read.
        """
        self._check(dataset, config)
        existing = await self._store.batches.find_by_key(owner, key)
        if existing is not None:
            return self._existing(existing, dataset), False
        await self._check_count(owner)
        name = f"batch_{time.strftime('%Y%m%d', time.gmtime())}_{secrets.token_hex(8)}"
        created_ms = timestamps.now_ms()
        Batch(id=name, owner=owner, dataset=dataset, key=key, created_ms=created_ms)  # refuses an invalid key first
        spool = self._spool(name, owner)
        try:
            total, size = await spool.receive(chunks, self._options.max_bytes, self._options.max_line_bytes)
        except BaseException:
            self._remove(name, owner)
            raise
        batch = Batch(
            id=name,
            owner=owner,
            dataset=dataset,
            key=key,
            config_json=json.dumps(dict(config)),
            total=total,
            input_bytes=size,
            created_ms=created_ms,
        )
        return await self._begin(batch, spool, actor)

    async def _begin(self, batch: Batch, spool: Spool, actor: str) -> tuple[Batch, bool]:
        try:
            stored, new = await self._store.batches.add_once(batch, audit=_audit_entry(actor, "create", batch))
        except BaseException:
            self._remove(batch.id, batch.owner)
            raise
        if not new:
            self._remove(batch.id, batch.owner)
            return self._existing(stored, batch.dataset), False
        await self._workers.add(stored, spool)
        return stored, True

    async def get(self, name: str, owner: str = "") -> Batch:
        """Return the batch, or raise NotFound."""
        live = self._workers.find(name)
        batch = live.batch if live else await self._store.batches.find(name)
        if batch is None or (owner and batch.owner != owner):
            raise NotFound(f"there is no batch {name!r}")
        return batch

    async def list(self, filter: BatchFilter, limit: int = 50, offset: int = 0) -> Page[Batch]:
        page = await self._store.batches.list(filter, limit, offset)
        live = (self._workers.find(batch.id) for batch in page.items)
        items = tuple(progress.batch if progress else batch for progress, batch in zip(live, page.items, strict=True))
        return Page(items, page.total, page.limit, page.offset)

    async def cancel(self, name: str, owner: str = "", actor: str = "") -> Batch:
        """Cancel the batch; existing results stay. Raises Conflict if it has ended."""
        batch = await self.get(name, owner)
        ended = await self._store.batches.update_if(
            name,
            LIVE_STATES,
            audit=_audit_entry(actor, "cancel", batch),
            state=BatchState.cancelled,
            ended_ms=timestamps.now_ms(),
        )
        await self._workers.drop(ended)
        return await self._store.batches.get(name)

    async def delete(self, name: str, owner: str = "", actor: str = "") -> None:
        """Delete the batch; cancel it first if it has not ended."""
        batch = await self.get(name, owner)
        if not batch.ended:
            await self.cancel(name, owner, actor)
        await self._store.batches.delete(name, audit=_audit_entry(actor, "delete", batch))
        self._remove(name, batch.owner)

    async def follow(self, name: str, owner: str = "") -> AsyncIterator[Batch | None]:
        """Yield the batch after each change, at a limited rate, and None as a keepalive. Ends when the batch ends."""
        while True:
            batch, progress = await self.get(name, owner), self._workers.find(name)
            yield batch
            if batch.ended or progress is None:
                return
            await asyncio.sleep(_MIN_UPDATE_INTERVAL_S)
            while not await progress.wait_for_change(batch, _KEEPALIVE_S):
                yield None

    async def results(self, name: str, owner: str = "", *, offset: int = 0, follow: bool = False) -> AsyncIterator[bytes]:
        """Yield JSON lines in order of completion, from that byte offset on. follow: until the batch has ended."""
        spool = self._spool(name, (await self.get(name, owner)).owner)
        while True:
            progress = self._workers.find(name)
            seen = progress.batch if progress else None
            lines, offset = await asyncio.to_thread(spool.read_results, offset)
            if lines:
                yield lines
            elif progress is None or seen is None or not follow:
                return
            else:
                await progress.wait_for_change(seen, _KEEPALIVE_S)

    async def summary(self, name: str, owner: str = "", ks: Sequence[int] = (1,)) -> Summary:
        """Return the scores of the results so far."""
        spool = self._spool(name, (await self.get(name, owner)).owner)
        return await asyncio.to_thread(lambda: summarize(spool.samples(), ks))

    def _spool(self, name: str, owner: str) -> Spool:
        """Return the spool of a batch: one object, and so one charge, per batch."""
        spool = self._spools.get(name)
        if spool is None:
            charge = self._ledger.open(StorageKind.batches, owner)
            spool = self._spools[name] = Spool(self._options.folder / name, charge)
        return spool

    def _remove(self, name: str, owner: str) -> None:
        self._spool(name, owner).remove()
        del self._spools[name]

    def _check(self, dataset: str, config: Mapping[str, Any]) -> None:
        """Check what can be checked before the first completion is read."""
        parsed = read_config(dataset, config)
        if dataset not in self._datasets and not parsed.dataset_type:
            raise NotFound(f"there is no dataset {dataset[:80]!r}; `sandbox datasets list` lists them")

    async def _check_count(self, owner: str) -> None:
        live = await self._store.batches.count(BatchFilter(owner=owner, states=LIVE_STATES))
        if live >= self._options.max_live_per_owner:
            raise TooMany(f"{live} batches are waiting or running: wait for one of them to end, or cancel one", retry_after_s=30)

    def _existing(self, batch: Batch, dataset: str) -> Batch:
        if batch.dataset != dataset:
            raise InvalidRequest(f"the idempotency key was used for a batch of {batch.dataset!r}: use another key")
        live = self._workers.find(batch.id)
        return live.batch if live else batch

    # Background work.

    async def resume(self) -> None:
        """Continue the batches of an earlier process, and remove folders without a batch."""
        known: set[str] = set()
        while page := (await self._store.batches.list(None, limit=_PAGE_SIZE, offset=len(known))).items:
            known |= {batch.id for batch in page}
            for batch in page:
                spool = self._spool(batch.id, batch.owner)
                spool.recount()
                if batch.ended:
                    spool.remove_input()
                else:
                    await self._workers.add(batch, spool)
        if self._options.folder.is_dir():
            for folder in self._options.folder.iterdir():
                if folder.name not in known:
                    shutil.rmtree(folder, ignore_errors=True)

    async def run_retention(self) -> None:
        """Delete expired batches periodically. Runs until cancelled."""
        while True:
            await self.delete_expired(timestamps.now_ms())
            await asyncio.sleep(_RETENTION_INTERVAL_S)

    async def delete_expired(self, at_ms: int) -> int:
        """Delete the batches that ended longer than `keep_s` ago; return their number."""
        page = await self._store.batches.list(BatchFilter(states=ENDED_BATCH_STATES), limit=_PAGE_SIZE)
        before_ms = at_ms - int(self._options.keep_s * 1000)
        expired = [batch for batch in page.items if (batch.ended_ms or batch.updated_ms) < before_ms]
        for batch in expired:
            await self.delete(batch.id, actor="retention")
        return len(expired)


def _audit_entry(actor: str, action: str, batch: Batch) -> AuditEntry:
    details = json.dumps({"dataset": batch.dataset, "total": batch.total})
    return AuditEntry(
        at_ms=timestamps.now_ms(),
        actor=actor,
        action=action,
        kind="batch",
        subject=batch.id,
        owner=batch.owner,
        details_json=details,
    )


@asynccontextmanager
async def open_batches(
    store: Store, judge: LineJudge, datasets: Container[str], options: BatchOptions, log: Log, ledger: Ledger
) -> AsyncIterator[Batches]:
    """Start the workers and resume unfinished batches. datasets: ids of the registered datasets."""
    options.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    async with BatchWorkers(store, judge, options.parallel, log) as workers:
        batches = Batches(store, workers, options, datasets, ledger)
        await batches.resume()
        retention = asyncio.create_task(batches.run_retention())
        try:
            yield batches
        finally:
            retention.cancel()
            await asyncio.gather(retention, return_exceptions=True)
