"""What every backend stands on: the guest's interpreter, the cgroup place, the keeper, and the list of open boxes."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType

from sandbox_runtime.errors import PlatformFault, TooMany, Unavailable
from sandbox_runtime.isolation import rootfs, users
from sandbox_runtime.isolation.box import OPEN_TIMEOUT_S, BoxConfig, InitBox
from sandbox_runtime.isolation.box_files import SharedFiles
from sandbox_runtime.isolation.channel import Channel
from sandbox_runtime.isolation.deferred_close import DeferredCloser
from sandbox_runtime.isolation.guest_interpreter import GuestInterpreter, inspect_interpreter
from sandbox_runtime.isolation.guest_upgrade import GuestUpgradeWatcher
from sandbox_runtime.isolation.inside import wire
from sandbox_runtime.isolation.kernel.cgroup.root import CgroupRoot, open_cgroup_root
from sandbox_runtime.isolation.nat import Nat
from sandbox_runtime.isolation.options import BackendOptions
from sandbox_runtime.isolation.watchdog import CrashWatchdog
from sandbox_runtime.model import Layer, LayerReport, LayerState, Policy


class BackendResources:
    """Opened and closed by the backend it belongs to."""

    def __init__(self, backend: str, options: BackendOptions) -> None:
        self.backend = backend
        self.options = options
        self.rootless = not users.can_assign_uids(options.box_uid_base, options.box_slots)
        self._first_uid = options.box_uid_base
        self.watchdog = CrashWatchdog()
        self._opened = contextlib.ExitStack()
        self._boxes: set[InitBox] = set()
        self.deferred_closer = DeferredCloser()
        self.shared: set[SharedFiles] = set()
        self._free_slots = list(range(options.box_slots - 1, -1, -1))
        self._ids = (f"box{number}" for number in itertools.count(1))
        self._guest: GuestInterpreter | None = None
        self.generation = 0
        """How often the guest's interpreter was upgraded since the backend was opened."""
        self.on_upgrade: list[Callable[[], object]] = []
        self._watch: GuestUpgradeWatcher | None = None
        self._cgroup_root: CgroupRoot | None = None
        self._nat: Nat | None = None

    async def __aenter__(self) -> BackendResources:
        with contextlib.ExitStack() as opened:
            self._guest = await asyncio.to_thread(inspect_interpreter, self.options.guest_python)
            self.watchdog.start()
            opened.callback(self.watchdog.close)
            self._cgroup_root = opened.enter_context(open_cgroup_root(f"{self.backend}-{secrets.token_hex(4)}"))
            self.watchdog.watch_cgroup_root(self._cgroup_root)
            if not self.rootless:
                self._first_uid = opened.enter_context(users.lease(self.options.box_uid_base, self.options.box_slots))
            self._watch = GuestUpgradeWatcher(self._guest.files, self.options.guest_check_s, self._on_guest_upgrade)
            self._watch.start()
            self._opened = opened.pop_all()
        return self

    async def _on_guest_upgrade(self) -> Sequence[str] | None:
        """Boxes opened from now on belong to the interpreter that is there now; those that are open go on with theirs."""
        try:
            self._guest = await asyncio.to_thread(inspect_interpreter, self.options.guest_python)
        except Unavailable:
            return None  # in the middle of an upgrade: look again
        self.generation += 1
        for call in self.on_upgrade:
            call()
        return self._guest.files

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            if self._watch is not None:
                await self._watch.close()
            await asyncio.gather(*(box.close() for box in list(self._boxes)), return_exceptions=True)
            await self.deferred_closer.empty()
            await asyncio.gather(*(files.close() for files in list(self.shared)), return_exceptions=True)
        finally:
            if self._nat is not None:
                await self._nat.close()
            self._opened.close()

    @property
    def guest(self) -> GuestInterpreter:
        if self._guest is None:
            raise PlatformFault("the backend is not open")
        return self._guest

    @property
    def cgroup_root(self) -> CgroupRoot:
        if self._cgroup_root is None:
            raise PlatformFault("the backend is not open")
        return self._cgroup_root

    def start_env(self, policy: Policy) -> dict[str, str]:
        """What the first process behind a box is started with: never anything of our own, except to prove that it would be
        seen."""
        ours = dict(os.environ) if Layer.environment in policy.without else {}
        return {**ours, **self.guest.base_env}

    def state_folder(self, *parts: str) -> str:
        """A folder of the operator's state folder, made where it is not there yet."""
        path = os.path.join(self.options.state_dir, *parts)
        try:
            os.makedirs(path, mode=0o755, exist_ok=True)
        except OSError as error:
            advice = "set state_dir to a folder that can be written and has room"
            raise Unavailable(f"the folder {path} cannot be made: {error.strerror}; {advice}") from error
        return path

    def toolchains(self) -> list[rootfs.Entry]:
        """What a box whose policy asks for toolchains sees beside the rest."""
        return rootfs.toolchains(self.options.toolchains_dir, self.guest.prefixes)

    def new_box(self, policy: Policy, config: BoxConfig) -> tuple[InitBox, wire.ChannelEnds]:
        """A box without an init yet, and the far ends of its channels, which its init is to be given."""
        orders, reports = wire.pair(), wire.pair()
        box = InitBox(next(self._ids), policy, config, Channel(orders[0]), Channel(reports[0]))
        generation = self.generation
        box.is_outdated = lambda: self.generation != generation
        self._boxes.add(box)
        box.on_close.append(lambda: self._boxes.discard(box))
        return box, wire.ChannelEnds(orders[1], reports[1])

    def allocate_uid(self, on_close: list[Callable[[], object]]) -> int | None:
        """A host user that nobody else has until on_close is called; None where we have no right to choose one."""
        if self.rootless:
            return None
        if not self._free_slots:
            raise TooMany("all boxes of this machine are in use", retry_after_s=1.0)
        slot = self._free_slots.pop()
        on_close.append(lambda: self._free_slots.append(slot))
        return self._first_uid + slot

    async def connect(self, box: InitBox) -> None:
        """Where its policy says so, give the box a network; its init waits for that before it goes on."""
        if box.policy.network.mode == "none":
            return
        channel = box.reports if box.runner_pidfd < 0 else box.orders
        received = await channel.receive(OPEN_TIMEOUT_S)
        if received.message is None or not received.message.get("network"):
            raise PlatformFault(f"a box could not be made: {(received.message or {}).get('fault', 'its init died')}")
        if received.descriptors:
            box.hold(received.descriptors.pop())
        if self._nat is None:
            self._nat = Nat(self.options.nat)
            await self._nat.sweep()
        box.link = await self._nat.open(box.pid(), box.id, box.policy.network.allow)
        channel.send({"resolver": box.link.resolv_conf})

    def limit_layers(self) -> Mapping[Layer, LayerReport]:
        """How memory, processes and cpu are held on this host."""
        found = {}
        for layer, controller in ((Layer.memory, "memory"), (Layer.processes, "pids"), (Layer.cpu, "cpu")):
            if controller in self.cgroup_root.controllers:
                found[layer] = LayerReport(layer, LayerState.on, "by cgroup")
            else:
                lack = self.cgroup_root.missing[controller]
                found[layer] = LayerReport(layer, LayerState.missing, f"{lack.reason}; {_FALLBACKS[layer]}", lack.fix)
        return found


_FALLBACKS = {
    Layer.memory: "a limit per process (RLIMIT_DATA) stands in, and running out of memory cannot be told from other failures",
    Layer.processes: "a limit per user (RLIMIT_NPROC) stands in",
    Layer.cpu: "cores are not limited; cpu seconds are, per process (RLIMIT_CPU)",
}


def label(backend: str, policy: Policy) -> str:
    return f"{backend} without {', '.join(sorted(policy.without))}" if policy.without else backend
