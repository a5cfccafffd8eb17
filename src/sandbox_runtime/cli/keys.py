"""`sandbox keys`: create, list and revoke API keys in the database of the setting database_url. A running server sees changes
within seconds."""

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
from sandbox_runtime.cli.output import AsJson, print_table
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
_PAGE_SIZE = 200

T = TypeVar("T")
Owner = Annotated[str, typer.Argument(help="Owner of the key. Sessions belong to owners.")]
Name = Annotated[str, typer.Option("--name", help="Description of the key.")]
Scopes = Annotated[
    list[str] | None,
    typer.Option("--scope", help="admin, read, rate:N (requests per minute) or sessions:N; repeatable.", show_default=False),
]
Days = Annotated[
    float | None,
    typer.Option("--days", min=0.001, max=36_500, help="Days until it expires; never if omitted.", show_default=False),
]
KeyId = Annotated[str, typer.Argument(help="Id of the key, see `sandbox keys list`.")]
OfOwner = Annotated[str | None, typer.Option("--owner", help="Only keys of this owner.", show_default=False)]


def register(app: typer.Typer) -> None:
    keys = typer.Typer(help="Create, list and revoke API keys.", no_args_is_help=True)
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
    """Create a key and print it. It is shown only once: the database stores its hash."""
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
    _run_in_store(settings_from(config, sets), lambda store: store.keys.add(key, by=ACTOR, audit=_audit_entry("create", key)))
    if as_json:
        print(json.dumps({**_row(key), "key": secret}))
    else:
        print(secret)
        typer.echo(f"created {key.id} for {owner}; save the key, it is not shown again", err=True)


def list_keys(owner: OfOwner = None, as_json: AsJson = False, config: Config = None, sets: Set = None) -> None:
    """List the keys: id, owner, name, scopes and last use, not the secrets."""
    rows = [_row(key) for key in _run_in_store(settings_from(config, sets), lambda store: _all_keys(store, owner))]
    print(json.dumps(rows, indent=2)) if as_json else _print_keys(rows)


def revoke(key_id: KeyId, config: Config = None, sets: Set = None) -> None:
    """Revoke a key. Sessions created with it stay."""
    _run_in_store(settings_from(config, sets), lambda store: _revoke(store, key_id))
    print(f"revoked {key_id}")


async def _all_keys(store: Store, owner: str | None) -> list[ApiKey]:
    from sandbox_runtime.store import KeyFilter

    keys: list[ApiKey] = []
    while True:
        page = await store.keys.list(KeyFilter(owner=owner), _PAGE_SIZE, len(keys))
        keys += page.items
        if not page.items or len(keys) >= page.total:
            return keys


async def _revoke(store: Store, key_id: str) -> None:
    key = await store.keys.get(key_id)
    if key.revoked_ms is None:
        await store.keys.update(key, by=ACTOR, audit=_audit_entry("revoke", key), revoked_ms=timestamps.now_ms())


def _run_in_store(settings: Settings, work: Callable[[Store], Awaitable[T]]) -> T:
    from sandbox_runtime.assembly import build_store_options
    from sandbox_runtime.store import open_store

    async def run() -> T:
        async with open_store(settings.store_url, build_store_options(settings)) as store:
            return await work(store)

    return asyncio.run(run())


def _audit_entry(action: str, key: ApiKey) -> AuditEntry:
    return AuditEntry(at_ms=timestamps.now_ms(), actor=ACTOR, action=action, kind="key", subject=key.id, owner=key.owner)


def _row(key: ApiKey) -> dict[str, Any]:
    return {
        "id": key.id,
        "owner": key.owner,
        "name": key.name,
        "scopes": list(key.scopes),
        "state": "revoked" if key.revoked_ms is not None else "open" if key.is_valid(timestamps.now_ms()) else "expired",
        "created_at": _iso_time(key.created_ms),
        "expires_at": _iso_time(key.expires_ms),
        "last_used_at": _iso_time(key.last_used_ms),
    }


def _print_keys(rows: list[dict[str, Any]]) -> None:
    names = ("id", "owner", "name", "scopes", "state", "created_at", "expires_at", "last_used_at")
    cells = [[" ".join(row[name]) if name == "scopes" else str(row[name] or "") for name in names] for row in rows]
    print_table([name.removesuffix("_at") for name in names], cells, no_wrap="id")


def _iso_time(moment_ms: int | None) -> str | None:
    return None if moment_ms is None else datetime.fromtimestamp(moment_ms / 1000, UTC).isoformat(timespec="seconds")
