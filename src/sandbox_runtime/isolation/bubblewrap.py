"""Backend that expresses the policy as bwrap arguments. Our init runs inside and applies the layers that bwrap cannot.

bwrap creates the namespaces and the read-only root and starts our init as pid 1 with all capabilities over them. Init mounts
the writable area with its limits, then drops user and capabilities exactly as in the namespaces backend. The runner installs
the same seccomp program. Commands always start cold: there is no warm interpreter to fork.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from types import TracebackType

from sandbox_runtime.errors import PlatformFault, Unavailable
from sandbox_runtime.isolation import rootfs
from sandbox_runtime.isolation.backend_resources import BackendResources, label
from sandbox_runtime.isolation.box import BoxConfig, InitBox
from sandbox_runtime.isolation.guest_interpreter import HOME, WORKDIR, WRITABLE
from sandbox_runtime.isolation.inside import wire
from sandbox_runtime.isolation.inside.layers import CODE_INSIDE, HOST_NAME, SCRATCH, SHARED_SCRATCH
from sandbox_runtime.isolation.kernel import mounts
from sandbox_runtime.isolation.kernel.namespaces import USER_NAMESPACE_HINT
from sandbox_runtime.isolation.launcher import launch
from sandbox_runtime.isolation.options import BackendOptions
from sandbox_runtime.isolation.port import Files
from sandbox_runtime.isolation.spawners import CODE
from sandbox_runtime.model import Layer, LayerReport, LayerState, Medium, Policy

START_INSIDE = f"{CODE_INSIDE}/sandbox_runtime/isolation/inside/start.py"
_UNSHARE = {
    Layer.pid: "--unshare-pid",
    Layer.network: "--unshare-net",
    Layer.ipc: "--unshare-ipc",
    Layer.uts: "--unshare-uts",
    Layer.cgroup_view: "--unshare-cgroup",
}


class BubblewrapBackend:
    name = "bubblewrap"

    def __init__(self, options: BackendOptions) -> None:
        self._options = options
        self._resources = BackendResources(self.name, options)
        self._program = ""
        self._etc = ""

    async def __aenter__(self) -> BubblewrapBackend:
        program = shutil.which("bwrap")
        if program is None:
            raise Unavailable("bubblewrap is not installed; install the package bubblewrap, or set isolation to namespaces")
        self._program = program
        await self._resources.__aenter__()
        try:
            self._fill_etc()
            await self._check_usable()
        except BaseException as error:
            await self.__aexit__(None, None, None)
            if isinstance(error, OSError):
                raise Unavailable(
                    f"cannot use {self._options.state_dir}: {error.strerror}; set state_dir to another folder"
                ) from error
            raise
        return self

    async def _check_usable(self) -> None:
        """Open one box now, so that a missing feature of the host is reported at start-up and not by the first job."""
        try:
            box = await self.open(Policy())
        except PlatformFault as fault:
            fix = f"; {USER_NAMESPACE_HINT}" if self._resources.rootless else ""
            raise Unavailable(f"bubblewrap cannot open boxes on this host: {fault}{fix}") from fault
        await box.close()

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            await self._resources.__aexit__(kind, error, trace)
        finally:
            shutil.rmtree(self._etc, ignore_errors=True)

    def layers(self) -> list[LayerReport]:
        limit_layers = self._resources.limit_layers()
        return [limit_layers.get(layer) or LayerReport(layer, LayerState.on) for layer in Layer]

    def medium(self, disk_bytes: int) -> Medium:
        return Medium.memory

    async def open_files(self, disk_bytes: int, disk_files: int) -> Files:
        raise Unavailable("bubblewrap does not support files shared by boxes; set isolation to namespaces")

    async def open(self, policy: Policy, files: Files | None = None) -> InitBox:
        if files is not None:
            raise Unavailable("bubblewrap does not support files shared by boxes; set isolation to namespaces")
        config = BoxConfig(
            backend=self.name,
            label=label(self.name, policy),
            workdir=WORKDIR,
            writable=WRITABLE,
            keep_bytes=self._options.keep_bytes,
            cgroup_root=self._resources.cgroup_root,
            usual_limits=self._options.usual_limits,
        )
        return await launch(
            self._resources,
            policy,
            config,
            lambda channels: [*self._arguments(policy), "--", self._resources.guest.python, START_INSIDE, "init", channels],
            lambda box: self._setup(policy, self._resources.allocate_uid(box.on_close)),
        )

    def _setup(self, policy: Policy, uid: int | None) -> wire.Message:
        return {
            "backend": self.name,
            "workdir": WORKDIR,
            "writable": dict(WRITABLE),
            "without": sorted(layer.value for layer in policy.without),
            "own_pids": Layer.pid not in policy.without,
            "uid": uid,
            "disk_bytes": policy.disk_bytes,
            "disk_files": policy.disk_files,
            "network": policy.network.mode,
            "trees": rootfs.trees(self._entries(policy)),
            "base_env": self._resources.guest.base_env,
            "home": [(f"{WRITABLE[HOME]}/{name}", target) for name, target in self._resources.guest.home],
        }

    def _arguments(self, policy: Policy) -> list[str]:
        words = [self._program, "--die-with-parent", "--cap-add", "ALL"]
        words += ["--as-pid-1"] if Layer.pid not in policy.without else []
        words += [flag for layer, flag in _UNSHARE.items() if layer not in policy.without]
        if Layer.uts not in policy.without:
            words += ["--hostname", HOST_NAME]
        if self._resources.rootless:
            words += ["--unshare-user", "--uid", "0", "--gid", "0"]
        words += self._root_arguments(policy)
        words += ["--bind", "/dev", "/dev"] if Layer.devices in policy.without else ["--dev", "/dev"]
        words += [word for name in self._gpu(policy) for word in ("--dev-bind", f"/dev/{name}", f"/dev/{name}")]
        words += ["--proc", "/proc", *_code_arguments()]
        for folder in (SCRATCH, mounts.EMPTY, *WRITABLE):
            words += ["--dir", folder]
        if Layer.mount in policy.without:
            words += ["--bind", self._shared_folder(), SHARED_SCRATCH]
        return [*words, "--remount-ro", "/"]

    def _gpu(self, policy: Policy) -> list[str]:
        if policy.gpu and not (devices := rootfs.gpu_devices()):
            raise Unavailable(rootfs.NO_GPU)
        return devices if policy.gpu else []

    def _entries(self, policy: Policy) -> list[rootfs.Entry]:
        """Return what boxes see of the host. /etc consists of many small entries; it was built once and is one tree here."""
        if Layer.root in policy.without:
            return rootfs.whole_machine(self._resources.guest.prefixes)
        toolchains = self._resources.toolchains() if policy.toolchains else []
        outside = [entry for entry in rootfs.entries(self._resources.guest.prefixes) if not _in_etc(entry)]
        return [*outside, *toolchains, {"kind": "tree", "source": self._etc, "target": "/etc"}]

    def _root_arguments(self, policy: Policy) -> list[str]:
        words: list[str] = []
        for entry in self._entries(policy):
            words += _parents(entry["target"])
            words += ["--symlink" if entry["kind"] == "link" else "--ro-bind", entry["source"], entry["target"]]
        return words

    def _fill_etc(self) -> None:
        self._etc = tempfile.mkdtemp(prefix="etc-", dir=self._resources.state_folder())
        self._resources.watchdog.watch_folder(self._etc)
        os.chmod(self._etc, 0o755)
        for entry in rootfs.entries(self._resources.guest.prefixes):
            if _in_etc(entry):
                mounts.create_entry(self._etc + entry["target"].removeprefix("/etc"), entry)

    def _shared_folder(self) -> str:
        """Return the folder that boxes without the mount layer share; used to test that layer."""
        folder = os.path.join(self._options.state_dir, "shared")
        for name in WRITABLE.values():
            os.makedirs(os.path.join(folder, name), exist_ok=True)
            os.chmod(os.path.join(folder, name), 0o1777)
        return folder


def _in_etc(entry: rootfs.Entry) -> bool:
    return entry["target"].startswith("/etc/")


def _parents(target: str) -> list[str]:
    """Create each parent explicitly: bwrap would create them accessible to root only."""
    parts = target.split("/")[1:-1]
    folders = ["/" + "/".join(parts[: depth + 1]) for depth in range(len(parts))]
    return [word for folder in folders for word in ("--dir", folder)]


def _code_arguments() -> list[str]:
    """Mount our own code, from which init is started. Init unmounts it once it is loaded."""
    package = f"{CODE}/sandbox_runtime"
    return [
        *("--tmpfs", CODE_INSIDE),
        *("--ro-bind", f"{package}/__init__.py", f"{CODE_INSIDE}/sandbox_runtime/__init__.py"),
        *("--ro-bind", f"{package}/isolation", f"{CODE_INSIDE}/sandbox_runtime/isolation"),
    ]
