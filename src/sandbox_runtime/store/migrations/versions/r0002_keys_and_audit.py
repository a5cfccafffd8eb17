"""API keys, the audit, and which nodes an agent was on."""

from __future__ import annotations

import sqlalchemy as sa

from sandbox_runtime.store.migrations.steps import COUNTER, LONG_TEXT, audit_columns, make_index, make_table

revision = "r0002"
down_revision = "r0001"


def upgrade() -> None:
    _keys()
    _audit()
    _agent_nodes()


def _keys() -> None:
    make_table(
        "t_sandbox_api_key",
        sa.Column("f_id", sa.String(64), primary_key=True),
        sa.Column("f_owner", sa.String(128), nullable=False),
        sa.Column("f_name", sa.String(128), nullable=False, server_default=""),
        sa.Column("f_digest", sa.String(64), nullable=False),
        sa.Column("f_scopes", LONG_TEXT),
        sa.Column("f_expires_at", sa.BigInteger()),
        sa.Column("f_last_used_at", sa.BigInteger()),
        sa.Column("f_revoked_at", sa.BigInteger()),
        *audit_columns(),
        sa.UniqueConstraint("f_digest", name="uk_api_key_digest"),
    )
    make_index("idx_api_key_created_at", "t_sandbox_api_key", "f_created_at")
    make_index("idx_api_key_owner", "t_sandbox_api_key", "f_owner", "f_created_at")


def _audit() -> None:
    make_table(
        "t_sandbox_audit",
        sa.Column("f_id", COUNTER, primary_key=True, autoincrement=True),
        sa.Column("f_at", sa.BigInteger(), nullable=False),
        sa.Column("f_actor", sa.String(128), nullable=False, server_default=""),
        sa.Column("f_action", sa.String(64), nullable=False),
        sa.Column("f_kind", sa.String(32), nullable=False),
        sa.Column("f_subject_id", sa.String(255), nullable=False, server_default=""),
        sa.Column("f_owner", sa.String(128), nullable=False, server_default=""),
        sa.Column("f_request_id", sa.String(128), nullable=False, server_default=""),
        sa.Column("f_details", LONG_TEXT),
    )
    make_index("idx_audit_at", "t_sandbox_audit", "f_at")
    make_index("idx_audit_owner", "t_sandbox_audit", "f_owner", "f_at")
    make_index("idx_audit_subject", "t_sandbox_audit", "f_kind", "f_subject_id", "f_at")


def _agent_nodes() -> None:
    make_table(
        "t_sandbox_agent_node",
        sa.Column("f_agent_id", sa.String(128), primary_key=True),
        sa.Column(
            "f_node_id",
            sa.String(128),
            sa.ForeignKey("t_sandbox_runtime_node.f_node_id", name="fk_agent_node", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("f_used_at", sa.BigInteger(), nullable=False),
    )
