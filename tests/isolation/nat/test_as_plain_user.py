"""Boxes wired by a program of the server's own user, the server having no rights whatever."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.isolation.nat.conftest import SYSTEM_PATH, need
from tests.isolation.nat.lab import Box, Lab

import sandbox_runtime
from sandbox_runtime.doctor import network_lab as network_lab
from sandbox_runtime.isolation.kernel import egress

pytestmark = [pytest.mark.root, pytest.mark.network]

NOBODY = 61_234
# setpriv still has root's rights when it looks up the program; env has none left.
AS_NOBODY = ("setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups", "env")
SOURCE = Path(sandbox_runtime.__file__).parents[1]
SERVER = Path(__file__).with_name("plain_server.py")
REFUSED = "ECONNREFUSED"
HOST_OWN = (network_lab.HOST_4, network_lab.HOST_6, network_lab.HOST_PUBLIC_4, network_lab.HOST_PUBLIC_6)
# The device is open to everyone on an ordinary system, but not everywhere: bring one along.
WITH_TUN = 'mount -t tmpfs tmpfs /dev/net && mknod -m $0 /dev/net/tun c 10 200 && exec "$@"'


class PlainServer:
    def __init__(self, lab: Lab, interpreter: str, tun_mode: str, settings: dict[str, Any]) -> None:
        inside = [*AS_NOBODY, interpreter, str(SERVER), json.dumps(settings)]
        argv = ["unshare", "--mount", "sh", "-c", WITH_TUN, tun_mode, *inside]
        pipe, environment = subprocess.PIPE, {"PATH": SYSTEM_PATH, "PYTHONPATH": str(SOURCE)}
        self._process = lab.host.call(lambda: subprocess.Popen(argv, stdin=pipe, stdout=pipe, text=True, env=environment))

    def ask(self, order: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None and self._process.stdout is not None
        print(json.dumps(order), file=self._process.stdin, flush=True)
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def open(self, box: Box, *allow: str) -> dict[str, Any]:
        return self.ask({"open": box.pid, "allow": allow})

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate(timeout=network_lab.TIMEOUT_S)


@pytest.fixture(scope="module")
def interpreter() -> str:
    """One that a user without rights can start, and that finds our package."""
    if os.geteuid() != 0:
        pytest.skip("becoming a plain user needs root")
    need("setpriv", "unshare")
    for candidate in (sys.executable, "/usr/bin/python3", "/usr/local/bin/python3"):
        probe = [*AS_NOBODY, candidate, "-c", "import asyncio; import sandbox_runtime.isolation.nat; asyncio.timeout"]
        environment = {"PYTHONPATH": str(SOURCE)}
        if (
            subprocess.run(probe, env=environment, capture_output=True, timeout=network_lab.TIMEOUT_S, check=False).returncode
            == 0
        ):
            return candidate
    pytest.skip("no Python of 3.11 or later, or not our own source, is open to a plain user")


@pytest.fixture
def serve(lab: Lab, interpreter: str) -> Iterator[Callable[..., PlainServer]]:
    started: list[PlainServer] = []

    def start(*, tun_mode: str = "666", **settings: Any) -> PlainServer:
        started.append(PlainServer(lab, interpreter, tun_mode, settings))
        return started[-1]

    yield start
    for server in started:
        server.kill()


@pytest.fixture(params=["pasta", "slirp4netns"])
def program(request: pytest.FixtureRequest) -> str:
    need(request.param)
    return str(request.param)


Serve = Callable[..., PlainServer]


def plain_box(lab: Lab) -> Box:
    return lab.box(*AS_NOBODY, "unshare", "--user", "--map-root-user", "--net")


def processes(name: str) -> list[int]:
    return [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if _is_ours(pid, name)]


def _is_ours(pid: int, name: str) -> bool:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return False
    facts = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
    # A dead process waits for whoever adopted it; pasta goes on as a variant named after the processor.
    names = ("pasta", "passt") if name == "pasta" else (name,)
    return facts["State"][0] not in "ZX" and facts["Uid"].split()[0] == str(NOBODY) and facts["Name"].startswith(names)


def test_every_address_is_open_or_refused_as_the_rules_say(lab: Lab, serve: Serve, program: str) -> None:
    box = plain_box(lab)
    opened = serve(program=program).open(box)
    assert opened.get("driver") == program, opened
    assert opened["families"] == ([4, 6] if program == "pasta" else [4])
    reachable = (*network_lab.OUTSIDE_4, *HOST_OWN, network_lab.GATEWAY_4, network_lab.INNER_4, *network_lab.OUTSIDE_6)
    for address in [address for address in reachable if 6 in opened["families"] or ":" not in address]:
        blocked = egress.blocked(address, (), HOST_OWN)
        assert box.reach(address) in ([REFUSED] if blocked else [network_lab.HOST_4, network_lab.HOST_6]), address


def test_what_is_allowed_by_name_answers(lab: Lab, serve: Serve, program: str) -> None:
    box = plain_box(lab)
    serve(program=program).open(box, "10.9.0.0/16", network_lab.HOST_4)
    assert box.reach(network_lab.PRIVATE_4) == network_lab.HOST_4
    assert box.reach(network_lab.HOST_4) == network_lab.HOST_4
    assert box.reach(network_lab.METADATA) == REFUSED


def test_the_loopback_of_the_host_is_out_of_reach_under_every_address_of_the_link(lab: Lab, serve: Serve, program: str) -> None:
    box = plain_box(lab)
    serve(program=program).open(box, "100.64.0.0/10", "127.0.0.0/8")
    assert lab.host.reach("127.0.0.1") == "127.0.0.1"
    gateways = [f"100.96.0.{number}" for number in range(1, 4)]
    for address in ("127.0.0.1", "::1", *gateways, "10.0.2.2"):
        assert box.reach(address) in (REFUSED, "ENETUNREACH"), address


def test_a_guest_with_all_rights_it_can_get_cannot_lift_the_rules(lab: Lab, serve: Serve, program: str) -> None:
    box = plain_box(lab)
    serve(program=program).open(box)
    guest = ["unshare", "--user", "--map-root-user", "nft", "flush", "ruleset"]
    inside = ["nsenter", f"--target={box.pid}", "--user", "--net", *guest]
    tried = subprocess.run(inside, capture_output=True, text=True, timeout=network_lab.TIMEOUT_S, check=False)
    assert "Operation not permitted" in tried.stderr
    assert box.reach(network_lab.PRIVATE_4) == REFUSED


def test_a_box_whose_owner_is_not_mapped_to_root_gets_its_rules_too(lab: Lab, serve: Serve) -> None:
    need("pasta")
    box = lab.box(*AS_NOBODY, "unshare", "--user", "--map-user=1000", "--net", "--keep-caps")
    assert serve().open(box)["driver"] == "pasta"
    assert box.reach(network_lab.PUBLIC_4) == network_lab.HOST_4
    assert box.reach(network_lab.PRIVATE_4) == REFUSED


def test_a_private_resolver_is_reached_on_its_port_only(lab: Lab, serve: Serve, program: str) -> None:
    box = plain_box(lab)
    opened = serve(program=program, dns=True, nameservers=[network_lab.PRIVATE_4]).open(box)
    assert opened["resolv_conf"] == f"nameserver {network_lab.PRIVATE_4}\n"
    assert box.reach(network_lab.PRIVATE_4, network_lab.DNS_PORT) == network_lab.HOST_4
    assert box.reach(network_lab.PRIVATE_4) == REFUSED


def test_closing_ends_the_program_and_the_way_out(lab: Lab, serve: Serve, program: str) -> None:
    box = plain_box(lab)
    server = serve(program=program)
    server.open(box)
    assert len(processes(program)) == 1
    assert server.ask({"close": True}) == {}
    assert server.ask({"close": True}) == {}
    assert processes(program) == []
    assert box.reach(network_lab.PUBLIC_4) == "ENETUNREACH"


def test_a_killed_server_takes_the_program_along(lab: Lab, serve: Serve, program: str) -> None:
    server = serve(program=program)
    server.open(plain_box(lab))
    assert len(processes(program)) == 1
    server.kill()
    deadline = time.monotonic() + network_lab.TIMEOUT_S
    while processes(program):
        assert time.monotonic() < deadline, f"{program} outlived its server"
        time.sleep(0.01)


@pytest.fixture
def tools() -> Iterator[Path]:
    """A folder that a plain user can look into: pytest keeps its own to the user who runs it."""
    with tempfile.TemporaryDirectory(prefix="nat-tools-") as folder:
        os.chmod(folder, 0o755)
        yield Path(folder)


def test_without_pasta_slirp4netns_is_taken_and_without_both_the_package_is_named(lab: Lab, serve: Serve, tools: Path) -> None:
    for name in ("nft", "setpriv", "sh"):
        (tools / name).symlink_to(shutil.which(name, path=SYSTEM_PATH) or "")
    refused = serve(tool_path=str(tools)).open(plain_box(lab))
    assert refused["error"] == "Unavailable" and "apt-get install passt" in refused["text"]
    need("slirp4netns")
    (tools / "slirp4netns").symlink_to(shutil.which("slirp4netns", path=SYSTEM_PATH) or "")
    assert serve(tool_path=str(tools)).open(plain_box(lab))["driver"] == "slirp4netns"


def test_without_access_to_the_tap_device_the_fix_is_named(lab: Lab, serve: Serve, program: str) -> None:
    refused = serve(program=program, tun_mode="600").open(plain_box(lab))
    assert refused["error"] == "Unavailable" and "chmod 0666 /dev/net/tun" in refused["text"]


@pytest.mark.parametrize("script", ["exit 1", "exit 0", "sleep 100"])
def test_without_working_rules_a_box_gets_no_network(lab: Lab, serve: Serve, program: str, tools: Path, script: str) -> None:
    fake = tools / "nft"
    fake.write_text(f"#!/bin/sh\n{script}\n")
    fake.chmod(0o755)
    box = plain_box(lab)
    refused = serve(program=program, tool_path=f"{tools}:{SYSTEM_PATH}", tool_timeout_s=1.0).open(box)
    assert refused["error"] == "PlatformFault"
    assert (processes(program), box.interfaces()) == ([], {"lo"})
