"""What a box with a network may send to: the same answer from the function and, in tests/isolation/nat, from the kernel."""

from __future__ import annotations

import ipaddress
import shutil
import subprocess

import pytest

from sandbox_runtime.isolation.kernel import egress

HOST = ("192.31.196.77/32", "2001:4:112::77/128", "127.0.0.0/8")
POOLS = ("100.96.0.0/16", "fd8c:1f3a:92d7::/48")

# fmt: off
PUBLIC = (
    "8.8.8.8", "1.1.1.1", "192.31.196.10", "172.15.255.255", "172.32.0.0", "100.63.255.255",
    "100.128.0.0", "169.253.255.255", "223.255.255.255", "2606:4700::1111", "2a00:1450::1", "::ffff:8.8.8.8",
    "64:ff9b::808:808",
)
PRIVATE = (
    "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1",
)
METADATA = (
    "169.254.169.254", "169.254.170.2", "fe80::1", "fe80::a9fe:a9fe", "fd00:ec2::254", "192.0.0.192",
    "100.100.100.200",
)
SPECIAL = (
    "0.0.0.0", "0.1.2.3", "127.0.0.1", "127.8.8.8", "::1", "::",
    "100.64.0.1", "100.127.255.255", "192.0.2.1", "198.18.0.1", "198.19.255.255", "198.51.100.7",
    "203.0.113.7", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", "fc00::1",
    "fdff::1", "fec0::1", "ff02::1", "ff0e::1", "2001:db8::1", "100::1",
    "4000::1", "5f00::1", "3fff::1",
)
DISGUISED = (
    "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::10.0.0.1", "64:ff9b::10.0.0.1", "64:ff9b::169.254.169.254",
    "64:ff9b::127.0.0.1",
    "64:ff9b:1::8.8.8.8", "2002:a00:1::1", "2002:808:808::1", "2001:0:808:808::1",
)
OF_THE_HOST = (
    "192.31.196.77", "2001:4:112::77", "::ffff:192.31.196.77", "64:ff9b::192.31.196.77",
)
# fmt: on


@pytest.mark.parametrize("address", PUBLIC)
def test_the_public_internet_is_open(address: str) -> None:
    assert not egress.blocked(address, (), HOST, POOLS)


@pytest.mark.parametrize("address", PRIVATE)
def test_private_addresses_are_refused(address: str) -> None:
    assert egress.blocked(address)


@pytest.mark.parametrize("address", METADATA)
def test_metadata_services_of_clouds_are_refused(address: str) -> None:
    assert egress.blocked(address)


@pytest.mark.parametrize("address", SPECIAL)
def test_what_is_local_reserved_or_for_many_is_refused(address: str) -> None:
    assert egress.blocked(address)


@pytest.mark.parametrize("address", DISGUISED)
def test_private_ipv4_is_refused_in_every_ipv6_form(address: str) -> None:
    assert egress.blocked(address)


@pytest.mark.parametrize("address", OF_THE_HOST)
def test_public_addresses_of_the_host_itself_are_refused(address: str) -> None:
    assert egress.blocked(address, (), HOST)
    assert not egress.blocked(address, (), ())


def test_what_is_allowed_by_name_is_open_and_its_neighbours_are_not() -> None:
    allow = ("10.1.2.3", "192.168.4.0/24", "fd99::/64", "192.31.196.77")
    for address in ("10.1.2.3", "192.168.4.200", "fd99::5", "192.31.196.77"):
        assert not egress.blocked(address, allow, HOST, POOLS)
    for address in ("10.1.2.4", "192.168.5.1", "fd99:0:0:1::5", "64:ff9b::10.1.2.3"):
        assert egress.blocked(address, allow, HOST, POOLS)


def test_other_boxes_stay_closed_even_if_their_addresses_are_named() -> None:
    for address in ("100.96.3.4", "fd8c:1f3a:92d7::5"):
        assert egress.blocked(address, ("0.0.0.0/0", "::/0"), HOST, POOLS)


def test_a_text_that_is_no_address_is_an_error_and_never_reaches_nft() -> None:
    for text in ("example.org", "10.0.0.0/33", "1.2.3.4 } ; flush ruleset ; {", ""):
        with pytest.raises(ValueError):
            egress.rules((text,))


def test_every_special_block_is_a_proper_block_and_listed_once() -> None:
    for version, blocks in ((4, egress.REFUSED_4), (6, egress.REFUSED_6)):
        parsed = [ipaddress.ip_network(block) for block in blocks]
        assert {block.version for block in parsed} == {version}
        assert not any(one.overlaps(other) for one in parsed for other in parsed if one is not other)


def test_nft_takes_the_table_with_overlapping_blocks_and_without_any() -> None:
    nft = shutil.which("nft", path="/usr/sbin:/usr/bin:/sbin:/bin")
    if nft is None:
        pytest.skip("nft is not installed: apt-get install nftables")
    full = egress.rules(("10.0.0.0/8", "10.1.0.0/16", "fd99::/64"), ("10.0.0.1/32", "8.8.8.8"), POOLS, ("10.9.9.53", "fd99::53"))
    for given in (full, egress.rules()):
        argv = ["unshare", "--user", "--map-root-user", "--net", nft, "-c", "-f", "-"]
        done = subprocess.run(argv, input=egress.box_table(given), capture_output=True, text=True, timeout=20, check=False)
        if "unshare failed" in done.stderr:
            pytest.skip(f"this user may not make namespaces here: {done.stderr.strip()}")
        assert done.returncode == 0, done.stderr
