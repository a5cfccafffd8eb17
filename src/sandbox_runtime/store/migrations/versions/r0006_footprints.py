"""Files that were sent in, samples of metrics, what sessions used, and results of commands that are kept."""

from __future__ import annotations

import sqlalchemy as sa

from sandbox_runtime.store.migrations.steps import COUNTER, LONG_TEXT, add_column, drop_column, drop_table, make_index, make_table

revision = "r0006"
down_revision = "r0005"
_SESSIONS = "t_sandbox_session"
_USAGE = ("f_memory_usage_bytes", "f_disk_usage_bytes", "f_network_rx_bytes", "f_network_tx_bytes", "f_last_resource_update")


def upgrade() -> None:
    add_column(_SESSIONS, sa.Column("f_cpu_usage_seconds", sa.Double()))
    for name in _USAGE:
        add_column(_SESSIONS, sa.Column(name, sa.BigInteger()))
    _files()
    _metrics()
    _cache()


def downgrade() -> None:
    for table in ("t_sandbox_cache_statistics", "t_sandbox_command_cache", "t_sandbox_metric", "t_sandbox_file"):
        drop_table(table)
    for name in ("f_cpu_usage_seconds", *_USAGE):
        drop_column(_SESSIONS, name)


def _of_session(name: str) -> sa.Column[str]:
    reference = sa.ForeignKey("t_sandbox_session.f_id", name=name, ondelete="CASCADE")
    return sa.Column("f_session_id", sa.String(255), reference, nullable=False)


def _number(name: str, default: str = "0", kind: type[sa.types.TypeEngine[int]] = sa.BigInteger) -> sa.Column[int]:
    return sa.Column(name, kind(), nullable=False, server_default=default)


def _files() -> None:
    make_table(
        "t_sandbox_file",
        sa.Column("f_id", COUNTER, primary_key=True, autoincrement=True),
        _of_session("fk_file_session"),
        sa.Column("f_path_digest", sa.String(64), nullable=False),
        sa.Column("f_path", LONG_TEXT, nullable=False),
        sa.Column("f_checksum", sa.String(128), nullable=False, server_default=""),
        _number("f_size_bytes"),
        sa.Column("f_mime_type", sa.String(128), nullable=False, server_default=""),
        sa.Column("f_etag", sa.String(128), nullable=False, server_default=""),
        _number("f_version", "1", sa.Integer),
        _number("f_parent_id"),
        _number("f_access_count"),
        sa.Column("f_last_accessed_at", sa.BigInteger()),
        sa.Column("f_created_at", sa.BigInteger(), nullable=False),
        sa.Column("f_updated_at", sa.BigInteger(), nullable=False),
        _number("f_deleted_at"),
    )
    make_index("idx_file_path", "t_sandbox_file", "f_session_id", "f_path_digest", "f_version")


def _metrics() -> None:
    make_table(
        "t_sandbox_metric",
        sa.Column("f_id", COUNTER, primary_key=True, autoincrement=True),
        _of_session("fk_metric_session"),
        sa.Column("f_metric_name", sa.String(64), nullable=False),
        sa.Column("f_metric_type", sa.String(20), nullable=False),
        sa.Column("f_labels", LONG_TEXT),
        sa.Column("f_value", sa.Double(), nullable=False),
        _number("f_count", "1"),
        sa.Column("f_least", sa.Double(), nullable=False, server_default="0"),
        sa.Column("f_most", sa.Double(), nullable=False, server_default="0"),
        sa.Column("f_timestamp", sa.BigInteger(), nullable=False),
        sa.Column("f_aggregation_period", sa.String(4), nullable=False),
    )
    make_index("idx_metric_session", "t_sandbox_metric", "f_session_id", "f_timestamp")
    make_index("idx_metric_period", "t_sandbox_metric", "f_aggregation_period", "f_timestamp")


def _cache() -> None:
    make_table(
        "t_sandbox_command_cache",
        sa.Column("f_key", sa.String(64), primary_key=True),
        sa.Column("f_session_id", sa.String(255), nullable=False, server_default=""),
        sa.Column("f_command", LONG_TEXT, nullable=False),
        sa.Column("f_working_dir", sa.String(1024), nullable=False, server_default=""),
        _number("f_exit_code", "0", sa.Integer),
        sa.Column("f_content", LONG_TEXT, nullable=False),
        _number("f_compressed", "0", sa.Integer),
        _number("f_size_bytes"),
        sa.Column("f_execution_ms", sa.Double(), nullable=False, server_default="0"),
        sa.Column("f_file_digest", sa.String(64), nullable=False, server_default=""),
        sa.Column("f_created_at", sa.BigInteger(), nullable=False),
        sa.Column("f_expires_at", sa.BigInteger(), nullable=False),
        _number("f_hit_count"),
        _number("f_last_used_at"),
    )
    make_index("idx_command_cache_expires", "t_sandbox_command_cache", "f_expires_at")
    make_index("idx_command_cache_used", "t_sandbox_command_cache", "f_last_used_at")
    make_table(
        "t_sandbox_cache_statistics",
        sa.Column("f_id", sa.Integer(), primary_key=True, autoincrement=False),
        _number("f_total_hits"),
        _number("f_total_misses"),
        _number("f_updated_at"),
    )
