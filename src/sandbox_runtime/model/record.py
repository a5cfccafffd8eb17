"""What is remembered of boxes, and of who did what."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from sandbox_runtime.model import bounds


class BoxState(StrEnum):
    created = "created"
    running = "running"
    paused = "paused"
    exited = "exited"
    deleting = "deleting"


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxRecord:
    """A box of a session, or one that stands ready for the next (session is empty then)."""

    id: str
    session: str = ""
    template: str = ""
    backend: str = ""
    node: str = ""
    name: str = ""
    image: str = ""
    state: BoxState = BoxState.created
    address: str = ""
    executor_port: int | None = None
    cpu_cores: float = 1.0
    memory_mb: int = 0
    disk_mb: int = 0
    exit_code: int | None = None
    exit_reason: str = ""
    created_ms: int
    updated_ms: int = 0
    started_ms: int | None = None
    exited_ms: int | None = None
    version: int = 0

    def __post_init__(self) -> None:
        bounds.check_id(self.id, "a box's id", 128)
        bounds.check_id(self.session, "the session of a box", optional=True)
        bounds.check_id(self.template, "the template of a box", bounds.SHORT_ID_CHARACTERS, optional=True)
        bounds.check_id(self.node, "the node of a box", 128, optional=True)
        for what, max_length in (("backend", 20), ("name", 128), ("address", 45), ("exit_reason", 128)):
            bounds.check_name(getattr(self, what), f"the {what} of a box", max_length, optional=True)
        bounds.check_text(self.image, "the image of a box", 512)
        bounds.check_number(self.executor_port, "executor_port", 1, 65535)
        for what in ("cpu_cores", "memory_mb", "disk_mb"):
            bounds.check_number(getattr(self, what), f"{what} of a box", 0, 2**40)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """actor did action to a subject of this kind. Details are JSON and hold no secret, no code and no output. id 0: not written
    yet."""

    at_ms: int
    actor: str
    action: str
    kind: str
    subject: str
    owner: str = ""
    request: str = ""
    details_json: str | None = None
    id: int = 0

    def __post_init__(self) -> None:
        for what, max_length in (("action", 64), ("kind", 32)):
            bounds.check_name(getattr(self, what), f"the {what} of an audit entry", max_length)
        for what, max_length in (("actor", 128), ("subject", 255), ("owner", 128), ("request", 128)):
            bounds.check_name(getattr(self, what), f"the {what} of an audit entry", max_length, optional=True)
        bounds.check_text(self.details_json, "the details of an audit entry", bounds.MESSAGE_BYTES)
