"""The default backend: boxes forked by spawners of our own, as inside/ draws them. Works as root and as a plain user."""

from __future__ import annotations

import asyncio
import itertools
import os
from contextlib import ExitStack
from types import TracebackType

from sandbox_runtime.errors import PlatformFault, TooMany
from sandbox_runtime.isolation import view
from sandbox_runtime.isolation.box import Furnishing, InitBox
from sandbox_runtime.isolation.channel import Channel
from sandbox_runtime.isolation.guest import WORKDIR, WRITABLE, Guest, examine
from sandbox_runtime.isolation.inside import wire
from sandbox_runtime.isolation.kernel.cgroup.place import Place, open_place
from sandbox_runtime.isolation.options import BackendOptions
from sandbox_runtime.isolation.spawners import CODE, Spawner
from sandbox_runtime.model import Layer, LayerReport, Policy


class NamespacesBackend:
    name = "namespaces"

    def __init__(self, options: BackendOptions) -> None:
        self._options = options
        self._rootless = os.geteuid() != 0
        self._spawners: dict[tuple[str, frozenset[Layer]], Spawner] = {}
        self._starting = asyncio.Lock()
        self._boxes: set[InitBox] = set()
        self._slots = _Slots(options.box_slots)
        self._ids = (f"box{number}" for number in itertools.count(1))
        self._guest: Guest | None = None
        self._place: Place | None = None

    async def __aenter__(self) -> NamespacesBackend:
        self._guest = await asyncio.to_thread(examine, self._options.guest_python)
        self._place = open_place("boxes")
        try:
            await self._spawner_for(Policy(preset=next(iter(self._options.presets))))
        except BaseException:
            self._place.close()
            raise
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await asyncio.gather(*(box.close() for box in list(self._boxes)), return_exceptions=True)
        for spawner in self._spawners.values():
            await spawner.close()
        self._spawners.clear()
        if self._place is not None:
            self._place.close()

    def layers(self) -> list[LayerReport]:
        return []

    async def open(self, policy: Policy) -> InitBox:
        spawner = await self._spawner_for(policy)
        slot = self._slots.take()
        with ExitStack() as undo:
            undo.callback(self._slots.give_back, slot)
            orders, reports = wire.pair(), wire.pair()
            with orders[1], reports[1]:
                box = InitBox(next(self._ids), policy, self._furnishing(policy), Channel(orders[0]), Channel(reports[0]))
                try:
                    await self._fork(spawner, box, slot, [orders[1].fileno(), reports[1].fileno()])
                except BaseException:
                    await box.close()
                    raise
            undo.pop_all()
        self._boxes.add(box)
        box.on_close += [lambda: self._slots.give_back(slot), lambda: self._boxes.discard(box)]
        return box

    async def _fork(self, spawner: Spawner, box: InitBox, slot: int, channels: list[int]) -> None:
        policy = box.policy
        request: wire.Message = {
            "disk_bytes": policy.disk_bytes,
            "disk_files": policy.disk_files,
            "network": policy.network.mode,
            "uid": None if self._rootless else self._options.box_uid_base + slot,
        }
        with box.entries() as entries:
            box.pidfd = await spawner.open(box.id, request, [*channels, *entries])
        await box.get_ready()

    def _furnishing(self, policy: Policy) -> Furnishing:
        assert self._guest is not None and self._place is not None
        return Furnishing(
            backend=self.name,
            label=self.name + (f" without {', '.join(sorted(policy.without))}" if policy.without else ""),
            workdir=WORKDIR,
            writable=WRITABLE,
            keep_bytes=self._options.keep_bytes,
            place=self._place,
            warm_python=self._guest.python,
        )

    async def _spawner_for(self, policy: Policy) -> Spawner:
        """The one with this preset and these layers; a dead one is replaced."""
        key = (policy.preset, policy.without)
        spawner = self._spawners.get(key)
        if spawner is not None and spawner.alive:
            return spawner
        async with self._starting:
            spawner = self._spawners.get(key)
            if spawner is not None and spawner.alive:
                return spawner
            if spawner is not None:
                await spawner.close()
            return await self._start_spawner(policy)

    async def _start_spawner(self, policy: Policy) -> Spawner:
        if self._guest is None:
            raise PlatformFault("the backend is not open")
        spawner = Spawner(self._guest.python, self._guest.base_env, self._config(self._guest, policy))
        await spawner.start()
        self._spawners[policy.preset, policy.without] = spawner
        return spawner

    def _config(self, guest: Guest, policy: Policy) -> wire.Message:
        entries = view.whole_machine() if Layer.root in policy.without else view.entries(guest.prefixes)
        late = view.late(guest.prefixes)
        place = os.path.join(self._options.state_dir, "root")
        os.makedirs(place, mode=0o755, exist_ok=True)
        return {
            "rootless": self._rootless,
            "code": CODE,
            "place": place,
            "view": entries + [{"kind": "bind", "source": target, "target": hidden} for hidden, target in late],
            "preload": list(self._options.presets[policy.preset]),
            "box": {
                "workdir": WORKDIR,
                "writable": dict(WRITABLE),
                "without": sorted(policy.without),
                "own_pids": Layer.pid not in policy.without,
                "late": late,
                "base_env": guest.base_env,
            },
        }


class _Slots:
    """Numbers below a bound, each held by one box at a time."""

    def __init__(self, count: int) -> None:
        self._free = list(range(count - 1, -1, -1))

    def take(self) -> int:
        if not self._free:
            raise TooMany("all boxes of this machine are in use", retry_after_s=1.0)
        return self._free.pop()

    def give_back(self, slot: int) -> None:
        self._free.append(slot)
