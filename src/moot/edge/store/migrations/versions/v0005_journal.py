"""The journal becomes an append-only chain; gates, tokens, webhook notices and tombstones."""

import sqlalchemy as sa
from alembic import op

from moot.edge.store.chain_backfill import rechain_journal
from moot.edge.store.migrations.columns import Json, words

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

STANDING = sa.text("kind = 'step' AND dropped_by IS NULL")
ID = sa.Uuid(as_uuid=False)
AT = sa.DateTime(timezone=True)


def upgrade() -> None:
    session_columns()
    journal()
    create_waiting_tables()
    rechain_journal(op.get_bind())
    op.drop_table("journal_steps")


def session_columns() -> None:
    for column in (
        sa.Column("parent", ID, nullable=True),
        sa.Column("priority", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("idempotency_key", words(200), nullable=True),
        sa.Column("format", sa.Integer(), nullable=False, server_default="1"),
        sa.Column("waiting_on", ID, nullable=True),
        sa.Column("wish", words(16), nullable=False, server_default=""),
        sa.Column("fence", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("entries", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("chain", words(64), nullable=False, server_default=""),
    ):
        op.add_column("debate_sessions", column)
    op.create_index("ix_debate_sessions_status", "debate_sessions", ["status"])
    op.create_index(
        "ix_debate_sessions_idempotency", "debate_sessions", ["initiated_by", "idempotency_key"], unique=True
    )


def session_column() -> sa.Column[str]:
    return sa.Column("session_id", ID, sa.ForeignKey("debate_sessions.id", ondelete="CASCADE"), nullable=False)


def journal() -> None:
    op.create_table(
        "journal",
        session_column(),
        sa.Column("entry", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("kind", words(16), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("part", sa.Integer(), nullable=False),
        sa.Column("name", words(128), nullable=False),
        sa.Column("digest", words(32), nullable=False),
        sa.Column("value", sa.JSON(), nullable=True),
        sa.Column("elapsed", sa.Float(), nullable=False),
        sa.Column("fence", sa.Integer(), nullable=False),
        sa.Column("seal", words(64), nullable=False),
        sa.Column("chain", words(64), nullable=False),
        sa.Column("created_at", AT, nullable=False),
        sa.Column("dropped_by", sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint("session_id", "entry"),
    )
    op.create_index(
        "ix_journal_standing", "journal", ["session_id", "seq", "part"], unique=True,
        sqlite_where=STANDING, postgresql_where=STANDING,
    )  # fmt: skip


def create_waiting_tables() -> None:
    op.create_table(
        "gates",
        sa.Column("id", ID, nullable=False),
        session_column(),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("kind", words(16), nullable=False),
        sa.Column("point", words(64), nullable=False),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.Column("artefacts", Json, nullable=False),
        sa.Column("questions", Json, nullable=False),
        sa.Column("created_at", AT, nullable=False),
        sa.Column("deadline", AT, nullable=False),
        sa.Column("decision", Json, nullable=True),
        sa.Column("decided_at", AT, nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_gates_session_seq", "gates", ["session_id", "seq"])
    op.create_table(
        "notices",
        sa.Column("id", sa.Integer(), nullable=False),
        session_column(),
        sa.Column("gate_id", ID, nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("payload", Json, nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("next_at", AT, nullable=True),
        sa.Column("delivered_at", AT, nullable=True),
        sa.Column("problem", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_notices_next_at", "notices", ["next_at"])
    op.create_table(
        "tokens",
        sa.Column("id", ID, nullable=False),
        sa.Column("name", words(128), nullable=False, unique=True),
        sa.Column("digest", words(64), nullable=False, unique=True),
        sa.Column("scopes", Json, nullable=False),
        sa.Column("created_at", AT, nullable=False),
        sa.Column("expires_at", AT, nullable=True),
        sa.Column("revoked_at", AT, nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "tombstones",
        sa.Column("number", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("session_id", ID, nullable=False),
        sa.Column("entries", sa.Integer(), nullable=False),
        sa.Column("head", words(64), nullable=False),
        sa.Column("deleted_by", words(128), nullable=False),
        sa.Column("deleted_at", AT, nullable=False),
        sa.Column("chain", words(64), nullable=False),
        sa.PrimaryKeyConstraint("number"),
    )
