"""Cache keys: everything a result can depend on."""

from __future__ import annotations

import hashlib
import json

from sandbox_runtime.mcp.hosts.port import RunSpec, SandboxView

SHARED = "*"
"""Owner of the results of warm commands."""


def cache_key(owner: str, host: str, view: SandboxView, spec: RunSpec, files_digest: str) -> str:
    """`host`: version of this program."""
    parts = {
        "owner": owner,
        "host": host,
        "argv": spec.argv,
        "language": spec.language,
        "code": spec.code,
        "stdin": spec.stdin,
        "env": dict(spec.env),
        "sandbox_env": dict(view.env),
        "cpu_cores": view.cpu_cores,
        "memory_bytes": view.memory_bytes,
        "disk_bytes": view.disk_bytes,
        "packages": sorted(view.packages),
        "files": files_digest,
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode(errors="surrogatepass")).hexdigest()
