"""Full text search of lessons by the database in place of a word index of our own; results of ballots."""

import sqlalchemy as sa
from alembic import op

from moot.core.experience import Lesson
from moot.edge.store.columns import from_json
from moot.edge.store.full_text import create_index
from moot.edge.store.lessons import words_of
from moot.edge.store.migrations.columns import words

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.drop_table("lesson_words")
    op.drop_table("lesson_terms")
    op.add_column("lessons", sa.Column("words", sa.Text(), nullable=False, server_default=""))
    create_index(op.get_bind())
    index_lessons(op.get_bind())
    key_by_act()


def index_lessons(db: sa.Connection) -> None:
    """Every lesson again, so that the triggers of SQLite see it."""
    for lesson_id, held in db.execute(sa.text("SELECT id, lesson FROM lessons")).all():
        lesson = Lesson.model_validate(from_json(held) if isinstance(held, str) else held)
        told = {"id": lesson_id, "words": " ".join(sorted(words_of(lesson)))}
        if db.dialect.name == "sqlite":
            db.execute(sa.text("INSERT INTO lesson_index (lesson_id, words) VALUES (:id, '')"), told)
        db.execute(sa.text("UPDATE lessons SET words = :words WHERE id = :id"), told)


def key_by_act() -> None:
    """An agent has a result for its answer and one for its ballot. SQLite cannot change a key in place."""
    op.rename_table("agent_records", "agent_records_before")
    op.create_table(
        "agent_records",
        sa.Column("session_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("agent_id", words(64), nullable=False),
        sa.Column("act", words(16), nullable=False, server_default="answer"),
        sa.Column("role", words(64), nullable=False),
        sa.Column("model", words(256), nullable=False),
        sa.Column("domain", words(32), nullable=False),
        sa.Column("band", sa.Integer(), nullable=True),
        sa.Column("was_right", sa.Boolean(), nullable=False),
        sa.Column("confidence", sa.Float(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("session_id", "agent_id", "act"),
    )
    kept = "session_id, agent_id, role, model, domain, band, was_right, confidence, created_at"
    op.execute(f"INSERT INTO agent_records ({kept}) SELECT {kept} FROM agent_records_before")
    op.drop_table("agent_records_before")
