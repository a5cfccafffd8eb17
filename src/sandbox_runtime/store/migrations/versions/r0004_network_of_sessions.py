"""Which network a session was made with."""

from __future__ import annotations

import sqlalchemy as sa

from sandbox_runtime.store.migrations.steps import add_column

revision = "r0004"
down_revision = "r0003"


def upgrade() -> None:
    add_column("t_sandbox_session", sa.Column("f_network", sa.String(8), nullable=False, server_default=""))
