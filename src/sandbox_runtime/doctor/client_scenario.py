"""The scenario `client`: a program of the corpus that runs on the host as a client of a running server."""

from __future__ import annotations

import asyncio
import json
import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sandbox_runtime.doctor.corpus import CORPUS, NEEDS, Attack
from sandbox_runtime.doctor.verdict import Evidence

CLIENT_LIMIT_S = 60.0
_SHARED = Path(__file__).parent / "client_side"
_START = "import runpy, sys; sys.path.insert(0, sys.argv[1]); runpy.run_path(sys.argv[2], run_name='__main__')"
_MAX_OUTPUT_CHARS = 64 * 1024
_KEY_FLAGS = {"other": "--other-key", "read": "--read-key"}


@dataclass(frozen=True, slots=True)
class Server:
    """A server to attack.

    keys: by kind: own (creates the sessions), other (of another owner), read (read-only).
    own: whether the server was started for the attack alone.
    isolation: the backend it uses, if known.
    state_dir: its folder, if it is our own server.
    """

    url: str
    keys: Mapping[str, str] = field(default_factory=dict)
    own: bool = False
    isolation: str = ""
    state_dir: str = ""
    keyless_url: str = ""
    """A second server, without keys, started for the attack alone."""
    limits: Mapping[str, Any] = field(default_factory=dict)
    """Settings that attacks try to exceed, by name."""

    def inapplicable(self, attack: Attack) -> str:
        """Return why the attack does not apply to this server, or ""."""
        if attack.scenario != "client":
            return "it is an attack on boxes, not on a server"
        if "own_server" in attack.needs and not self.own:
            return NEEDS["own_server"]
        if "contexts" in attack.needs and not self._copies_contexts:
            return NEEDS["contexts"]
        missing = next((kind for kind in attack.keys if not self.keys.get(kind)), "")
        return f"it needs another key: pass one with {_KEY_FLAGS[missing]}" if missing else ""

    @property
    def _copies_contexts(self) -> bool:
        """If the backend is unknown, the server itself decides."""
        return not self.isolation or (self.isolation == "namespaces" and platform.machine() == "x86_64")

    def facts(self) -> dict[str, object]:
        return {
            "url": self.url,
            "keys": dict(self.keys),
            "state_dir": self.state_dir,
            "keyless_url": self.keyless_url,
            "limits": dict(self.limits),
        }


async def run_client(server: Server, attack: Attack, evidence: Evidence) -> str:
    """Run the attack's client and record its output. Returns why it does not apply, or ""."""
    program = CORPUS / attack.name / attack.programs["client"].name
    argv = (sys.executable, "-I", "-c", _START, str(_SHARED), str(program))
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*argv, stdin=pipe, stdout=pipe, stderr=pipe)
    try:
        facts = json.dumps(server.facts()).encode()
        out, err = await asyncio.wait_for(process.communicate(facts), CLIENT_LIMIT_S)
    except TimeoutError:
        evidence.doubts.append(f"it took longer than {CLIENT_LIMIT_S:g} s")
        return ""
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return _record(evidence, out[:_MAX_OUTPUT_CHARS].decode(errors="replace"), err.decode(errors="replace"))


def _record(evidence: Evidence, stdout: str, stderr: str) -> str:
    for line in stdout.splitlines():
        mark, _, text = line.partition(": ")
        if mark == "NOT APPLICABLE":
            return text
        if mark in ("HELD", "ESCAPED"):
            (evidence.remarks if mark == "HELD" else evidence.breaches).append(text)
    if not evidence.remarks and not evidence.breaches:
        last = stderr.strip().splitlines()[-1:] or ["no output"]
        evidence.doubts.append(f"the client failed: {last[0]}")
    return ""
