"""What a box may do, and the layers that hold it to that."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from enum import StrEnum

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model.limits import Limits


class Layer(StrEnum):
    """Each named, each provable, each reported. What every one keeps out is told in docs/concepts/isolation.md."""

    user = "user"
    pid = "pid"
    mount = "mount"
    network = "network"
    ipc = "ipc"
    uts = "uts"
    cgroup_view = "cgroup_view"
    root = "root"
    devices = "devices"
    disk = "disk"
    privileges = "privileges"
    capabilities = "capabilities"
    seccomp = "seccomp"
    memory = "memory"
    processes = "processes"
    cpu = "cpu"
    rlimits = "rlimits"
    descriptors = "descriptors"
    environment = "environment"
    session = "session"


class LayerState(StrEnum):
    on = "on"
    missing = "missing"
    impossible = "impossible"


@dataclass(frozen=True, slots=True)
class LayerReport:
    """One layer on this host: its state, what it was built from, and the exact fix where it is not on."""

    layer: Layer
    state: LayerState
    detail: str = ""
    fix: str = ""


@dataclass(frozen=True, slots=True)
class Network:
    """none: a namespace of its own with loopback only. nat: the outside, but never the host's own, private or link-local
    addresses unless they are named in allow (addresses or CIDR blocks, optionally with :port for one address)."""

    mode: str = "none"
    allow: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.mode not in ("none", "nat"):
            raise InvalidRequest(f"network must be none or nat, not {self.mode!r}")
        for entry in self.allow:
            try:
                ipaddress.ip_network(entry, strict=False)
            except ValueError as error:
                raise InvalidRequest(f"network allow entry {entry!r} is not an address or a CIDR block") from error


@dataclass(frozen=True, slots=True)
class Policy:
    """preset names the warm interpreter the box is forked from; a box of single_use serves one command and ends with it, which
    makes it cheaper; toolchains shows it the operator's folder of installed toolchains; gpu lets it use the machine's GPUs, and
    with that their driver in the kernel; without is for proofs only: a box opened without a layer says so in every answer."""

    network: Network = Network()
    preset: str = "std"
    single_use: bool = False
    toolchains: bool = False
    gpu: bool = False
    disk_bytes: int = Limits().disk_bytes
    disk_files: int = Limits().disk_files
    without: frozenset[Layer] = frozenset()
