"""What `doctor --attack` is pointed at: which families of attacks, and which server."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from sandbox_runtime.errors import InvalidRequest

if TYPE_CHECKING:
    from sandbox_runtime.doctor import Attack, Server

Url = Annotated[
    str | None,
    typer.Option("--url", metavar="URL", help="Attack the server that runs at this address, and no boxes.", show_default=False),
]
Key = Annotated[str | None, typer.Option("--key", metavar="KEY", help="With --url: a key of the server.", show_default=False)]
OtherKey = Annotated[
    str | None, typer.Option("--other-key", metavar="KEY", help="With --url: a key of another owner.", show_default=False)
]
ReadKey = Annotated[
    str | None,
    typer.Option(
        "--read-key", metavar="KEY", help="With --url: a key of the same owner with the scope read.", show_default=False
    ),
]
Mine = Annotated[
    bool, typer.Option("--yes-this-is-my-server", help="With --url: attack a server on another machine than this one.")
]


def chosen(families: Sequence[str], *, everything: bool) -> list[Attack]:
    """Return the attacks to run. Raises InvalidRequest for an unknown family, or a family without --attack."""
    from sandbox_runtime.doctor import Family, load_corpus

    unknown = sorted(set(families) - {family.value for family in Family})
    if unknown:
        raise InvalidRequest(f"there is no family {', '.join(unknown)}; the families are {', '.join(Family)}")
    if families and not everything:
        raise InvalidRequest("--family chooses attacks of the whole corpus: give --attack or --list as well")
    return [one for one in load_corpus() if (everything or one.quick) and (not families or one.family in families)]


def named_server(url: str | None, key: str | None, other_key: str | None, read_key: str | None, *, mine: bool) -> Server | None:
    """Return the server that was named, or None. Raises InvalidRequest where it must not be attacked, or has no key."""
    from sandbox_runtime.doctor import Server

    if url is None:
        if key or other_key or read_key or mine:
            raise InvalidRequest(
                "--key, --other-key, --read-key and --yes-this-is-my-server belong to a server: give --url as well"
            )
        return None
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidRequest(f"--url must be an address such as http://127.0.0.1:8080, not {url!r}")
    if not mine and not _is_this_machine(parts.hostname):
        raise InvalidRequest(
            f"{parts.hostname} is not this machine: attack only servers that are yours, and say so with --yes-this-is-my-server"
        )
    if not key:
        raise InvalidRequest("attacks on a server need a key of it: make one with `sandbox keys create` and give it with --key")
    keys = {"own": key, "other": other_key or "", "read": read_key or ""}
    return Server(url=url, keys={kind: value for kind, value in keys.items() if value})


def _is_this_machine(name: str) -> bool:
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
