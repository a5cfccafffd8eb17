"""The key of a build: a digest of everything that goes into it.

Each item is preceded by its kind and length, so that different lists of items never give the same bytes.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator

from sandbox_runtime.languages.language import Language
from sandbox_runtime.model.limits import Limits
from sandbox_runtime.model.plan import Plan

_FORMAT = "1"
_LIMITS_IN_KEY = (
    "memory_bytes",
    "processes",
    "output_bytes",
    "file_bytes",
    "disk_bytes",
    "disk_files",
    "open_files",
    "cpu_cores",
)
"""All limits but time: a step that succeeded had enough of it, and its result does not depend on more."""


def build_key(language: Language, plan: Plan, limits: Limits, toolchain: tuple[str, ...]) -> str:
    digest = hashlib.sha256()
    for kind, content in _items(language, plan, limits, toolchain):
        digest.update(f"{kind} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


def _items(language: Language, plan: Plan, limits: Limits, toolchain: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
    yield "format", _FORMAT.encode()
    yield "machine", os.uname().machine.encode()
    yield "language", language.name.encode()
    for kind, words in (("argv", plan.compile.argv), ("toolchain", toolchain)) if plan.compile else ():
        yield from ((kind, word.encode(errors="surrogateescape")) for word in words)
    for name, value in plan.compile.env if plan.compile else ():
        yield f"env {name}", value.encode(errors="surrogateescape")
    for name in _LIMITS_IN_KEY:
        yield name, str(getattr(limits, name)).encode()
    for file in plan.files:
        yield "name", file.name.encode(errors="surrogatepass")
        yield "executable" if file.executable else "plain", file.content
    for name, target in plan.links:
        yield "link", name.encode()
        yield "target", target.encode()
