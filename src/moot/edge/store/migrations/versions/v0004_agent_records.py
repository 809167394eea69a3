"""Agents' results, one row for each agent and session."""

import sqlalchemy as sa
from alembic import op

from moot.edge.store.migrations.columns import words

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "agent_records",
        sa.Column("session_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("agent_id", words(64), nullable=False),
        sa.Column("role", words(64), nullable=False),
        sa.Column("model", words(256), nullable=False),
        sa.Column("domain", words(32), nullable=False),
        sa.Column("band", sa.Integer(), nullable=True),
        sa.Column("was_right", sa.Boolean(), nullable=False),
        sa.Column("confidence", sa.Float(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("session_id", "agent_id"),
    )
