"""Which resolvers a box gets, for different kinds of resolv.conf on the host."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox_runtime.errors import InvalidRequest, Unavailable
from sandbox_runtime.isolation.kernel import egress
from sandbox_runtime.isolation.nat import resolvers
from sandbox_runtime.isolation.nat.options import NatOptions

NO_RESOLVER = "# no resolver is reachable from this box\n"


class Host:
    """A host's resolver files."""

    def __init__(self, folder: Path) -> None:
        self.resolv_conf = folder / "resolv.conf"
        self.upstream = folder / "upstream.conf"

    def choose(
        self, text: str, *, dns: bool, families: tuple[int, ...] = (4, 6), nameservers: tuple[str, ...] = ()
    ) -> resolvers.Resolvers:
        self.resolv_conf.write_text(text)
        options = NatOptions(dns=dns, nameservers=nameservers, resolv_conf=self.resolv_conf, upstream_resolv_conf=self.upstream)
        return resolvers.choose(options, egress.rules((), ("192.31.196.77/32",)), families)


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


def test_public_resolvers_are_passed_on_without_an_exception(host: Host) -> None:
    for dns in (False, True):
        chosen = host.choose("# comment\nsearch corp\nnameserver 9.9.9.9\nnameserver 2620:fe::fe\noptions edns0\n", dns=dns)
        assert chosen == resolvers.Resolvers(("9.9.9.9", "2620:fe::fe"), ())
        assert chosen.resolv_conf == "nameserver 9.9.9.9\nnameserver 2620:fe::fe\n"


def test_private_resolvers_are_withheld_unless_dns_is_allowed(host: Host) -> None:
    text = "nameserver 10.0.0.2\nnameserver 9.9.9.9\n"
    assert host.choose(text, dns=False) == resolvers.Resolvers(("9.9.9.9",), ())
    assert host.choose(text, dns=True) == resolvers.Resolvers(("10.0.0.2", "9.9.9.9"), ("10.0.0.2",))
    assert host.choose("nameserver 10.0.0.2\n", dns=False).resolv_conf == NO_RESOLVER


@pytest.mark.parametrize("address", ["169.254.169.254", "192.31.196.77", "fd00:ec2::253"])
def test_resolvers_of_clouds_and_of_the_host_itself_need_the_exception_too(host: Host, address: str) -> None:
    assert host.choose(f"nameserver {address}\n", dns=True).exempt == (address,)


def test_behind_a_stub_on_loopback_the_servers_it_asks_are_taken(host: Host) -> None:
    host.upstream.write_text("nameserver 10.0.0.2\n")
    assert host.choose("nameserver 127.0.0.53\n", dns=True).addresses == ("10.0.0.2",)


def test_a_resolver_on_loopback_alone_is_never_passed_on(host: Host) -> None:
    assert host.choose("nameserver 127.0.0.1\nnameserver ::1\n", dns=False).resolv_conf == NO_RESOLVER
    with pytest.raises(Unavailable, match="set nameservers"):
        host.choose("nameserver 127.0.0.1\n", dns=True)


def test_named_resolvers_take_the_place_of_the_hosts(host: Host) -> None:
    assert host.choose("nameserver 10.0.0.2\n", dns=True, nameservers=("10.0.0.9",)).addresses == ("10.0.0.9",)


def test_a_resolver_of_a_family_that_the_box_lacks_is_left_out(host: Host) -> None:
    assert host.choose("nameserver 2620:fe::fe\nnameserver 9.9.9.9\n", dns=False, families=(4,)).addresses == ("9.9.9.9",)


def test_no_more_than_three_are_passed_on_and_nonsense_is_skipped(host: Host) -> None:
    lines = ["nameserver", "nameserver example.org", "nameserver fe80::1%eth0", *(f"nameserver 9.9.9.{n}" for n in range(1, 6))]
    assert host.choose("\n".join(lines), dns=False).addresses == ("9.9.9.1", "9.9.9.2", "9.9.9.3")


def test_a_host_without_a_resolver_file_gives_boxes_none(tmp_path: Path) -> None:
    options = NatOptions(resolv_conf=tmp_path / "absent", upstream_resolv_conf=tmp_path / "absent too")
    assert resolvers.choose(options, egress.rules(), (4,)).resolv_conf == NO_RESOLVER


@pytest.mark.parametrize(
    "wrong",
    [
        {"pool4": "100.96.0.0/28"},
        {"pool4": "fd00::/64"},
        {"pool4": "100.96.0.1/16"},
        {"pool6": "10.0.0.0/8"},
        {"refuse": ("somewhere",)},
        {"nameservers": ("10.0.0.0/8",)},
        {"tool_timeout_s": 0},
        {"tool_timeout_s": float("nan")},
    ],
)
def test_options_that_make_no_sense_are_refused_when_they_are_given(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidRequest, match=next(iter(wrong))):
        NatOptions(**wrong)  # type: ignore[arg-type]
