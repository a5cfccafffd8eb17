"""`sandbox keys`: who may use the server. They live in the database that the setting database_url names; a running server sees
changes within seconds."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from sandbox_runtime import timestamps
from sandbox_runtime.cli.flags import Config, Set, settings_from
from sandbox_runtime.model import ApiKey, AuditEntry
from sandbox_runtime.model.access import hash_key
from sandbox_runtime.model.grants import parse_grants
from sandbox_runtime.quantities import check_range
from sandbox_runtime.settings import Settings

if TYPE_CHECKING:
    from sandbox_runtime.store import Store

PREFIX = "sbx_"
ACTOR = "operator"
_DAY_MS = 86_400_000
_SECRET_BYTES = 32
_AT_A_TIME = 200

T = TypeVar("T")
Owner = Annotated[str, typer.Argument(help="Whose key it is: sessions belong to owners.")]
Name = Annotated[str, typer.Option("--name", help="A few words to know it by.")]
Scopes = Annotated[
    list[str] | None,
    typer.Option("--scope", help="admin, read, rate:N (requests a minute) or sessions:N; may be repeated.", show_default=False),
]
Days = Annotated[float | None, typer.Option("--days", min=0.001, max=36_500, help="Expires after so many.", show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", help="As JSON, for programs.")]
KeyId = Annotated[str, typer.Argument(help="Its id, as `sandbox keys list` tells.")]
OfOwner = Annotated[str | None, typer.Option("--owner", help="Only those of this owner.", show_default=False)]


def register(app: typer.Typer) -> None:
    keys = typer.Typer(help="API keys: made, listed, revoked.", no_args_is_help=True)
    keys.command("create")(create)
    keys.command("list")(list_keys)
    keys.command("revoke")(revoke)
    app.add_typer(keys, name="keys")


def create(
    owner: Owner,
    name: Name = "",
    scopes: Scopes = None,
    days: Days = None,
    as_json: AsJson = False,
    config: Config = None,
    sets: Set = None,
) -> None:
    """Make a key and print it. It is shown this once: only its digest is kept."""
    parse_grants(scopes or ())
    secret, now_ms = PREFIX + secrets.token_urlsafe(_SECRET_BYTES), timestamps.now_ms()
    key = ApiKey(
        id=f"key_{secrets.token_hex(8)}",
        owner=owner,
        name=name,
        digest=hash_key(secret),
        scopes=tuple(scopes or ()),
        created_ms=now_ms,
        expires_ms=None if days is None else now_ms + int(check_range(days, "--days", 0.001, 36_500) * _DAY_MS),
    )
    _in_store(settings_from(config, sets), lambda store: store.keys.add(key, by=ACTOR, audit=_told("create", key)))
    if as_json:
        print(json.dumps({**_row(key), "key": secret}))
    else:
        print(secret)
        typer.echo(f"{key.id} of {owner}; keep the key, it is not shown again", err=True)


def list_keys(owner: OfOwner = None, as_json: AsJson = False, config: Config = None, sets: Set = None) -> None:
    """Print every key but not what opens: id, owner, name, scopes, when it was last used."""
    rows = [_row(key) for key in _in_store(settings_from(config, sets), lambda store: _all(store, owner))]
    print(json.dumps(rows, indent=2)) if as_json else _print_table(rows)


def revoke(key_id: KeyId, config: Config = None, sets: Set = None) -> None:
    """Let a key open nothing any more. Sessions that it made stay."""
    _in_store(settings_from(config, sets), lambda store: _revoked(store, key_id))
    print(f"{key_id} is revoked")


async def _all(store: Store, owner: str | None) -> list[ApiKey]:
    from sandbox_runtime.store import KeyFilter

    found: list[ApiKey] = []
    while True:
        page = await store.keys.list(KeyFilter(owner=owner), _AT_A_TIME, len(found))
        found += page.items
        if not page.items or len(found) >= page.total:
            return found


async def _revoked(store: Store, key_id: str) -> None:
    key = await store.keys.get(key_id)
    if key.revoked_ms is None:
        await store.keys.update(key, by=ACTOR, audit=_told("revoke", key), revoked_ms=timestamps.now_ms())


def _in_store(settings: Settings, work: Callable[[Store], Awaitable[T]]) -> T:
    from sandbox_runtime.assembly import build_store_options
    from sandbox_runtime.store import open_store

    async def run() -> T:
        async with open_store(settings.store_url, build_store_options(settings)) as store:
            return await work(store)

    return asyncio.run(run())


def _told(action: str, key: ApiKey) -> AuditEntry:
    return AuditEntry(at_ms=timestamps.now_ms(), actor=ACTOR, action=action, kind="key", subject=key.id, owner=key.owner)


def _row(key: ApiKey) -> dict[str, Any]:
    return {
        "id": key.id,
        "owner": key.owner,
        "name": key.name,
        "scopes": list(key.scopes),
        "state": "revoked" if key.revoked_ms is not None else "open" if key.is_valid(timestamps.now_ms()) else "expired",
        "created_at": _when(key.created_ms),
        "expires_at": _when(key.expires_ms),
        "last_used_at": _when(key.last_used_ms),
    }


def _print_table(rows: list[dict[str, Any]]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE)
    titles = ("id", "owner", "name", "scopes", "state", "created_at", "expires_at", "last_used_at")
    for title in titles:
        table.add_column(title.removesuffix("_at"), overflow="fold", no_wrap=title == "id")
    for row in rows:
        table.add_row(*(Text(" ".join(row[title]) if title == "scopes" else str(row[title] or "")) for title in titles))
    Console().print(table)


def _when(moment_ms: int | None) -> str | None:
    return None if moment_ms is None else datetime.fromtimestamp(moment_ms / 1000, UTC).isoformat(timespec="seconds")
