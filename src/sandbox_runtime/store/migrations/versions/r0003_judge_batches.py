"""Batches of completions that the judge works through."""

from __future__ import annotations

import sqlalchemy as sa

from sandbox_runtime.store.migrations.steps import LONG_TEXT, audit_columns, make_index, make_table

revision = "r0003"
down_revision = "r0002"
_COUNTS = ("f_total", "f_judged", "f_accepted", "f_not_judged")


def upgrade() -> None:
    make_table(
        "t_sandbox_judge_batch",
        sa.Column("f_id", sa.String(64), primary_key=True),
        sa.Column("f_owner", sa.String(128), nullable=False, server_default=""),
        sa.Column("f_dataset", sa.String(128), nullable=False),
        sa.Column("f_status", sa.String(20), nullable=False),
        sa.Column("f_config", LONG_TEXT),
        sa.Column("f_idempotency_key", sa.String(128)),
        *(sa.Column(name, sa.BigInteger(), nullable=False, server_default="0") for name in _COUNTS),
        sa.Column("f_reasons", LONG_TEXT),
        sa.Column("f_input_bytes", sa.BigInteger(), nullable=False, server_default="0"),
        sa.Column("f_message", LONG_TEXT),
        sa.Column("f_started_at", sa.BigInteger()),
        sa.Column("f_ended_at", sa.BigInteger()),
        *audit_columns(),
        sa.UniqueConstraint("f_owner", "f_idempotency_key", name="uk_judge_batch_idempotency"),
    )
    make_index("idx_judge_batch_status", "t_sandbox_judge_batch", "f_status", "f_created_at")
    make_index("idx_judge_batch_owner", "t_sandbox_judge_batch", "f_owner", "f_created_at")
    make_index("idx_judge_batch_created_at", "t_sandbox_judge_batch", "f_created_at")
