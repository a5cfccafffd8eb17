"""Serialize a build to bytes and back.

An entry has a first line (magic and the digest of all that follows), a second line (JSON: the outcome, and name, mode and size
of each part), then the parts: head and tail of both streams, then the files.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterator
from typing import Any

from sandbox_runtime.model.build import Build
from sandbox_runtime.model.job import File
from sandbox_runtime.model.limits import Limits
from sandbox_runtime.model.outcome import Ending, Outcome, Output, Usage

_MAGIC = b"sandbox-build-1 "
_USAGE_FIELDS = tuple(field.name for field in dataclasses.fields(Usage) if field.name != "denied_calls")


def encode(build: Build) -> list[bytes]:
    """Return the entry in pieces, so that large files are not copied."""
    streams = (build.outcome.stdout, build.outcome.stderr)
    parts = [part for stream in streams for part in (stream.head, stream.tail)] + [file.content for file in build.files]
    header = {
        "outcome": _outcome_fields(build.outcome),
        "dropped": [stream.dropped_bytes for stream in streams],
        "files": [[file.name, file.executable] for file in build.files],
        "sizes": [len(part) for part in parts],
    }
    body = [json.dumps(header).encode() + b"\n", *parts]
    digest = hashlib.sha256()
    for piece in body:
        digest.update(piece)
    return [_MAGIC + digest.hexdigest().encode() + b"\n", *body]


def decode(content: bytes) -> Build | None:
    """Return the build, or None if the content is not exactly what encode() returned."""
    whole, first = memoryview(content), content.find(b"\n") + 1
    if content[:first] != _MAGIC + hashlib.sha256(whole[first:]).hexdigest().encode() + b"\n":
        return None
    second = content.index(b"\n", first) + 1
    header = json.loads(content[first:second])
    parts = _split(whole[second:], header["sizes"])
    streams = [Output(next(parts), next(parts), dropped) for dropped in header["dropped"]]
    files = tuple(File(name, part, executable) for (name, executable), part in zip(header["files"], parts, strict=True))
    return Build(_parse_outcome(header["outcome"], *streams), files)


def _split(rest: memoryview, sizes: list[int]) -> Iterator[bytes]:
    start = 0
    for size in sizes:
        yield bytes(rest[start : start + size])
        start += size


def _outcome_fields(outcome: Outcome) -> dict[str, Any]:
    return {
        "ending": outcome.ending.value,
        "exit_code": outcome.exit_code,
        "signal": outcome.signal,
        "message": outcome.message,
        "isolation": outcome.isolation,
        "usage": {name: getattr(outcome.usage, name) for name in _USAGE_FIELDS},
        "denied_calls": dict(outcome.usage.denied_calls),
        "limits": outcome.limits and dataclasses.asdict(outcome.limits),
    }


def _parse_outcome(fields: dict[str, Any], stdout: Output, stderr: Output) -> Outcome:
    return Outcome(
        ending=Ending(fields["ending"]),
        exit_code=fields["exit_code"],
        signal=fields["signal"],
        stdout=stdout,
        stderr=stderr,
        usage=Usage(**fields["usage"], denied_calls=fields["denied_calls"]),
        message=fields["message"],
        isolation=fields["isolation"],
        limits=Limits(**fields["limits"]) if fields.get("limits") else None,
        cached=True,
    )
