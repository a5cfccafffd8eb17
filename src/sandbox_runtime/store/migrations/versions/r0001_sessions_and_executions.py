"""Templates, nodes, sessions, executions, containers and artifacts."""

from __future__ import annotations

import sqlalchemy as sa

from sandbox_runtime.store.migrations.steps import LONG_TEXT, audit_columns, make_index, make_table

revision = "r0001"
down_revision = None


def upgrade() -> None:
    _templates()
    _nodes()
    _sessions()
    _executions()
    _containers()
    _artifacts()


def _templates() -> None:
    make_table(
        "t_sandbox_template",
        sa.Column("f_id", sa.String(64), primary_key=True),
        sa.Column("f_name", sa.String(255), nullable=False),
        sa.Column("f_description", LONG_TEXT),
        sa.Column("f_image_url", sa.String(512), nullable=False, server_default=""),
        sa.Column("f_base_image", sa.String(256), nullable=False, server_default=""),
        sa.Column("f_runtime_type", sa.String(30), nullable=False),
        sa.Column("f_default_cpu_cores", sa.Double(), nullable=False),
        sa.Column("f_default_memory_mb", sa.BigInteger(), nullable=False),
        sa.Column("f_default_disk_mb", sa.BigInteger(), nullable=False),
        sa.Column("f_default_max_processes", sa.Integer(), nullable=False),
        sa.Column("f_default_timeout_sec", sa.Double(), nullable=False),
        sa.Column("f_pre_installed_packages", LONG_TEXT),
        sa.Column("f_default_env_vars", LONG_TEXT),
        sa.Column("f_security_context", LONG_TEXT),
        sa.Column("f_ephemeral_pool_size", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("f_persistent_pool_size", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("f_pool_min_size", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("f_pool_max_idle_sec", sa.Double(), nullable=False, server_default="0"),
        sa.Column("f_is_active", sa.Integer(), nullable=False),
        *audit_columns(),
        sa.UniqueConstraint("f_name", "f_deleted_at", name="uk_template_name"),
    )
    make_index("idx_template_created_at", "t_sandbox_template", "f_created_at")
    make_index("idx_template_is_active", "t_sandbox_template", "f_is_active")
    make_index("idx_template_runtime_type", "t_sandbox_template", "f_runtime_type")


def _nodes() -> None:
    make_table(
        "t_sandbox_runtime_node",
        sa.Column("f_node_id", sa.String(128), primary_key=True),
        sa.Column("f_hostname", sa.String(128), nullable=False),
        sa.Column("f_runtime_type", sa.String(20), nullable=False, server_default=""),
        sa.Column("f_ip_address", sa.String(45), nullable=False, server_default=""),
        sa.Column("f_api_endpoint", sa.String(512), nullable=False, server_default=""),
        sa.Column("f_status", sa.String(20), nullable=False),
        sa.Column("f_total_cpu_cores", sa.Double(), nullable=False, server_default="0"),
        sa.Column("f_total_memory_mb", sa.BigInteger(), nullable=False, server_default="0"),
        sa.Column("f_allocated_cpu_cores", sa.Double(), nullable=False, server_default="0"),
        sa.Column("f_allocated_memory_mb", sa.BigInteger(), nullable=False, server_default="0"),
        sa.Column("f_running_containers", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("f_max_containers", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("f_cpu_usage", sa.Double(), nullable=False, server_default="0"),
        sa.Column("f_mem_usage", sa.Double(), nullable=False, server_default="0"),
        sa.Column("f_cached_images", LONG_TEXT),
        sa.Column("f_labels", LONG_TEXT),
        sa.Column("f_failure_count", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("f_last_heartbeat_at", sa.BigInteger()),
        *audit_columns(),
        sa.UniqueConstraint("f_hostname", name="uk_node_hostname"),
    )
    make_index("idx_node_created_at", "t_sandbox_runtime_node", "f_created_at")
    make_index("idx_node_status", "t_sandbox_runtime_node", "f_status", "f_last_heartbeat_at")


def _sessions() -> None:
    make_table(
        "t_sandbox_session",
        sa.Column("f_id", sa.String(255), primary_key=True),
        sa.Column("f_owner", sa.String(128), nullable=False, server_default=""),
        sa.Column("f_agent_id", sa.String(128), nullable=False, server_default=""),
        sa.Column(
            "f_template_id",
            sa.String(64),
            sa.ForeignKey("t_sandbox_template.f_id", name="fk_session_template", ondelete="CASCADE"),
        ),
        sa.Column("f_status", sa.String(20), nullable=False),
        sa.Column("f_mode", sa.String(20), nullable=False),
        sa.Column("f_language_runtime", sa.String(30), nullable=False, server_default=""),
        sa.Column("f_runtime_type", sa.String(20), nullable=False, server_default=""),
        sa.Column(
            "f_runtime_node",
            sa.String(128),
            sa.ForeignKey("t_sandbox_runtime_node.f_node_id", name="fk_session_node", ondelete="SET NULL"),
        ),
        sa.Column("f_container_id", sa.String(128), nullable=False, server_default=""),
        sa.Column("f_pod_name", sa.String(128), nullable=False, server_default=""),
        sa.Column("f_executor_url", sa.String(512), nullable=False, server_default=""),
        sa.Column("f_workspace_path", sa.String(1024), nullable=False, server_default=""),
        sa.Column("f_resources_cpu", sa.String(24), nullable=False),
        sa.Column("f_resources_memory", sa.String(24), nullable=False),
        sa.Column("f_resources_disk", sa.String(24), nullable=False),
        sa.Column("f_resources_max_processes", sa.Integer(), nullable=False),
        sa.Column("f_env_vars", LONG_TEXT),
        sa.Column("f_timeout", sa.Double(), nullable=False),
        sa.Column("f_idle_timeout", sa.Double()),
        sa.Column("f_lifetime", sa.Double()),
        sa.Column("f_last_activity_at", sa.BigInteger()),
        sa.Column("f_started_at", sa.BigInteger()),
        sa.Column("f_completed_at", sa.BigInteger()),
        sa.Column("f_expires_at", sa.BigInteger()),
        sa.Column("f_python_package_index_url", sa.String(512), nullable=False, server_default=""),
        sa.Column("f_requested_dependencies", LONG_TEXT),
        sa.Column("f_installed_dependencies", LONG_TEXT),
        sa.Column("f_dependency_install_status", sa.String(20), nullable=False),
        sa.Column("f_dependency_install_error", LONG_TEXT),
        sa.Column("f_dependency_install_started_at", sa.BigInteger()),
        sa.Column("f_dependency_install_completed_at", sa.BigInteger()),
        sa.Column("f_error_message", LONG_TEXT),
        *audit_columns(),
    )
    make_index("idx_session_agent", "t_sandbox_session", "f_agent_id", "f_status")
    make_index("idx_session_created_at", "t_sandbox_session", "f_created_at")
    make_index("idx_session_dependency_status", "t_sandbox_session", "f_dependency_install_status")
    make_index("idx_session_expires", "t_sandbox_session", "f_status", "f_expires_at")
    make_index("idx_session_last_activity", "t_sandbox_session", "f_status", "f_last_activity_at")
    make_index("idx_session_node", "t_sandbox_session", "f_runtime_node", "f_status")
    make_index("idx_session_owner", "t_sandbox_session", "f_owner", "f_created_at")
    make_index("idx_session_status", "t_sandbox_session", "f_status", "f_created_at")
    make_index("idx_session_template", "t_sandbox_session", "f_template_id", "f_created_at")


def _executions() -> None:
    make_table(
        "t_sandbox_execution",
        sa.Column("f_id", sa.String(64), primary_key=True),
        sa.Column(
            "f_session_id",
            sa.String(255),
            sa.ForeignKey("t_sandbox_session.f_id", name="fk_execution_session", ondelete="CASCADE"),
            nullable=False,
        ),
        sa.Column("f_kind", sa.String(20), nullable=False),
        sa.Column("f_status", sa.String(20), nullable=False),
        sa.Column("f_code", LONG_TEXT),
        sa.Column("f_language", sa.String(32), nullable=False, server_default=""),
        sa.Column("f_entrypoint", sa.String(255), nullable=False, server_default=""),
        sa.Column("f_event_data", LONG_TEXT),
        sa.Column("f_stdin", LONG_TEXT),
        sa.Column("f_env_vars", LONG_TEXT),
        sa.Column("f_timeout_sec", sa.Double(), nullable=False),
        sa.Column("f_context_id", sa.String(64), nullable=False, server_default=""),
        sa.Column("f_idempotency_key", sa.String(255)),
        sa.Column("f_return_value", LONG_TEXT),
        sa.Column("f_stdout", LONG_TEXT),
        sa.Column("f_stdout_dropped_bytes", sa.BigInteger(), nullable=False, server_default="0"),
        sa.Column("f_stderr", LONG_TEXT),
        sa.Column("f_stderr_dropped_bytes", sa.BigInteger(), nullable=False, server_default="0"),
        sa.Column("f_displays", LONG_TEXT),
        sa.Column("f_text_bytes", sa.BigInteger(), nullable=False, server_default="0"),
        sa.Column("f_exit_code", sa.Integer()),
        sa.Column("f_signal", sa.Integer()),
        sa.Column("f_ending", sa.String(20)),
        sa.Column("f_metrics", LONG_TEXT),
        sa.Column("f_error_message", LONG_TEXT),
        sa.Column("f_retry_count", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("f_last_heartbeat_at", sa.BigInteger()),
        sa.Column("f_started_at", sa.BigInteger()),
        sa.Column("f_completed_at", sa.BigInteger()),
        *audit_columns(),
        sa.UniqueConstraint("f_session_id", "f_idempotency_key", name="uk_execution_idempotency"),
    )
    make_index("idx_execution_created_at", "t_sandbox_execution", "f_created_at")
    make_index("idx_execution_heartbeat", "t_sandbox_execution", "f_status", "f_last_heartbeat_at")
    make_index("idx_execution_session", "t_sandbox_execution", "f_session_id", "f_created_at")
    make_index("idx_execution_status", "t_sandbox_execution", "f_status", "f_created_at")


def _containers() -> None:
    make_table(
        "t_sandbox_container",
        sa.Column("f_id", sa.String(128), primary_key=True),
        sa.Column(
            "f_session_id",
            sa.String(255),
            sa.ForeignKey("t_sandbox_session.f_id", name="fk_container_session", ondelete="CASCADE"),
        ),
        sa.Column("f_template_id", sa.String(64), nullable=False, server_default=""),
        sa.Column("f_runtime_type", sa.String(20), nullable=False, server_default=""),
        sa.Column(
            "f_node_id",
            sa.String(128),
            sa.ForeignKey("t_sandbox_runtime_node.f_node_id", name="fk_container_node", ondelete="SET NULL"),
        ),
        sa.Column("f_container_name", sa.String(128), nullable=False, server_default=""),
        sa.Column("f_image_url", sa.String(512), nullable=False, server_default=""),
        sa.Column("f_status", sa.String(20), nullable=False),
        sa.Column("f_ip_address", sa.String(45), nullable=False, server_default=""),
        sa.Column("f_executor_port", sa.Integer()),
        sa.Column("f_cpu_cores", sa.Double(), nullable=False, server_default="0"),
        sa.Column("f_memory_mb", sa.BigInteger(), nullable=False, server_default="0"),
        sa.Column("f_disk_mb", sa.BigInteger(), nullable=False, server_default="0"),
        sa.Column("f_exit_code", sa.Integer()),
        sa.Column("f_exit_reason", sa.String(128), nullable=False, server_default=""),
        sa.Column("f_started_at", sa.BigInteger()),
        sa.Column("f_exited_at", sa.BigInteger()),
        *audit_columns(),
    )
    make_index("idx_container_created_at", "t_sandbox_container", "f_created_at")
    make_index("idx_container_node", "t_sandbox_container", "f_node_id")
    make_index("idx_container_session", "t_sandbox_container", "f_session_id")
    make_index("idx_container_status", "t_sandbox_container", "f_status", "f_created_at")
    make_index("idx_container_template", "t_sandbox_container", "f_template_id", "f_status")


def _artifacts() -> None:
    make_table(
        "t_sandbox_artifact",
        sa.Column("f_id", sa.String(64), primary_key=True),
        sa.Column(
            "f_execution_id",
            sa.String(64),
            sa.ForeignKey("t_sandbox_execution.f_id", name="fk_artifact_execution", ondelete="CASCADE"),
            nullable=False,
        ),
        sa.Column("f_artifact_type", sa.String(20), nullable=False),
        sa.Column("f_name", LONG_TEXT, nullable=False),
        sa.Column("f_s3_path", LONG_TEXT),
        sa.Column("f_size_bytes", sa.BigInteger(), nullable=False, server_default="0"),
        sa.Column("f_content_type", sa.String(128), nullable=False, server_default=""),
        sa.Column("f_checksum", sa.String(128), nullable=False, server_default=""),
        sa.Column("f_created_at", sa.BigInteger(), nullable=False),
    )
    make_index("idx_artifact_created_at", "t_sandbox_artifact", "f_created_at")
    make_index("idx_artifact_execution", "t_sandbox_artifact", "f_execution_id", "f_created_at")
