"""Disable each guard for a test, by a patch in this process or by settings that let everything through."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from sandbox_runtime.api.caller import OPERATOR, Caller
from sandbox_runtime.api.middleware import access, keyring, origins
from sandbox_runtime.assembly import box_config
from sandbox_runtime.cli.connections import BoundedProtocol
from sandbox_runtime.doctor import Guard
from sandbox_runtime.engine.contexts import context
from sandbox_runtime.errors import SandboxError
from sandbox_runtime.isolation.kernel import egress
from sandbox_runtime.isolation.nat.gateway import Gateway
from sandbox_runtime.model.grants import Grants, parse_grants
from sandbox_runtime.workspace.archives import ArchiveBounds, members

Switch = Callable[[pytest.MonkeyPatch], Mapping[str, Any]]
"""Switches a guard off; returns settings for the server under attack."""


def no_confined_paths(patch: pytest.MonkeyPatch) -> Mapping[str, Any]:
    def follow(folder_fd: int, path: str, flags: int, mode: int = 0) -> int:
        return os.open(path, flags | os.O_CLOEXEC | os.O_NONBLOCK, mode, dir_fd=folder_fd)

    for name, module in [*sys.modules.items()]:
        if name.startswith("sandbox_runtime.workspace") and hasattr(module, "open_beneath"):
            patch.setattr(module, "open_beneath", follow)
    return {}


def no_archive_names(patch: pytest.MonkeyPatch) -> Mapping[str, Any]:
    def careless(name: str) -> str:
        return "/".join(part for part in name.split("/") if part not in ("", ".", ".."))

    patch.setattr(members, "plain_name", careless)
    patch.setattr(members, "_check_link", lambda name, target: None)
    return {}


def no_archive_bounds(patch: pytest.MonkeyPatch) -> Mapping[str, Any]:
    wide = ArchiveBounds(max_members=10**9, max_bytes=10**12)
    unpack = importlib.import_module("sandbox_runtime.workspace.archives.unpack")
    check = unpack.check_members
    patch.setattr(ArchiveBounds, "check", lambda *_: None)
    patch.setattr(unpack, "check_members", lambda found, size, bounds: check(found, size, wide))
    return {}


def no_sparse_storage(patch: pytest.MonkeyPatch) -> Mapping[str, Any]:
    """Holes look like data."""
    seek = os.lseek

    def blind(descriptor: int, offset: int, how: int) -> int:
        if how == os.SEEK_HOLE:
            return os.fstat(descriptor).st_size
        return offset if how == os.SEEK_DATA else seek(descriptor, offset, how)

    patch.setattr(os, "lseek", blind)
    return {}


def no_packet_filter(patch: pytest.MonkeyPatch) -> Mapping[str, Any]:
    table, definition = egress.box_table, Gateway._definition
    patch.setattr(egress, "PUBLIC_6", ("::/0",))
    patch.setattr(egress, "rules", lambda *_: egress.Rules((), (), (), ()))
    patch.setattr(egress, "box_table", lambda rules: table(rules).replace("ct state established,related accept", "accept"))
    patch.setattr(Gateway, "_definition", lambda self: definition(self).replace("@boxes drop", "@boxes accept"))
    return {}


def no_keys(patch: pytest.MonkeyPatch) -> Mapping[str, Any]:
    async def anybody(*_: object) -> Caller:
        return OPERATOR

    patch.setattr(access.AccessMiddleware, "_find_caller", anybody)
    return {}


def no_scopes(patch: pytest.MonkeyPatch) -> Mapping[str, Any]:
    patch.setattr(keyring, "to_caller", lambda key: Caller(key.owner, key.id, Grants(admin=True)))
    return {}


def no_owners(patch: pytest.MonkeyPatch) -> Mapping[str, Any]:
    patch.setattr(keyring, "to_caller", lambda key: Caller("", key.id, parse_grants(key.scopes)))
    return {}


def no_hosts(patch: pytest.MonkeyPatch) -> Mapping[str, Any]:
    patch.setattr(origins, "foreign_host", lambda *_: False)
    return {}


def no_origins(patch: pytest.MonkeyPatch) -> Mapping[str, Any]:
    patch.setattr(origins, "foreign_origin", lambda *_: False)
    return {}


def no_head_bounds(patch: pytest.MonkeyPatch) -> Mapping[str, Any]:
    for name, value in (("head_bytes", 1 << 40), ("_count_header", lambda *_: None)):
        patch.setattr(BoundedProtocol, name, value, raising=False)
    return {}


def no_body_bounds(patch: pytest.MonkeyPatch) -> Mapping[str, Any]:
    patch.setattr(access.AccessMiddleware, "_max_body_bytes", lambda *_: 1 << 62)
    return {}


def no_plain_errors(patch: pytest.MonkeyPatch) -> Mapping[str, Any]:
    patch.setattr(SandboxError, "__str__", lambda self: f'Traceback (most recent call last): File "{__file__}": {self.args}')
    return {}


def no_session_limits(patch: pytest.MonkeyPatch) -> Mapping[str, Any]:
    return {"session_contexts": 1000, "session_forks": 65, "session_queue": 10_000}


def no_message_bounds(patch: pytest.MonkeyPatch) -> Mapping[str, Any]:
    for name in ("_MESSAGE_OVERHEAD_BYTES", "_OVERRUN_BYTES"):
        patch.setattr(context, name, 1 << 40, raising=False)
    return {}


def no_message_checks(patch: pytest.MonkeyPatch) -> Mapping[str, Any]:
    patch.setattr(context.Context, "_belongs_to_cell", lambda *_: True)
    return {}


def no_fresh_copies(patch: pytest.MonkeyPatch) -> Mapping[str, Any]:
    """Forks begin with the random state of their origin."""
    modules = tuple((name, text.replace("        _reseed()\n", "")) for name, text in box_config.contexts.injected_modules())
    patch.setattr(box_config.contexts, "injected_modules", lambda: modules)
    return {}


def no_node_ledger(patch: pytest.MonkeyPatch) -> Mapping[str, Any]:
    """The server does not get the limit that the attack gets."""
    return {}


SWITCHES: Mapping[Guard, Switch] = {
    Guard.confined_paths: no_confined_paths,
    Guard.archive_names: no_archive_names,
    Guard.archive_bounds: no_archive_bounds,
    Guard.sparse_storage: no_sparse_storage,
    Guard.packet_filter: no_packet_filter,
    Guard.keys: no_keys,
    Guard.scopes: no_scopes,
    Guard.owners: no_owners,
    Guard.hosts: no_hosts,
    Guard.origins: no_origins,
    Guard.head_bounds: no_head_bounds,
    Guard.body_bounds: no_body_bounds,
    Guard.plain_errors: no_plain_errors,
    Guard.session_limits: no_session_limits,
    Guard.message_bounds: no_message_bounds,
    Guard.message_checks: no_message_checks,
    Guard.fresh_copies: no_fresh_copies,
    Guard.node_ledger: no_node_ledger,
}

NOT_SWITCHED = {
    Guard.deadlines: "without it the attack, and the test, would not end",
    Guard.output_limits: "it is the only bound of the test's own memory",
    Guard.plain_files: "openat2 and masks in many places, each a line of its own",
    Guard.file_bounds: "without it the test would fill the machine's memory",
    Guard.request_checks: "every model of every protocol is one",
}
"""Guards that no test switches off, and why."""
