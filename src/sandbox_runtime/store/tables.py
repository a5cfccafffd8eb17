"""The tables, as the newest migration leaves them. Names are those of the platform whose operators know them (t_sandbox_…, f_…).

Times are milliseconds since the epoch. Every table of things that change ends with who made, changed and deleted a row;
f_deleted_at is 0 while it lives, so that a unique key over (name, f_deleted_at) frees the name of what was deleted.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import BigInteger, Column, Double, ForeignKey, Index, Integer, MetaData, String, Table, UniqueConstraint

from sandbox_runtime.model import (
    ArtifactKind,
    BatchState,
    BoxState,
    Ending,
    ExecutionKind,
    ExecutionState,
    InstallState,
    NodeState,
    SessionMode,
    SessionState,
)
from sandbox_runtime.store import columns

METADATA = MetaData()
# Ids are told apart by case; a server's default collation would not.
OPTIONS: dict[str, Any] = {
    "mysql_engine": "InnoDB",
    "mysql_charset": "utf8mb4",
    "mysql_collate": "utf8mb4_bin",
    "mariadb_engine": "InnoDB",
    "mariadb_charset": "utf8mb4",
    "mariadb_collate": "utf8mb4_bin",
}


def _audit_columns() -> list[Column[Any]]:
    return [
        Column("f_version", Integer, nullable=False, server_default="0"),
        Column("f_created_at", BigInteger, nullable=False),
        Column("f_created_by", String(128), nullable=False, server_default=""),
        Column("f_updated_at", BigInteger, nullable=False),
        Column("f_updated_by", String(128), nullable=False, server_default=""),
        Column("f_deleted_at", BigInteger, nullable=False, server_default="0"),
        Column("f_deleted_by", String(128), nullable=False, server_default=""),
    ]


def _text(name: str, length: int) -> Column[Any]:
    return Column(name, String(length), nullable=False, server_default="")


def _number(name: str, kind: Any = BigInteger) -> Column[Any]:
    return Column(name, kind, nullable=False, server_default="0")


def _time(name: str) -> Column[Any]:
    return Column(name, BigInteger)


def _foreign_key(column: str, name: str, ondelete: str) -> ForeignKey:
    return ForeignKey(column, name=name, ondelete=ondelete)


def _long_text(name: str) -> Column[Any]:
    return Column(name, columns.AnyText)


TEMPLATES = Table(
    "t_sandbox_template",
    METADATA,
    Column("f_id", String(64), primary_key=True),
    Column("f_name", String(255), nullable=False),
    _long_text("f_description"),
    _text("f_image_url", 512),
    _text("f_base_image", 256),
    Column("f_runtime_type", String(30), nullable=False),
    Column("f_default_cpu_cores", Double, nullable=False),
    Column("f_default_memory_mb", columns.Megabytes, nullable=False),
    Column("f_default_disk_mb", columns.Megabytes, nullable=False),
    Column("f_default_max_processes", Integer, nullable=False),
    Column("f_default_timeout_sec", Double, nullable=False),
    Column("f_pre_installed_packages", columns.JsonStrings),
    Column("f_default_env_vars", columns.JsonMap),
    _long_text("f_security_context"),
    _number("f_ephemeral_pool_size", Integer),
    _number("f_persistent_pool_size", Integer),
    _number("f_pool_min_size", Integer),
    _number("f_pool_max_idle_sec", Double),
    Column("f_is_active", columns.Flag, nullable=False),
    *_audit_columns(),
    UniqueConstraint("f_name", "f_deleted_at", name="uk_template_name"),
    Index("idx_template_runtime_type", "f_runtime_type"),
    Index("idx_template_is_active", "f_is_active"),
    Index("idx_template_created_at", "f_created_at"),
    **OPTIONS,
)

NODES = Table(
    "t_sandbox_runtime_node",
    METADATA,
    Column("f_node_id", String(128), primary_key=True),
    Column("f_hostname", String(128), nullable=False),
    _text("f_runtime_type", 20),
    _text("f_ip_address", 45),
    _text("f_api_endpoint", 512),
    Column("f_status", columns.Choice(NodeState), nullable=False),
    _number("f_total_cpu_cores", Double),
    _number("f_total_memory_mb"),
    _number("f_allocated_cpu_cores", Double),
    _number("f_allocated_memory_mb"),
    _number("f_running_containers", Integer),
    _number("f_max_containers", Integer),
    _number("f_cpu_usage", Double),
    _number("f_mem_usage", Double),
    Column("f_cached_images", columns.JsonStrings),
    Column("f_labels", columns.JsonMap),
    _number("f_failure_count", Integer),
    _time("f_last_heartbeat_at"),
    *_audit_columns(),
    UniqueConstraint("f_hostname", name="uk_node_hostname"),
    Index("idx_node_status", "f_status", "f_last_heartbeat_at"),
    Index("idx_node_created_at", "f_created_at"),
    **OPTIONS,
)

SESSIONS = Table(
    "t_sandbox_session",
    METADATA,
    Column("f_id", String(255), primary_key=True),
    _text("f_owner", 128),
    _text("f_agent_id", 128),
    Column("f_template_id", columns.Reference(64), _foreign_key("t_sandbox_template.f_id", "fk_session_template", "CASCADE")),
    Column("f_status", columns.Choice(SessionState), nullable=False),
    Column("f_mode", columns.Choice(SessionMode), nullable=False),
    _text("f_language_runtime", 30),
    _text("f_runtime_type", 20),
    Column(
        "f_runtime_node",
        columns.Reference(128),
        _foreign_key("t_sandbox_runtime_node.f_node_id", "fk_session_node", "SET NULL"),
    ),
    _text("f_container_id", 128),
    _text("f_pod_name", 128),
    _text("f_executor_url", 512),
    _text("f_workspace_path", 1024),
    _text("f_network", 8),
    Column("f_resources_cpu", columns.Cores(24), nullable=False),
    Column("f_resources_memory", columns.Quantity(24), nullable=False),
    Column("f_resources_disk", columns.Quantity(24), nullable=False),
    Column("f_resources_max_processes", Integer, nullable=False),
    Column("f_env_vars", columns.JsonMap),
    Column("f_timeout", Double, nullable=False),
    Column("f_idle_timeout", Double),
    Column("f_lifetime", Double),
    _time("f_last_activity_at"),
    _time("f_started_at"),
    _time("f_completed_at"),
    _time("f_expires_at"),
    _text("f_python_package_index_url", 512),
    Column("f_requested_dependencies", columns.JsonDependencies),
    Column("f_installed_dependencies", columns.JsonInstalledDependencies),
    Column("f_dependency_install_status", columns.Choice(InstallState), nullable=False),
    _long_text("f_dependency_install_error"),
    _time("f_dependency_install_started_at"),
    _time("f_dependency_install_completed_at"),
    _long_text("f_about"),
    Column("f_cpu_usage_seconds", Double),
    Column("f_memory_usage_bytes", BigInteger),
    Column("f_disk_usage_bytes", BigInteger),
    Column("f_network_rx_bytes", BigInteger),
    Column("f_network_tx_bytes", BigInteger),
    _time("f_last_resource_update"),
    _long_text("f_error_message"),
    *_audit_columns(),
    Index("idx_session_status", "f_status", "f_created_at"),
    Index("idx_session_template", "f_template_id", "f_created_at"),
    Index("idx_session_owner", "f_owner", "f_created_at"),
    Index("idx_session_agent", "f_agent_id", "f_status"),
    Index("idx_session_node", "f_runtime_node", "f_status"),
    Index("idx_session_last_activity", "f_status", "f_last_activity_at"),
    Index("idx_session_expires", "f_status", "f_expires_at"),
    Index("idx_session_dependency_status", "f_dependency_install_status"),
    Index("idx_session_created_at", "f_created_at"),
    **OPTIONS,
)

EXECUTIONS = Table(
    "t_sandbox_execution",
    METADATA,
    Column("f_id", String(64), primary_key=True),
    Column(
        "f_session_id",
        String(255),
        _foreign_key("t_sandbox_session.f_id", "fk_execution_session", "CASCADE"),
        nullable=False,
    ),
    Column("f_kind", columns.Choice(ExecutionKind), nullable=False),
    Column("f_status", columns.Choice(ExecutionState), nullable=False),
    _long_text("f_code"),
    _text("f_language", 32),
    _text("f_entrypoint", 255),
    _long_text("f_event_data"),
    _long_text("f_stdin"),
    Column("f_env_vars", columns.JsonMap),
    Column("f_timeout_sec", Double, nullable=False),
    _text("f_context_id", 64),
    Column("f_idempotency_key", columns.Reference(255)),
    _long_text("f_return_value"),
    _long_text("f_stdout"),
    _number("f_stdout_dropped_bytes"),
    _long_text("f_stderr"),
    _number("f_stderr_dropped_bytes"),
    _long_text("f_displays"),
    _number("f_text_bytes"),
    Column("f_exit_code", Integer),
    Column("f_signal", Integer),
    Column("f_ending", columns.Choice(Ending)),
    Column("f_metrics", columns.JsonMetering),
    _long_text("f_error_message"),
    _number("f_retry_count", Integer),
    _time("f_last_heartbeat_at"),
    _time("f_started_at"),
    _time("f_completed_at"),
    *_audit_columns(),
    UniqueConstraint("f_session_id", "f_idempotency_key", name="uk_execution_idempotency"),
    Index("idx_execution_session", "f_session_id", "f_created_at"),
    Index("idx_execution_status", "f_status", "f_created_at"),
    Index("idx_execution_heartbeat", "f_status", "f_last_heartbeat_at"),
    Index("idx_execution_created_at", "f_created_at"),
    **OPTIONS,
)

BOXES = Table(
    "t_sandbox_container",
    METADATA,
    Column("f_id", String(128), primary_key=True),
    Column("f_session_id", columns.Reference(255), _foreign_key("t_sandbox_session.f_id", "fk_container_session", "CASCADE")),
    _text("f_template_id", 64),
    _text("f_runtime_type", 20),
    Column(
        "f_node_id",
        columns.Reference(128),
        _foreign_key("t_sandbox_runtime_node.f_node_id", "fk_container_node", "SET NULL"),
    ),
    _text("f_container_name", 128),
    _text("f_image_url", 512),
    Column("f_status", columns.Choice(BoxState), nullable=False),
    _text("f_ip_address", 45),
    Column("f_executor_port", Integer),
    _number("f_cpu_cores", Double),
    _number("f_memory_mb"),
    _number("f_disk_mb"),
    Column("f_exit_code", Integer),
    _text("f_exit_reason", 128),
    _time("f_started_at"),
    _time("f_exited_at"),
    *_audit_columns(),
    Index("idx_container_session", "f_session_id"),
    Index("idx_container_status", "f_status", "f_created_at"),
    Index("idx_container_node", "f_node_id"),
    Index("idx_container_template", "f_template_id", "f_status"),
    Index("idx_container_created_at", "f_created_at"),
    **OPTIONS,
)

ARTIFACTS = Table(
    "t_sandbox_artifact",
    METADATA,
    Column("f_id", String(64), primary_key=True),
    Column(
        "f_execution_id",
        String(64),
        _foreign_key("t_sandbox_execution.f_id", "fk_artifact_execution", "CASCADE"),
        nullable=False,
    ),
    Column("f_artifact_type", columns.Choice(ArtifactKind), nullable=False),
    Column("f_name", columns.AnyText, nullable=False),
    _long_text("f_s3_path"),
    _number("f_size_bytes"),
    _text("f_content_type", 128),
    _text("f_checksum", 128),
    Column("f_created_at", BigInteger, nullable=False),
    Index("idx_artifact_execution", "f_execution_id", "f_created_at"),
    Index("idx_artifact_created_at", "f_created_at"),
    **OPTIONS,
)

KEYS = Table(
    "t_sandbox_api_key",
    METADATA,
    Column("f_id", String(64), primary_key=True),
    Column("f_owner", String(128), nullable=False),
    _text("f_name", 128),
    Column("f_digest", String(64), nullable=False),
    Column("f_scopes", columns.JsonStrings),
    _time("f_expires_at"),
    _time("f_last_used_at"),
    _time("f_revoked_at"),
    *_audit_columns(),
    UniqueConstraint("f_digest", name="uk_api_key_digest"),
    Index("idx_api_key_owner", "f_owner", "f_created_at"),
    Index("idx_api_key_created_at", "f_created_at"),
    **OPTIONS,
)

BATCHES = Table(
    "t_sandbox_judge_batch",
    METADATA,
    Column("f_id", String(64), primary_key=True),
    _text("f_owner", 128),
    Column("f_dataset", String(128), nullable=False),
    Column("f_status", columns.Choice(BatchState), nullable=False),
    _long_text("f_config"),
    Column("f_idempotency_key", columns.Reference(128)),
    _number("f_total"),
    _number("f_judged"),
    _number("f_accepted"),
    _number("f_not_judged"),
    Column("f_reasons", columns.JsonMap),
    _number("f_input_bytes"),
    _long_text("f_message"),
    _time("f_started_at"),
    _time("f_ended_at"),
    *_audit_columns(),
    UniqueConstraint("f_owner", "f_idempotency_key", name="uk_judge_batch_idempotency"),
    Index("idx_judge_batch_status", "f_status", "f_created_at"),
    Index("idx_judge_batch_owner", "f_owner", "f_created_at"),
    Index("idx_judge_batch_created_at", "f_created_at"),
    **OPTIONS,
)

AUDIT = Table(
    "t_sandbox_audit",
    METADATA,
    Column("f_id", columns.AUTO_INCREMENT, primary_key=True, autoincrement=True),
    Column("f_at", BigInteger, nullable=False),
    _text("f_actor", 128),
    Column("f_action", String(64), nullable=False),
    Column("f_kind", String(32), nullable=False),
    _text("f_subject_id", 255),
    _text("f_owner", 128),
    _text("f_request_id", 128),
    _long_text("f_details"),
    Index("idx_audit_at", "f_at"),
    Index("idx_audit_subject", "f_kind", "f_subject_id", "f_at"),
    Index("idx_audit_owner", "f_owner", "f_at"),
    **OPTIONS,
)

AGENT_NODES = Table(
    "t_sandbox_agent_node",
    METADATA,
    Column("f_agent_id", String(128), primary_key=True),
    Column(
        "f_node_id",
        String(128),
        _foreign_key("t_sandbox_runtime_node.f_node_id", "fk_agent_node", "CASCADE"),
        primary_key=True,
    ),
    Column("f_used_at", BigInteger, nullable=False),
    **OPTIONS,
)
