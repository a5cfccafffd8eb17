"""The attacks of `sandbox doctor`: selecting and listing them, and the server to attack."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from sandbox_runtime.errors import InvalidRequest

if TYPE_CHECKING:
    from sandbox_runtime.doctor import Attack, Server

Url = Annotated[
    str | None,
    typer.Option("--url", metavar="URL", help="Attack the running server at this address instead of boxes.", show_default=False),
]
Key = Annotated[
    str | None, typer.Option("--key", metavar="KEY", help="With --url: an API key of the server.", show_default=False)
]
OtherKey = Annotated[
    str | None, typer.Option("--other-key", metavar="KEY", help="With --url: an API key of another owner.", show_default=False)
]
ReadKey = Annotated[
    str | None,
    typer.Option(
        "--read-key", metavar="KEY", help="With --url: an API key of the same owner with scope read.", show_default=False
    ),
]
Mine = Annotated[bool, typer.Option("--yes-this-is-my-server", help="With --url: allow attacking a server on another machine.")]


def select_attacks(families: Sequence[str], *, everything: bool) -> list[Attack]:
    """Return the attacks to run. Raises InvalidRequest for an unknown family, or a family without --attack."""
    from sandbox_runtime.doctor import Family, load_corpus

    unknown = sorted(set(families) - {family.value for family in Family})
    if unknown:
        raise InvalidRequest(f"unknown family {', '.join(unknown)}; the families are {', '.join(Family)}")
    if families and not everything:
        raise InvalidRequest("--family requires --attack or --list")
    return [attack for attack in load_corpus() if (everything or attack.quick) and (not families or attack.family in families)]


def print_corpus(corpus: Sequence[Attack]) -> None:
    for line in _format_corpus(corpus):
        print(line)


def _format_corpus(corpus: Sequence[Attack]) -> Iterator[str]:
    """Yield a line for each attack, by family, with the layers and guards it tests."""
    from sandbox_runtime.doctor import Family

    width = max((len(attack.name) for attack in corpus), default=0)
    for family in Family:
        attacks = [attack for attack in corpus if attack.family is family]
        if attacks:
            yield f"{family} ({len(attacks)}): {family.about}"
            for attack in attacks:
                yield f"  {attack.name:<{width}}  {attack.title} [{', '.join((*attack.layers, *attack.guards))}]"
            yield ""
    yield f"{len(corpus)} attacks"


def parse_server(url: str | None, key: str | None, other_key: str | None, read_key: str | None, *, mine: bool) -> Server | None:
    """Return the server to attack, or None. Raises InvalidRequest if it must not be attacked or the key is missing."""
    from sandbox_runtime.doctor import Server

    if url is None:
        if key or other_key or read_key or mine:
            raise InvalidRequest("--key, --other-key, --read-key and --yes-this-is-my-server require --url")
        return None
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidRequest(f"--url must be a URL such as http://127.0.0.1:8080, not {url!r}")
    if not mine and not _is_this_machine(parts.hostname):
        raise InvalidRequest(
            f"{parts.hostname} is not this machine; to attack a server that you own, add --yes-this-is-my-server"
        )
    if not key:
        raise InvalidRequest("--url requires --key; create a key with `sandbox keys create`")
    keys = {"own": key, "other": other_key or "", "read": read_key or ""}
    return Server(url=url, keys={kind: value for kind, value in keys.items() if value})


def _is_this_machine(name: str) -> bool:
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
