"""The lab, and why it is not there where it is not."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import uvloop
from tests.isolation.nat.lab import Lab, open_lab

from sandbox_runtime.isolation.nat import Nat, NatOptions

SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def need(*programs: str) -> None:
    missing = [program for program in programs if shutil.which(program, path=SYSTEM_PATH) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")


@pytest.fixture
def lab(request: pytest.FixtureRequest) -> Iterator[Lab]:
    """Its server runs in the standard event loop, or in the one given as the fixture's parameter."""
    if os.geteuid() != 0:
        pytest.skip("building a network to test in needs root")
    need("ip", "nft", "nsenter", "unshare")
    new_loop = uvloop.new_event_loop if getattr(request, "param", "") == "uvloop" else asyncio.new_event_loop
    with open_lab(new_loop) as built:
        yield built


@pytest.fixture
def make_nat(lab: Lab) -> Iterator[Callable[..., Nat]]:
    """Nat as a server of the lab's host would have it; closed at the end."""
    made: list[Nat] = []

    async def make(options: dict[str, Any]) -> Nat:
        made.append(Nat(NatOptions(**options)))
        return made[-1]

    yield lambda **options: lab.do(make(options))
    for nat in made:
        lab.do(nat.close())
