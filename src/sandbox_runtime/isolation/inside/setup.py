"""How a box is set up: the part that all boxes of a spawner share, and the box's own part."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Setup:
    """backend: "namespaces" if init creates the namespaces, "bubblewrap" if they exist, "none" if there are none."""

    workdir: str
    writable: dict[str, str]
    without: frozenset[str] = frozenset()
    backend: str = "namespaces"
    files: str = ""
    """With backend "none": the folder of the writable area."""
    own_pids: bool = True
    uid: int | None = None
    inside_uid: int = 1000
    disk_bytes: int = 0
    disk_files: int = 0
    rehearse: bool = True
    """Whether the runner runs a warm-up program while it waits."""
    report_pages: bool = False
    """Whether the program, which is ours, reports its private memory pages at its end."""
    shared_files: bool = False
    """The writable area exists in the mount namespace that the box starts from."""
    network: str = "none"
    home: list[tuple[str, str]] = field(default_factory=list)
    """Links that a new writable area starts with, as (name, target)."""
    gpu: list[str] = field(default_factory=list)
    """GPU devices that the box may use, by name below /dev."""
    trees: list[str] = field(default_factory=list)
    """Folders of the spawner's root that a box sees through its own overlays."""
    extra_trees: list[str] = field(default_factory=list)
    """The same for this box alone."""
    base_env: dict[str, str] = field(default_factory=dict)

    @classmethod
    def from_message(cls, message: dict[str, Any]) -> Setup:
        fields = {name: message[name] for name in cls.__dataclass_fields__ if name in message}
        fields["without"] = frozenset(fields.get("without", ()))
        return cls(**fields)

    def has(self, layer: str) -> bool:
        return layer not in self.without

    @property
    def filtered(self) -> bool:
        """Whether the box has a seccomp filter. The kernel accepts one only from a process that cannot gain privileges."""
        return self.has("seccomp") and self.has("privileges")
