"""Index of turns with an episode."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    told = sa.text("reflections IS NOT NULL")
    op.create_index("ix_debate_turns_told", "debate_turns", ["created_at"], sqlite_where=told, postgresql_where=told)
