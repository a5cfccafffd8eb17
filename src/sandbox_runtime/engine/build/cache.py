"""The cache as the engine uses it: decides whether a step may be cached, computes its key, finds and stores builds."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from sandbox_runtime.engine.build.entry import decode, encode
from sandbox_runtime.engine.build.entry_store import BuildStore
from sandbox_runtime.engine.build.key import build_key
from sandbox_runtime.engine.build.toolchain_identity import ToolchainIdentity
from sandbox_runtime.errors import StorageFull, Unavailable
from sandbox_runtime.languages.language import Language
from sandbox_runtime.model.build import Build
from sandbox_runtime.model.limits import Limits
from sandbox_runtime.model.plan import Plan
from sandbox_runtime.model.policy import Layer, LayerReport, LayerState
from sandbox_runtime.telemetry.logs import Log
from sandbox_runtime.telemetry.metrics import Metrics
from sandbox_runtime.workspace.area import Quotas
from sandbox_runtime.workspace.ledger import Charge

_MAX_FILES = 4096
_REQUIRED_LAYERS = frozenset({Layer.mount, Layer.root})
"""Without these layers a program could reach the cache folder."""


class BuildCache:
    """Cache of builds. `workdir` is the workspace path in boxes."""

    def __init__(
        self, store: BuildStore, identity: ToolchainIdentity, workdir: str, entry_bytes: int, metrics: Metrics, log: Log
    ) -> None:
        self._store = store
        self.workdir = workdir
        self._identity = identity
        self._entry_bytes = entry_bytes
        self._metrics = metrics
        self._log = log

    @property
    def quotas(self) -> Quotas:
        """Bounds of what is stored for one step. They also bound the staged files, which are read again to detect changes."""
        return Quotas(_MAX_FILES, self._entry_bytes, self._entry_bytes)

    def key(self, language: Language, plan: Plan, limits: Limits, version: str) -> str | None:
        """Return the key, or None if the build cannot be cached: its row forbids it, too much is staged, or the compiler is not
        found."""
        if language.compile is None or plan.compile is None or not language.compile.cache_build:
            return None
        if sum(len(file.content) for file in plan.files) > self._entry_bytes:
            return None
        toolchain = self._identity.stamps(plan.compile, language.name, language.install.folder)
        return build_key(language, plan, limits, (version, *toolchain)) if toolchain else None

    async def find(self, key: str) -> Build | None:
        build = await asyncio.to_thread(self._read, key)
        self._metrics.record_build_lookup("hit" if build else "miss")
        return build

    async def keep(self, key: str, build: Build) -> None:
        """Store a build. Failures are logged; the caller's result does not depend on them."""
        try:
            await asyncio.to_thread(self._write, key, build)
        except StorageFull as error:
            self._log.info("a build was not kept", reason=str(error))
        except OSError as error:
            self._metrics.record_fault("build_cache")
            self._log.warning("a build could not be kept", reason=str(error))

    def _read(self, key: str) -> Build | None:
        content = self._store.read(key)
        if content is None:
            return None
        build = decode(content)
        if build is None:
            self._store.drop(key)
            self._metrics.record_fault("build_cache")
        return build

    def _write(self, key: str, build: Build) -> None:
        content = encode(build)
        if sum(map(len, content)) <= self._entry_bytes:
            self._store.write(key, content)


def open_build_cache(
    folder: str,
    max_bytes: int,
    entry_bytes: int,
    *,
    identity: ToolchainIdentity,
    workdir: str,
    layers: Sequence[LayerReport],
    metrics: Metrics,
    log: Log,
    charge: Charge | None = None,
) -> BuildCache | None:
    """Return the cache, or None if the operator disabled it, boxes can reach the folder, or the folder is unusable."""
    if not max_bytes:
        return None
    on = {report.layer for report in layers if report.state is LayerState.on}
    if not on >= _REQUIRED_LAYERS:
        log.info("builds are not kept: boxes are not isolated from the files of this machine")
        return None
    store = BuildStore(folder, max_bytes, charge)
    try:
        store.open()
    except Unavailable as error:
        log.warning("builds are not kept", reason=str(error))
        return None
    return BuildCache(store, identity, workdir, min(entry_bytes, max_bytes), metrics, log)
