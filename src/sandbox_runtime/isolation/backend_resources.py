"""Resources that every backend needs: the guest interpreter, cgroups, the crash watchdog, host users and the list of open
boxes."""

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
    """Opened and closed by the backend that owns it."""

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
        """Number of upgrades of the guest interpreter since the backend was opened."""
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
        """Use the upgraded interpreter for new boxes. Open boxes keep the old one."""
        try:
            self._guest = await asyncio.to_thread(inspect_interpreter, self.options.guest_python)
        except Unavailable:
            return None  # the upgrade is still in progress; the watcher calls again
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
        """Return the environment of the first process of a box.

        It holds none of the server's variables. Only if the policy disables the environment layer are they passed on, so that a
        test can prove that the layer matters.
        """
        server_env = dict(os.environ) if Layer.environment in policy.without else {}
        return {**server_env, **self.guest.base_env}

    def state_folder(self, *parts: str) -> str:
        """Return the path of a folder below state_dir and create it if missing."""
        path = os.path.join(self.options.state_dir, *parts)
        try:
            os.makedirs(path, mode=0o755, exist_ok=True)
        except OSError as error:
            advice = "set state_dir to a writable folder with free space"
            raise Unavailable(f"cannot create the folder {path}: {error.strerror}; {advice}") from error
        return path

    def toolchains(self) -> list[rootfs.Entry]:
        """Return the rootfs entries that a policy with toolchains adds."""
        return rootfs.toolchains(self.options.toolchains_dir, self.guest.prefixes)

    def new_box(self, policy: Policy, config: BoxConfig) -> tuple[InitBox, wire.ChannelEnds]:
        """Create a box without an init, and the channel ends that its init must receive."""
        orders, reports = wire.pair(), wire.pair()
        box = InitBox(next(self._ids), policy, config, Channel(orders[0]), Channel(reports[0]))
        generation = self.generation
        box.is_outdated = lambda: self.generation != generation
        self._boxes.add(box)
        box.on_close.append(lambda: self._boxes.discard(box))
        return box, wire.ChannelEnds(orders[1], reports[1])

    def allocate_uid(self, on_close: list[Callable[[], object]]) -> int | None:
        """Reserve a host user for one box until `on_close` runs. Returns None if this server cannot assign users."""
        if self.rootless:
            return None
        if not self._free_slots:
            raise TooMany("the maximum number of boxes is open; try again later", retry_after_s=1.0)
        slot = self._free_slots.pop()
        on_close.append(lambda: self._free_slots.append(slot))
        return self._first_uid + slot

    async def connect(self, box: InitBox) -> None:
        """Set up the network of the box if its policy asks for one. The init of the box waits for this before it continues."""
        if box.policy.network.mode == "none":
            return
        channel = box.reports if box.runner_pidfd < 0 else box.orders
        received = await channel.receive(OPEN_TIMEOUT_S)
        if received.message is None or not received.message.get("network"):
            raise PlatformFault(f"cannot open a box: {(received.message or {}).get('fault', 'its init died')}")
        if received.descriptors:
            box.set_pidfd(received.descriptors.pop())
        if self._nat is None:
            self._nat = Nat(self.options.nat)
            await self._nat.sweep()
        box.link = await self._nat.open(box.pid(), box.id, box.policy.network.allow)
        channel.send({"resolver": box.link.resolv_conf})

    def limit_layers(self) -> Mapping[Layer, LayerReport]:
        """Report how memory, processes and cpu are limited on this host."""
        reports = {}
        for layer, controller in ((Layer.memory, "memory"), (Layer.processes, "pids"), (Layer.cpu, "cpu")):
            if controller in self.cgroup_root.controllers:
                reports[layer] = LayerReport(layer, LayerState.on, "by cgroup")
            else:
                missing = self.cgroup_root.missing[controller]
                reports[layer] = LayerReport(layer, LayerState.missing, f"{missing.reason}; {_FALLBACKS[layer]}", missing.fix)
        return reports


_FALLBACKS = {
    Layer.memory: "a limit per process (RLIMIT_DATA) is used instead, and out-of-memory looks like any other failure",
    Layer.processes: "a limit per user (RLIMIT_NPROC) is used instead",
    Layer.cpu: "cores are not limited; cpu seconds are limited per process (RLIMIT_CPU)",
}


def label(backend: str, policy: Policy) -> str:
    return f"{backend} without {', '.join(sorted(policy.without))}" if policy.without else backend
