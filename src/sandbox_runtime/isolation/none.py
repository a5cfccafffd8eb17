"""Backend without isolation: process groups and rlimits only. For development; must be chosen by name, and every answer says
so."""

from __future__ import annotations

import os
import secrets
from types import TracebackType

from sandbox_runtime.errors import PlatformFault, Unavailable
from sandbox_runtime.isolation.backend_resources import BackendResources
from sandbox_runtime.isolation.box import BoxConfig, InitBox
from sandbox_runtime.isolation.inside import wire
from sandbox_runtime.isolation.kernel import folders
from sandbox_runtime.isolation.launcher import launch
from sandbox_runtime.isolation.options import BackendOptions
from sandbox_runtime.isolation.port import Files
from sandbox_runtime.isolation.spawners import START
from sandbox_runtime.model import Layer, LayerReport, LayerState, Medium, Policy

LABEL = "none: NO ISOLATION, the program ran as the server's own user"
ENFORCED_LAYERS = frozenset({Layer.rlimits, Layer.descriptors, Layer.environment, Layer.session})
FOLDERS = ("workspace", "tmp", "home")


class NoneBackend:
    name = "none"

    def __init__(self, options: BackendOptions) -> None:
        self._options = options
        self._resources = BackendResources(self.name, options)

    async def __aenter__(self) -> NoneBackend:
        await self._resources.__aenter__()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self._resources.__aexit__(kind, error, trace)

    def layers(self) -> list[LayerReport]:
        limit_layers = self._resources.limit_layers()
        return [limit_layers.get(layer) or self._layer(layer) for layer in Layer]

    def _layer(self, layer: Layer) -> LayerReport:
        if layer in ENFORCED_LAYERS:
            return LayerReport(layer, LayerState.on)
        return LayerReport(layer, LayerState.missing, "this backend has no isolation", "set isolation to namespaces")

    def medium(self, disk_bytes: int) -> Medium:
        return Medium.memory

    async def open_files(self, disk_bytes: int, disk_files: int) -> Files:
        raise Unavailable("the backend none does not support files shared by boxes; set isolation to namespaces")

    async def open(self, policy: Policy, files: Files | None = None) -> InitBox:
        if files is not None:
            raise Unavailable("the backend none does not support files shared by boxes; set isolation to namespaces")
        if policy.network.mode != "none":
            raise Unavailable("the backend none cannot set up a network; set isolation to namespaces")
        folder = self._new_folder()
        try:
            box = await self._launch(policy, folder)
        except BaseException:
            self._remove(folder)
            raise
        box.on_close.append(lambda: self._remove(folder))
        return box

    async def _launch(self, policy: Policy, folder: str) -> InitBox:
        workdir = os.path.join(folder, "workspace")
        config = BoxConfig(
            backend=self.name,
            label=LABEL,
            workdir=workdir,
            writable={os.path.join(folder, name): name for name in FOLDERS},
            keep_bytes=self._options.keep_bytes,
            cgroup_root=self._resources.cgroup_root,
            usual_limits=self._options.usual_limits,
            bounded_disk=False,
            own_user=False,
        )
        return await launch(
            self._resources,
            policy,
            config,
            lambda channels: [self._resources.guest.python, START, "init", channels],
            lambda box: self._setup(policy, folder, workdir),
        )

    def _setup(self, policy: Policy, folder: str, workdir: str) -> wire.Message:
        env = {**self._resources.guest.base_env, "HOME": os.path.join(folder, "home"), "TMPDIR": os.path.join(folder, "tmp")}
        return {
            "backend": self.name,
            "files": folder,
            "workdir": workdir,
            "writable": {},
            "without": sorted(layer.value for layer in Layer if layer not in ENFORCED_LAYERS or layer in policy.without),
            "own_pids": False,
            "base_env": env,
        }

    def _new_folder(self) -> str:
        parent = self._resources.state_folder("boxes")
        folder = os.path.join(parent, f"box-{secrets.token_hex(8)}")
        self._resources.watchdog.watch_folder(folder)
        try:
            for name in ("", *FOLDERS):
                os.mkdir(os.path.join(folder, name), 0o700)
        except OSError as error:
            self._remove(folder)
            raise PlatformFault(f"cannot create the folders of a box in {parent}: {error.strerror}") from error
        return folder

    def _remove(self, folder: str) -> None:
        folders.remove_folder(folder)
        self._resources.watchdog.forget_folder(folder)
