"""How one box is to be set up: the spawner's share, which all its boxes have in common, and the box's own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Setup:
    """made_by_us is False where something else has made the namespaces (bubblewrap) or none are wanted (the plain backend)."""

    workdir: str
    writable: dict[str, str]
    without: frozenset[str] = frozenset()
    made_by_us: bool = True
    files: str = ""
    """Where made_by_us is False: the folder that holds the writable area."""
    own_user: bool = True
    own_pids: bool = True
    drop_capabilities: bool = True
    uid: int | None = None
    inside_uid: int = 1000
    disk_bytes: int = 0
    disk_files: int = 0
    network: str = "none"
    late: list[list[str]] = field(default_factory=list)
    """Folders to show again, as [hidden place, where they belong], because the writable ones cover them."""
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
