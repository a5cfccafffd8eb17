"""The default backend: boxes are forked from our own spawners (see inside/). Works as root and as a plain user."""

from __future__ import annotations

import asyncio
import contextlib
import os
from types import TracebackType

from sandbox_runtime.errors import InvalidRequest, PlatformFault, Unavailable
from sandbox_runtime.isolation import rootfs
from sandbox_runtime.isolation.backend_resources import BackendResources, label
from sandbox_runtime.isolation.box import BoxConfig, InitBox
from sandbox_runtime.isolation.box_files import SharedFiles
from sandbox_runtime.isolation.guest_interpreter import HOME, WORKDIR, WRITABLE
from sandbox_runtime.isolation.images import DiskImages
from sandbox_runtime.isolation.inside import warm_pages, warmup_programs, wire
from sandbox_runtime.isolation.options import BackendOptions
from sandbox_runtime.isolation.port import Files
from sandbox_runtime.isolation.spawners import CODE, Spawner
from sandbox_runtime.model import Command, Layer, LayerReport, LayerState, Medium, Policy

_SINGLE_THREADED_ENV = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
"""A spawner forks, so modules that it preloads must not start threads."""

_MAX_UPGRADE_RETRIES = 5


class NamespacesBackend:
    name = "namespaces"

    def __init__(self, options: BackendOptions) -> None:
        self._options = options
        self._resources = BackendResources(self.name, options)
        self._spawners: dict[tuple[str, frozenset[Layer], bool], Spawner] = {}
        self._retired: set[Spawner] = set()
        """Spawners of an older interpreter. Each is closed with its last box."""
        self._closing_tasks: set[asyncio.Task[None]] = set()
        self._starting = asyncio.Lock()
        self._user_namespace = -1
        """Descriptor of the user namespace that spawners of complete boxes share. Unused as root."""
        self._images = DiskImages(options.images_dir, options.memory_files_bytes)
        self._opened = contextlib.AsyncExitStack()

    async def __aenter__(self) -> NamespacesBackend:
        async with contextlib.AsyncExitStack() as opened:
            opened.push_async_callback(self._close_spawners)
            await opened.enter_async_context(self._resources)
            self._resources.on_upgrade.append(self._retire_spawners)
            for name, preset in self._options.presets.items():
                if preset.eager:
                    await self._spawner_for(Policy(preset=name))
            self._opened = opened.pop_all()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self._opened.aclose()

    async def _close_spawners(self) -> None:
        await asyncio.gather(*(spawner.close() for spawner in (*self._spawners.values(), *self._retired)), *self._closing_tasks)
        self._spawners.clear()
        self._retired.clear()
        if self._user_namespace >= 0:
            os.close(self._user_namespace)
            self._user_namespace = -1

    def _retire_spawners(self) -> None:
        """Stop forking from spawners of an older interpreter. Open boxes keep their spawner."""
        for key, spawner in list(self._spawners.items()):
            del self._spawners[key]
            self._retired.add(spawner)
            self._close_unused(spawner)

    def _release_spawner(self, spawner: Spawner) -> None:
        spawner.boxes -= 1
        self._close_unused(spawner)

    def _close_unused(self, spawner: Spawner) -> None:
        if spawner in self._retired and not spawner.boxes:
            self._retired.discard(spawner)
            task = asyncio.create_task(spawner.close())
            self._closing_tasks.add(task)
            task.add_done_callback(self._closing_tasks.discard)

    def layers(self) -> list[LayerReport]:
        """Report the layers. A spawner that started has applied every layer once; only limits depend on the host."""
        limit_layers = self._resources.limit_layers()
        return [limit_layers.get(layer) or LayerReport(layer, LayerState.on) for layer in Layer]

    def medium(self, disk_bytes: int) -> Medium:
        return self._images.medium(disk_bytes)

    async def open_files(self, disk_bytes: int, disk_files: int) -> SharedFiles:
        files = SharedFiles(WORKDIR, WRITABLE, None, self._no_pause())
        files.uid = self._resources.allocate_uid(files.on_close)
        self._resources.shared.add(files)
        files.on_close.append(lambda: self._resources.shared.discard(files))
        request = {"disk_bytes": disk_bytes, "disk_files": disk_files, "uid": files.uid}
        try:
            spawner = await self._spawner_for(Policy(preset=next(iter(self._options.presets))))
            if self.medium(disk_bytes) is Medium.disk:
                await self._on_disk(spawner, files, request)
            else:
                files.set_descriptors(*await spawner.make_files(request))
        except BaseException:
            await files.close()
            raise
        return files

    async def _on_disk(self, spawner: Spawner, files: SharedFiles, request: wire.Message) -> None:
        mount = await self._images.mount_new(int(request["disk_bytes"]), int(request["disk_files"]))
        try:
            files.set_descriptors(*await spawner.make_files(request, mount))
        finally:
            os.close(mount)

    async def open(self, policy: Policy, files: Files | None = None) -> InitBox:
        """Open a box. If the spawner turns out to be dead, try once more with a new one."""
        if policy.gpu and not rootfs.gpu_devices():
            raise Unavailable(rootfs.NO_GPU)
        if policy.preset not in self._options.presets:
            raise InvalidRequest(f"unknown preset {policy.preset!r}; available: {', '.join(self._options.presets)}")
        if files is not None and not isinstance(files, SharedFiles):
            raise InvalidRequest("these files belong to another backend")
        spawner = await self._spawner_for(policy)
        try:
            return await self._open_from(spawner, policy, files)
        except PlatformFault:
            if spawner.alive:
                raise
            return await self._open_from(await self._spawner_for(policy), policy, files)

    async def _open_from(
        self, spawner: Spawner, policy: Policy, files: SharedFiles | None, more: wire.Message | None = None
    ) -> InitBox:
        """Open a box from this spawner. `more` is added to the request."""
        box, ends = self._resources.new_box(policy, self._box_config(policy, freezable=files is not None and not files.no_pause))
        spawner.boxes += 1
        box.on_close.append(lambda: self._release_spawner(spawner))
        try:
            if files is not None:
                files.add_box(box)
            request = self._request(policy, files.uid if files else self._resources.allocate_uid(box.on_close), files) | (
                more or {}
            )
            with box.cgroup_entries() as entries:
                passed = [*ends.descriptors(), *entries, *([files.namespace_fd] if files else [])]
                opened = await spawner.open(box.id, request, passed, single=self._is_single_use(policy))
            box.pidfd, box.runner_pidfd = (*opened, -1)[:2]
            ends.close()
            await self._resources.connect(box)
            await box.wait_ready()
            if files is not None:
                await files.pause_if_paused(box)
        except BaseException:
            ends.close()
            await box.close()
            raise
        return box

    def _is_single_use(self, policy: Policy) -> bool:
        """Whether to open a single-use box. Needs a pid namespace: only that ends together with its first process."""
        return policy.single_use and Layer.pid not in policy.without

    def _request(self, policy: Policy, uid: int | None, files: SharedFiles | None) -> wire.Message:
        """Build the request. A policy with toolchains starts other programs, so rehearsing in the interpreter would only waste
        memory."""
        more = {"extra_trees": rootfs.trees(self._resources.toolchains()), "rehearse": False} if policy.toolchains else {}
        return {
            **more,
            "disk_bytes": policy.disk_bytes,
            "disk_files": policy.disk_files,
            "network": policy.network.mode,
            "uid": uid,
            "shared_files": files is not None,
        }

    def _no_pause(self) -> str:
        missing = self._resources.cgroup_root.no_freezer
        return f"{missing.reason}; {missing.fix}" if missing is not None else ""

    def _box_config(self, policy: Policy, *, freezable: bool) -> BoxConfig:
        return BoxConfig(
            backend=self.name,
            label=label(self.name, policy),
            workdir=WORKDIR,
            writable=WRITABLE,
            keep_bytes=self._options.keep_bytes,
            cgroup_root=self._resources.cgroup_root,
            usual_limits=self._options.usual_limits,
            freezable=freezable,
            warm_python=self._resources.guest.python,
            deferred_closer=self._resources.deferred_closer,
        )

    async def _spawner_for(self, policy: Policy) -> Spawner:
        """Return the spawner for this preset, these layers and this GPU access. Replaces a dead one."""
        key = (policy.preset, policy.without, policy.gpu)
        spawner = self._spawners.get(key)
        if spawner is not None and spawner.alive:
            return spawner
        async with self._starting:
            spawner = self._spawners.get(key)
            if spawner is not None and spawner.alive:
                return spawner
            if spawner is not None:
                await spawner.close()
            self._spawners[key] = spawner = await self._start_current(policy)
            return spawner

    async def _start_current(self, policy: Policy) -> Spawner:
        """Start a spawner of the current interpreter. Retries if the interpreter was upgraded meanwhile."""
        for _ in range(_MAX_UPGRADE_RETRIES):
            generation = self._resources.generation
            spawner = await self._start_spawner(policy)
            try:
                await self._profile_warm_pages(spawner, policy)
            except BaseException:
                await spawner.close()
                raise
            if generation == self._resources.generation:
                return spawner
            await spawner.close()
        raise Unavailable("the guest interpreter keeps changing: try again when its upgrade is finished")

    async def _start_spawner(self, policy: Policy) -> Spawner:
        guest = self._resources.guest
        spawner = Spawner(
            guest.python, {**self._resources.start_env(policy), **_SINGLE_THREADED_ENV}, self._spawner_config(policy)
        )
        if policy.without:  # a box that lacks a layer, as tests open it, must not share a user namespace with complete ones
            await spawner.start()
            return spawner
        await spawner.start(self._user_namespace)
        if self._user_namespace < 0:
            self._user_namespace = spawner.take_user_namespace()
        return spawner

    async def _profile_warm_pages(self, spawner: Spawner, policy: Policy) -> None:
        """Run a sample in the first box to learn which memory pages programs write. Later boxes copy them in advance."""
        preset, pages = self._options.presets[policy.preset], bytearray()
        if policy.without or preset.copyable:
            return
        first = Policy(preset=policy.preset, gpu=policy.gpu, single_use=True)
        box = await self._open_from(spawner, first, None, {"report_pages": True})
        try:
            sample = os.open(f"{WRITABLE[WORKDIR]}/main.py", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644, dir_fd=box.files_fd)
            with open(sample, "w", encoding="utf-8") as file:
                file.write(warmup_programs.program(preset.modules))
            command = Command((self._resources.guest.python, "main.py"), limits=self._options.usual_limits)
            outcome = await box.run(command, sink=lambda stream, piece: pages.extend(piece) if stream == "stderr" else None)
        finally:
            await box.close()
            await self._resources.deferred_closer.empty()
        if not outcome.ok:
            raise PlatformFault(f"the sample program fails with the preset {policy.preset}: {outcome.stderr.text[-300:]}")
        spawner.set_warm_pages(warm_pages.parse_pages(pages.decode()))

    def _spawner_config(self, policy: Policy) -> wire.Message:
        guest, preset = self._resources.guest, self._options.presets[policy.preset]
        entries = (
            rootfs.whole_machine(self._resources.guest.prefixes)
            if Layer.root in policy.without
            else rootfs.entries(guest.prefixes)
        )
        return {
            "rootless": self._resources.rootless,
            "code": CODE,
            "root": self._resources.state_folder("root"),
            "rootfs": entries if Layer.root in policy.without else entries + self._resources.toolchains(),
            "preload": list(preset.modules),
            "injected": [list(module) for module in preset.injected],
            "copyable": preset.copyable,
            "box": {
                "workdir": WORKDIR,
                "writable": dict(WRITABLE),
                "without": sorted(layer.value for layer in policy.without),
                "own_pids": Layer.pid not in policy.without,
                "trees": rootfs.trees(entries),
                "gpu": rootfs.gpu_devices() if policy.gpu else [],
                "base_env": guest.base_env,
                "home": [(f"{WRITABLE[HOME]}/{name}", target) for name, target in guest.home],
            },
        }
