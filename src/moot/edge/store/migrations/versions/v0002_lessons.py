"""Lessons and their word index."""

import sqlalchemy as sa
from alembic import op

from moot.edge.store.migrations.columns import Json, words

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "lessons",
        sa.Column("id", words(12), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("lesson", Json, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_lessons_created_at", "lessons", ["created_at"], unique=False)
    op.create_table(
        "lesson_words",
        sa.Column("word", words(64), nullable=False),
        sa.Column("lesson_id", words(12), nullable=False),
        sa.ForeignKeyConstraint(["lesson_id"], ["lessons.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("word", "lesson_id"),
    )
    op.create_index("ix_lesson_words_lesson", "lesson_words", ["lesson_id"], unique=False)
    op.create_table(
        "lesson_terms",
        sa.Column("word", words(64), nullable=False),
        sa.Column("lessons", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("word"),
    )
