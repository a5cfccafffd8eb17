"""How one box is to be set up: the spawner's share, which all its boxes have in common, and the box's own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Setup:
    """backend: "namespaces" where init is to make them itself, "bubblewrap" where they are there, "none" for none at all."""

    workdir: str
    writable: dict[str, str]
    without: frozenset[str] = frozenset()
    backend: str = "namespaces"
    files: str = ""
    """With backend "none": the folder that holds the writable area."""
    own_pids: bool = True
    uid: int | None = None
    inside_uid: int = 1000
    disk_bytes: int = 0
    disk_files: int = 0
    rehearse: bool = True
    """Whether its runner is to run a program of no consequence while it waits."""
    report_pages: bool = False
    """Whether its program, which is ours, is to tell at its end which pages of memory it has made its own."""
    shared_files: bool = False
    """The writable area is there already, in the mount namespace that the box starts from."""
    network: str = "none"
    home: list[tuple[str, str]] = field(default_factory=list)
    """Links that a new writable area begins with: name and target."""
    gpu: list[str] = field(default_factory=list)
    """Devices of GPUs that the box may use, by their names below /dev."""
    trees: list[str] = field(default_factory=list)
    """Folders of the spawner's root that a box sees through overlays of its own."""
    extra_trees: list[str] = field(default_factory=list)
    """The same, for this box alone."""
    base_env: dict[str, str] = field(default_factory=dict)

    @classmethod
    def from_message(cls, message: dict[str, Any]) -> Setup:
        known = {name: message[name] for name in cls.__dataclass_fields__ if name in message}
        known["without"] = frozenset(known.get("without", ()))
        return cls(**known)

    def has(self, layer: str) -> bool:
        return layer not in self.without

    @property
    def filtered(self) -> bool:
        """The kernel takes a filter only from a process that can gain no privileges any more."""
        return self.has("seccomp") and self.has("privileges")
