"""What owners want to be remembered with their sessions."""

from __future__ import annotations

import sqlalchemy as sa

from sandbox_runtime.store.migrations.steps import LONG_TEXT, add_column

revision = "r0005"
down_revision = "r0004"


def upgrade() -> None:
    add_column("t_sandbox_session", sa.Column("f_about", LONG_TEXT, nullable=True))
