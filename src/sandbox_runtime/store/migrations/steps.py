"""Steps that revisions are made of. Each looks first whether it was done before."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.mysql import MEDIUMTEXT

LONG_TEXT = sa.Text().with_variant(MEDIUMTEXT(), "mysql", "mariadb")
COUNTER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_SERVERS = ("mysql", "mariadb")


def make_table(name: str, *parts: Any) -> None:
    if not sa.inspect(op.get_bind()).has_table(name):
        options: dict[str, Any] = {f"{server}_{key}": value for server in _SERVERS for key, value in _SERVER_OPTIONS.items()}
        op.create_table(name, *parts, **options)


def add_column(table: str, column: sa.Column[Any]) -> None:
    if not any(there["name"] == column.name for there in sa.inspect(op.get_bind()).get_columns(table)):
        op.add_column(table, column)


def drop_table(name: str) -> None:
    if sa.inspect(op.get_bind()).has_table(name):
        op.drop_table(name)


def drop_column(table: str, name: str) -> None:
    if any(there["name"] == name for there in sa.inspect(op.get_bind()).get_columns(table)):
        op.drop_column(table, name)


def make_index(name: str, table: str, *columns: str) -> None:
    if not any(index["name"] == name for index in sa.inspect(op.get_bind()).get_indexes(table)):
        op.create_index(name, table, columns)


def audit_columns() -> list[sa.Column[Any]]:
    return [
        sa.Column("f_version", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("f_created_at", sa.BigInteger(), nullable=False),
        sa.Column("f_created_by", sa.String(128), nullable=False, server_default=""),
        sa.Column("f_updated_at", sa.BigInteger(), nullable=False),
        sa.Column("f_updated_by", sa.String(128), nullable=False, server_default=""),
        sa.Column("f_deleted_at", sa.BigInteger(), nullable=False, server_default="0"),
        sa.Column("f_deleted_by", sa.String(128), nullable=False, server_default=""),
    ]


_SERVER_OPTIONS = {"engine": "InnoDB", "charset": "utf8mb4", "collate": "utf8mb4_bin"}
