"""Guards: what stops an attack in the server, outside of boxes. The layers of boxes are in model/policy.py.

An attack that names a guard in `shows` succeeds if that guard alone is disabled; tests/doctor/test_guards.py proves it.
"""

from __future__ import annotations

from enum import StrEnum


class Guard(StrEnum):
    deadlines = "deadlines"
    output_limits = "output_limits"
    confined_paths = "confined_paths"
    plain_files = "plain_files"
    file_bounds = "file_bounds"
    archive_names = "archive_names"
    archive_bounds = "archive_bounds"
    sparse_storage = "sparse_storage"
    node_ledger = "node_ledger"
    packet_filter = "packet_filter"
    message_bounds = "message_bounds"
    message_checks = "message_checks"
    fresh_copies = "fresh_copies"
    session_limits = "session_limits"
    keys = "keys"
    scopes = "scopes"
    owners = "owners"
    hosts = "hosts"
    origins = "origins"
    head_bounds = "head_bounds"
    body_bounds = "body_bounds"
    request_checks = "request_checks"
    plain_errors = "plain_errors"

    @property
    def about(self) -> str:
        return _ABOUT[self]


_ABOUT = {
    Guard.deadlines: "every command ends at its wall and cpu limit",
    Guard.output_limits: "the output of a command is counted while it is read",
    Guard.confined_paths: "paths are resolved below the box's own folder, and links are never followed",
    Guard.plain_files: "only plain files are read, never devices, pipes or sockets",
    Guard.file_bounds: "what is read from a box is bounded while it is read",
    Guard.archive_names: "every name and link of an archive is checked before anything is written",
    Guard.archive_bounds: "count, size and expansion of an archive are bounded",
    Guard.sparse_storage: "snapshots and copies keep holes as holes",
    Guard.node_ledger: "the sum of what sessions hold is bounded for the node",
    Guard.packet_filter: "packet filters of boxes with a network, in their own namespace and on the host",
    Guard.message_bounds: "messages on a control channel are bounded in size and number",
    Guard.message_checks: "messages on a control channel are checked before they are used",
    Guard.fresh_copies: "a fork gets files, processes, descriptors and random numbers of its own",
    Guard.session_limits: "sessions, contexts, forks and executions are bounded in number",
    Guard.keys: "requests without a valid key are refused",
    Guard.scopes: "what a key may do is bounded by its scopes",
    Guard.owners: "an owner sees and changes only what is its own",
    Guard.hosts: "a server without keys answers only to names of its own machine",
    Guard.origins: "web pages of other sites cannot act through a visitor's browser",
    Guard.head_bounds: "request heads are bounded in size and time",
    Guard.body_bounds: "request bodies are bounded in size",
    Guard.request_checks: "every field of a request is checked before it is used",
    Guard.plain_errors: "error answers hold no tracebacks, paths or secrets",
}
