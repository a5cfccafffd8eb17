"""Families of attacks. `doctor --attack` groups its verdicts by family."""

from __future__ import annotations

from enum import StrEnum


class Family(StrEnum):
    kernel = "kernel"
    host = "host"
    resources = "resources"
    neighbours = "neighbours"
    files = "files"
    archives = "archives"
    snapshots = "snapshots"
    network = "network"
    contexts = "contexts"
    control = "control"
    totals = "totals"
    http = "http"

    @property
    def about(self) -> str:
        return _ABOUT[self]


_ABOUT = {
    Family.kernel: "system calls, privileges and namespaces that a program must not have",
    Family.host: "files, processes, sockets, descriptors and the environment of the host",
    Family.resources: "memory, cpu, processes, disk and output beyond the limits",
    Family.neighbours: "other boxes, and what earlier ones left behind",
    Family.files: "names, links and races while files of a box are read and written from outside",
    Family.archives: "archives that lead out of the box or expand, and races while folders are packed, listed or deleted",
    Family.snapshots: "sparse files, links and odd names in saved, restored and copied files",
    Family.network: "the host, its neighbours and metadata services, from boxes without and with a network",
    Family.contexts: "variables, files and processes shared between sessions, contexts and forks",
    Family.control: "messages that programs forge or flood on the channel to the server",
    Family.totals: "many sessions and requests, each within its limits",
    Family.http: "keys, owners, paths, headers and bodies of requests to the server",
}
