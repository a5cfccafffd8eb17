"""Tables of what sandboxes leave in figures. As tables.py, with the same habits."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Double, ForeignKey, Index, Integer, String, Table

from sandbox_runtime.model import MetricKind, Period
from sandbox_runtime.store import columns
from sandbox_runtime.store.tables import METADATA, OPTIONS

FILES = Table(
    "t_sandbox_file",
    METADATA,
    Column("f_id", columns.AUTO_INCREMENT, primary_key=True, autoincrement=True),
    Column(
        "f_session_id",
        String(255),
        ForeignKey("t_sandbox_session.f_id", name="fk_file_session", ondelete="CASCADE"),
        nullable=False,
    ),
    # A path is longer than what an index takes: its digest stands for it there.
    Column("f_path_digest", String(64), nullable=False),
    Column("f_path", columns.AnyText, nullable=False),
    Column("f_checksum", String(128), nullable=False, server_default=""),
    Column("f_size_bytes", BigInteger, nullable=False, server_default="0"),
    Column("f_mime_type", String(128), nullable=False, server_default=""),
    Column("f_etag", String(128), nullable=False, server_default=""),
    Column("f_version", Integer, nullable=False, server_default="1"),
    Column("f_parent_id", BigInteger, nullable=False, server_default="0"),
    Column("f_access_count", BigInteger, nullable=False, server_default="0"),
    Column("f_last_accessed_at", BigInteger),
    Column("f_created_at", BigInteger, nullable=False),
    Column("f_updated_at", BigInteger, nullable=False),
    Column("f_deleted_at", BigInteger, nullable=False, server_default="0"),
    Index("idx_file_path", "f_session_id", "f_path_digest", "f_version"),
    **OPTIONS,
)

METRICS = Table(
    "t_sandbox_metric",
    METADATA,
    Column("f_id", columns.AUTO_INCREMENT, primary_key=True, autoincrement=True),
    Column(
        "f_session_id",
        String(255),
        ForeignKey("t_sandbox_session.f_id", name="fk_metric_session", ondelete="CASCADE"),
        nullable=False,
    ),
    Column("f_metric_name", String(64), nullable=False),
    Column("f_metric_type", columns.Choice(MetricKind), nullable=False),
    Column("f_labels", columns.JsonMap),
    Column("f_value", Double, nullable=False),
    Column("f_count", BigInteger, nullable=False, server_default="1"),
    Column("f_least", Double, nullable=False, server_default="0"),
    Column("f_most", Double, nullable=False, server_default="0"),
    Column("f_timestamp", BigInteger, nullable=False),
    Column("f_aggregation_period", columns.Choice(Period, 4), nullable=False),
    Index("idx_metric_session", "f_session_id", "f_timestamp"),
    Index("idx_metric_period", "f_aggregation_period", "f_timestamp"),
    **OPTIONS,
)

CACHE = Table(
    "t_sandbox_command_cache",
    METADATA,
    Column("f_key", String(64), primary_key=True),
    Column("f_session_id", String(255), nullable=False, server_default=""),
    Column("f_command", columns.AnyText, nullable=False),
    Column("f_working_dir", String(1024), nullable=False, server_default=""),
    Column("f_exit_code", Integer, nullable=False, server_default="0"),
    Column("f_content", columns.AnyText, nullable=False),
    Column("f_compressed", columns.Flag, nullable=False, server_default="0"),
    Column("f_size_bytes", BigInteger, nullable=False, server_default="0"),
    Column("f_execution_ms", Double, nullable=False, server_default="0"),
    Column("f_file_digest", String(64), nullable=False, server_default=""),
    Column("f_created_at", BigInteger, nullable=False),
    Column("f_expires_at", BigInteger, nullable=False),
    Column("f_hit_count", BigInteger, nullable=False, server_default="0"),
    Column("f_last_used_at", BigInteger, nullable=False, server_default="0"),
    Index("idx_command_cache_expires", "f_expires_at"),
    Index("idx_command_cache_used", "f_last_used_at"),
    **OPTIONS,
)

CACHE_STATISTICS = Table(
    "t_sandbox_cache_statistics",
    METADATA,
    Column("f_id", Integer, primary_key=True, autoincrement=False),
    Column("f_total_hits", BigInteger, nullable=False, server_default="0"),
    Column("f_total_misses", BigInteger, nullable=False, server_default="0"),
    Column("f_updated_at", BigInteger, nullable=False, server_default="0"),
    **OPTIONS,
)
