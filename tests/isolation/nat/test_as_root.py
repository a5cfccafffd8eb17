"""Boxes wired by a pair of virtual interfaces, seen from inside the box and from the host."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.isolation.nat.lab import Box, Lab, arrives

import sandbox_runtime
from sandbox_runtime.doctor import network_lab as network_lab
from sandbox_runtime.doctor.network_lab_parts import Namespace
from sandbox_runtime.errors import InvalidRequest, PlatformFault, Unavailable
from sandbox_runtime.isolation.kernel import egress
from sandbox_runtime.isolation.nat import Nat

pytestmark = [pytest.mark.root, pytest.mark.network]

MakeNat = Callable[..., Nat]
# They end processes and pipes in different ways, which shows where things go wrong.
in_both_loops = pytest.mark.parametrize("lab", ["asyncio", "uvloop"], indirect=True)
REFUSED = "ECONNREFUSED"
SOURCE = Path(sandbox_runtime.__file__).parents[1]
HOST_OWN = (network_lab.HOST_4, network_lab.HOST_6, network_lab.HOST_PUBLIC_4, network_lab.HOST_PUBLIC_6)
EVERYWHERE = (*network_lab.OUTSIDE_4, *network_lab.OUTSIDE_6, *HOST_OWN, network_lab.GATEWAY_4, network_lab.INNER_4)


def open_box(lab: Lab, nat: Nat, allow: tuple[str, ...] = ()) -> Box:
    box = lab.box()
    lab.do(nat.open(box.pid, "box", allow))
    return box


def hosts_end(box: Box) -> str:
    (own,) = [address for address in box.addresses() if ":" not in address]
    return str(ipaddress.ip_address(own) - 1)


def links(namespace: Namespace) -> set[str]:
    return {name for name in namespace.interfaces() if name.startswith("sb")}


def forwarding(lab: Lab) -> dict[str, str]:
    listing = lab.host.run(["sh", "-c", "grep . /proc/sys/net/ipv*/conf/*/*forwarding"])
    return dict(line.split(":", 1) for line in listing.splitlines())


def claimed_names(lab: Lab) -> str:
    return lab.host.run(["sh", "-c", "grep sandbox-runtime /proc/self/net/unix || true"])


def has_ipv6(lab: Lab) -> bool:
    return lab.host.call(lambda: os.path.exists("/proc/sys/net/ipv6/conf/all/force_forwarding"))


@pytest.mark.requirement("fusion-5.05")
def test_public_addresses_are_reached_under_the_address_of_the_host(lab: Lab, make_nat: MakeNat) -> None:
    box = open_box(lab, make_nat())
    assert box.reach(network_lab.PUBLIC_4) == network_lab.HOST_4
    if not has_ipv6(lab):
        pytest.skip("this kernel cannot forward IPv6 for single interfaces (Linux 6.17)")
    assert box.reach(network_lab.PUBLIC_6) == network_lab.HOST_6


def test_every_address_is_open_or_refused_as_the_rules_say(lab: Lab, make_nat: MakeNat) -> None:
    box = open_box(lab, make_nat())
    for address in (
        *network_lab.OUTSIDE_4,
        *HOST_OWN,
        network_lab.GATEWAY_4,
        network_lab.INNER_4,
        *(network_lab.OUTSIDE_6 if has_ipv6(lab) else ()),
    ):
        open_to_box = box.reach(address) in (network_lab.HOST_4, network_lab.HOST_6)
        assert open_to_box is not egress.blocked(address, (), HOST_OWN), address


@pytest.mark.parametrize(
    "address", [network_lab.PRIVATE_4, network_lab.METADATA, *HOST_OWN, network_lab.UNIQUE_LOCAL_6, network_lab.INNER_4]
)
def test_private_metadata_and_host_addresses_are_refused_at_once(lab: Lab, make_nat: MakeNat, address: str) -> None:
    box = open_box(lab, make_nat())
    assert box.reach(address) in (REFUSED, "ENETUNREACH" if ":" in address and not has_ipv6(lab) else REFUSED)


def test_the_same_addresses_answer_once_they_are_allowed_by_name(lab: Lab, make_nat: MakeNat) -> None:
    targets = [address for address in EVERYWHERE if has_ipv6(lab) or ":" not in address]
    box = open_box(lab, make_nat(), tuple(targets))
    answers = {address: box.reach(address) for address in targets}
    own = {*lab.host.addresses(), *box.addresses()}
    assert {address: answer for address, answer in answers.items() if answer not in own} == {}


def test_one_box_being_allowed_opens_nothing_for_another(lab: Lab, make_nat: MakeNat) -> None:
    nat = make_nat()
    favoured, other = open_box(lab, nat, ("10.9.0.0/16",)), open_box(lab, nat)
    assert favoured.reach(network_lab.PRIVATE_4) == network_lab.HOST_4
    assert other.reach(network_lab.PRIVATE_4) == REFUSED


def test_no_box_reaches_another_even_if_its_address_is_named(lab: Lab, make_nat: MakeNat) -> None:
    nat, second_server = make_nat(), make_nat()
    neighbours = [open_box(lab, nat), open_box(lab, second_server)]
    addresses = [address for box in neighbours for address in box.addresses()]
    box = open_box(lab, nat, ("100.64.0.0/10", "fc00::/7", *addresses))
    for neighbour in neighbours:
        lab.listen(neighbour)
    assert addresses and all(neighbour.reach("127.0.0.1") == "127.0.0.1" for neighbour in neighbours)
    assert {address: box.reach(address) for address in addresses} == dict.fromkeys(addresses, REFUSED)


def test_the_hosts_end_of_the_link_does_not_answer_even_if_it_is_named(lab: Lab, make_nat: MakeNat) -> None:
    box = open_box(lab, make_nat(), ("100.64.0.0/10",))
    assert box.reach(hosts_end(box)) == REFUSED


def test_nobody_outside_gets_into_a_box(lab: Lab, make_nat: MakeNat) -> None:
    assert_closed_to_the_outside(lab, open_box(lab, make_nat()))


def assert_closed_to_the_outside(lab: Lab, box: Box) -> None:
    lab.listen(box)
    (own,) = [address for address in box.addresses() if ":" not in address]
    lab.outside.ip(f"route add {own} via {network_lab.HOST_4}")
    assert lab.outside.hears_nothing_from(own)
    assert lab.host.hears_nothing_from(own)
    box.run(["nft", "flush", "ruleset"])
    assert not arrives(lab.outside, network_lab.GATEWAY_4, box, own), "the host must not let it through either"


def test_the_host_refuses_too_when_the_rules_in_the_box_are_gone(lab: Lab, make_nat: MakeNat) -> None:
    nat = make_nat()
    box, neighbour = open_box(lab, nat, ("100.64.0.0/10",)), open_box(lab, nat)
    lab.listen(neighbour)
    box.run(["nft", "flush", "ruleset"])
    assert box.reach(network_lab.PUBLIC_4) == network_lab.HOST_4
    for address in (network_lab.PRIVATE_4, network_lab.METADATA, network_lab.HOST_4, hosts_end(box), neighbour.addresses()[0]):
        assert box.hears_nothing_from(address), address


def test_the_host_drops_what_a_box_sends_under_a_foreign_address(lab: Lab, make_nat: MakeNat) -> None:
    box = open_box(lab, make_nat())
    box.run(["nft", "flush", "ruleset"])
    box.ip("addr add 192.31.196.55 dev eth0", "addr add fd00::55 dev eth0 nodad")
    genuine_4, genuine_6 = box.addresses()[0], [address for address in box.addresses() if address.startswith("fd8c")]
    assert arrives(box, genuine_4, lab.outside, network_lab.PUBLIC_4)
    assert not arrives(box, "192.31.196.55", lab.outside, network_lab.PUBLIC_4)
    if genuine_6:
        assert arrives(box, genuine_6[0], lab.outside, network_lab.PUBLIC_6)
        assert not arrives(box, "fd00::55", lab.outside, network_lab.PUBLIC_6)


def test_strangers_cannot_use_the_host_as_a_router_while_a_box_is_open(lab: Lab, make_nat: MakeNat) -> None:
    open_box(lab, make_nat())
    assert forwarding(lab)["/proc/sys/net/ipv4/conf/up0/forwarding"] == "1"
    assert lab.outside.hears_nothing_from(network_lab.INNER_4)
    assert lab.outside.hears_nothing_from(network_lab.INNER_6)
    assert lab.inner.hears_nothing_from(network_lab.PUBLIC_4)


def test_a_private_resolver_is_reached_on_its_port_only_and_only_if_dns_is_allowed(
    lab: Lab, make_nat: MakeNat, tmp_path: Path
) -> None:
    resolv_conf = tmp_path / "resolv.conf"
    resolv_conf.write_text(f"search corp.example\nnameserver {network_lab.PRIVATE_4}\n")
    seen = {}
    for dns in (False, True):
        box = lab.box()
        link = lab.do(make_nat(resolv_conf=resolv_conf, dns=dns).open(box.pid, "box"))
        seen[dns] = (link.resolv_conf, box.reach(network_lab.PRIVATE_4, network_lab.DNS_PORT), box.reach(network_lab.PRIVATE_4))
    assert seen[False] == ("# no resolver is reachable from this box\n", REFUSED, REFUSED)
    assert seen[True] == (f"nameserver {network_lab.PRIVATE_4}\n", network_lab.HOST_4, REFUSED)


def test_addresses_an_operator_refuses_are_refused(lab: Lab, make_nat: MakeNat) -> None:
    assert open_box(lab, make_nat(refuse=(network_lab.PUBLIC_4,))).reach(network_lab.PUBLIC_4) == REFUSED


@in_both_loops
def test_closing_leaves_no_link_table_setting_or_name_behind(lab: Lab, make_nat: MakeNat) -> None:
    before = forwarding(lab)
    nat = make_nat()
    opened = [lab.do(nat.open(lab.box().pid, f"box {number}", ("10.9.0.0/16", "fd99::/64"))) for number in range(3)]
    assert len(links(lab.host)) == 3 and lab.tables() and forwarding(lab) != before
    lab.do(opened[0].close())
    lab.do(opened[0].close())
    assert len(links(lab.host)) == 2
    lab.do(nat.close())
    lab.do(nat.close())
    assert (links(lab.host), lab.tables(), forwarding(lab), claimed_names(lab)) == (set(), "", before, "")


def test_a_box_whose_link_was_closed_reaches_nothing(lab: Lab, make_nat: MakeNat) -> None:
    box = lab.box()
    link = lab.do(make_nat().open(box.pid, "box"))
    lab.do(link.close())
    assert box.reach(network_lab.PUBLIC_4) == "ENETUNREACH"


def test_closing_after_the_box_has_died_leaves_nothing_behind(lab: Lab, make_nat: MakeNat) -> None:
    before = forwarding(lab)
    box = lab.box()
    link = lab.do(make_nat().open(box.pid, "box"))
    box.end_all()
    lab.do(link.close())
    assert (links(lab.host), lab.tables(), forwarding(lab)) == (set(), "", before)


def test_a_host_that_forwards_of_its_own_accord_still_does_afterwards(lab: Lab, make_nat: MakeNat) -> None:
    lab.host.run(["sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward"])
    before = forwarding(lab)
    nat = make_nat()
    box = open_box(lab, nat)
    assert box.reach(network_lab.PUBLIC_4) == network_lab.HOST_4
    assert lab.outside.reach(network_lab.INNER_4) == network_lab.GATEWAY_4
    assert_closed_to_the_outside(lab, box)
    lab.do(nat.close())
    assert forwarding(lab) == before


def test_two_servers_share_the_host_and_the_last_one_restores_it(lab: Lab, make_nat: MakeNat) -> None:
    before = forwarding(lab)
    first, second = make_nat(), make_nat()
    open_box(lab, first)
    box = open_box(lab, second)
    lab.do(first.close())
    assert box.reach(network_lab.PUBLIC_4) == network_lab.HOST_4
    lab.do(second.close())
    assert (lab.tables(), forwarding(lab)) == ("", before)


def test_addresses_that_the_host_routes_elsewhere_are_not_taken(lab: Lab, make_nat: MakeNat) -> None:
    lab.host.ip("route add 100.96.5.0/25 via 10.50.0.2")
    nat = make_nat(pool4="100.96.5.0/24")
    for _ in range(3):
        (own,) = [address for address in open_box(lab, nat).addresses() if ":" not in address]
        assert ipaddress.ip_address(own) in ipaddress.ip_network("100.96.5.128/25")


def test_a_pool_without_free_addresses_is_said_to_be_so(lab: Lab, make_nat: MakeNat) -> None:
    lab.host.ip("route add 100.64.0.0/10 via 10.50.0.2")
    with pytest.raises(Unavailable, match="configure other pools"):
        lab.do(make_nat().open(lab.box().pid, "box"))
    assert lab.tables() == ""


# In the lab only the host has an interface up0: so the fakes know on which side they are.
BROKEN_NFT = {
    "fails": "echo 'netlink: Operation not permitted' >&2; exit 1",
    "does nothing": "exit 0",
    "hangs": "sleep 100",
    "fails on the host": 'grep -q up0 /proc/self/net/dev && exit 1; exec REAL "$@"',
}


@in_both_loops
@pytest.mark.parametrize("fault", BROKEN_NFT)
def test_without_working_rules_a_box_gets_no_network(lab: Lab, make_nat: MakeNat, tmp_path: Path, fault: str) -> None:
    assert_fails_closed(lab, make_nat, tmp_path, "nft", BROKEN_NFT[fault])


def test_without_nft_a_box_gets_no_network_and_the_package_is_named(lab: Lab, make_nat: MakeNat, tmp_path: Path) -> None:
    box, before = lab.box(), forwarding(lab)
    with pytest.raises(Unavailable, match="apt-get install"):
        lab.do(make_nat(tool_path=str(tmp_path)).open(box.pid, "box"))
    assert_untouched(lab, box, before)


BROKEN_IP = {
    "on the host": 'test "$1" = -batch && exit 1; exec REAL "$@"',
    "in the box": 'test "$1" = -batch && ! grep -q up0 /proc/self/net/dev && exit 1; exec REAL "$@"',
}


@pytest.mark.parametrize("place", BROKEN_IP)
def test_a_link_that_cannot_be_finished_is_taken_back(lab: Lab, make_nat: MakeNat, tmp_path: Path, place: str) -> None:
    assert_fails_closed(lab, make_nat, tmp_path, "ip", BROKEN_IP[place])


def assert_fails_closed(lab: Lab, make_nat: MakeNat, folder: Path, program: str, script: str) -> None:
    fake = folder / program
    fake.write_text("#!/bin/sh\n" + script.replace("REAL", shutil.which(program, path="/usr/sbin:/usr/bin:/sbin:/bin") or ""))
    fake.chmod(0o755)
    box, before = lab.box(), forwarding(lab)
    nat = make_nat(tool_path=f"{folder}:/usr/sbin:/usr/bin:/sbin:/bin", tool_timeout_s=1.0)
    with pytest.raises(PlatformFault):
        lab.do(nat.open(box.pid, "box"))
    assert_untouched(lab, box, before)


def assert_untouched(lab: Lab, box: Box, before: dict[str, str]) -> None:
    assert (links(lab.host), lab.tables(), forwarding(lab)) == (set(), "", before)
    assert box.interfaces() == {"lo"}
    assert box.reach(network_lab.PUBLIC_4) == "ENETUNREACH"


@in_both_loops
def test_a_cancelled_opening_leaves_nothing_behind(lab: Lab, make_nat: MakeNat) -> None:
    nat, box, before = make_nat(), lab.box(), forwarding(lab)

    async def cancelled_after(delay_s: float) -> bool:
        task = asyncio.create_task(nat.open(box.pid, "box"))
        await asyncio.sleep(delay_s)
        task.cancel()
        results = await asyncio.gather(task, return_exceptions=True)
        if isinstance(results[0], asyncio.CancelledError):
            return True
        await results[0].close()
        return False

    for delay_ms in range(0, 30, 3):
        lab.do(cancelled_after(delay_ms / 1000))
        assert (links(lab.host), lab.tables(), forwarding(lab)) == (set(), "", before), delay_ms
        box.run(["nft", "flush", "ruleset"])


def test_a_process_in_the_hosts_own_network_is_refused_before_any_rule_is_set(lab: Lab, make_nat: MakeNat) -> None:
    child = lab.host.call(lambda: subprocess.Popen(["sleep", "60"]))
    try:
        with pytest.raises(PlatformFault, match="not in a separate network namespace"):
            lab.do(make_nat().open(child.pid, "box"))
    finally:
        child.kill()
        child.wait(network_lab.TIMEOUT_S)
    assert lab.tables() == ""


def test_a_process_that_is_gone_is_our_fault_and_leaves_nothing(lab: Lab, make_nat: MakeNat) -> None:
    box = lab.box()
    box.end()
    with pytest.raises(PlatformFault, match="cannot open the network namespace"):
        lab.do(make_nat().open(box.pid, "box"))
    assert lab.tables() == ""


def test_an_allow_entry_that_is_no_address_is_the_callers_fault(lab: Lab, make_nat: MakeNat) -> None:
    with pytest.raises(InvalidRequest, match="addresses or CIDR"):
        lab.do(make_nat().open(lab.box().pid, "box", ("example.org",)))


DOOMED_SERVER = """
import asyncio, sys
sys.path.insert(0, sys.argv[1])
from sandbox_runtime.isolation.nat import Nat
async def main():
    nat = Nat()
    await nat.open(int(sys.argv[2]), "box")
    print("open", flush=True)
    await asyncio.sleep(60)
asyncio.run(main())
"""


def test_what_a_killed_server_left_is_swept_by_the_next_and_the_living_keep_theirs(lab: Lab, make_nat: MakeNat) -> None:
    before = forwarding(lab)
    box = lab.box()
    argv = [sys.executable, "-c", DOOMED_SERVER, str(SOURCE), str(box.pid)]
    doomed = lab.host.call(lambda: subprocess.Popen(argv, stdout=subprocess.PIPE, text=True))
    try:
        assert doomed.stdout is not None and doomed.stdout.readline() == "open\n"
    finally:
        doomed.send_signal(signal.SIGKILL)
        doomed.communicate(timeout=network_lab.TIMEOUT_S)
    living, next_server = make_nat(), make_nat()
    surviving = open_box(lab, living)
    assert len(links(lab.host)) == 2
    gone = lab.do(next_server.sweep())
    assert len(gone) == 2 and len(links(lab.host)) == 1
    assert box.reach(network_lab.PUBLIC_4) == "ENETUNREACH"
    assert surviving.reach(network_lab.PUBLIC_4) == network_lab.HOST_4
    assert lab.do(next_server.sweep()) == []
    lab.do(living.close())
    assert (lab.tables(), forwarding(lab)) == ("", before)
