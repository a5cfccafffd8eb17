"""What a result can have depended on, as one key. Pure."""

from __future__ import annotations

import hashlib
import json

from sandbox_runtime.mcp.hosts.port import SandboxView, Work

EVERYBODY = "*"
"""The owner of what was run ahead."""


def key_of(owner: str, host: str, view: SandboxView, work: Work, files_digest: str) -> str:
    """host: which version of this program ran it."""
    told = {
        "owner": owner,
        "host": host,
        "argv": work.argv,
        "language": work.language,
        "code": work.code,
        "stdin": work.stdin,
        "env": dict(work.env),
        "sandbox_env": dict(view.env),
        "cpu_cores": view.cpu_cores,
        "memory_bytes": view.memory_bytes,
        "disk_bytes": view.disk_bytes,
        "packages": sorted(view.packages),
        "files": files_digest,
    }
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode(errors="surrogatepass")).hexdigest()
