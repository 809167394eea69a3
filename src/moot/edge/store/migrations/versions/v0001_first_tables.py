"""The first tables: sessions, turns, versions, logs and the journal."""

import sqlalchemy as sa
from alembic import op

from moot.edge.store.migrations.columns import Json, words

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "debate_logs",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("debate_id", words(64), nullable=False),
        sa.Column("session_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("part", sa.Integer(), nullable=False),
        sa.Column("participant_identifier", words(256), nullable=False),
        sa.Column("role", words(64), nullable=False),
        sa.Column("provider", words(64), nullable=False),
        sa.Column("model", words(256), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("action", words(32), nullable=False),
        sa.Column("response_time_ms", sa.Integer(), nullable=False),
        sa.Column("quality_score", sa.Float(), nullable=True),
        sa.Column("tokens_used", sa.Integer(), nullable=False),
        sa.Column("content_length", sa.Integer(), nullable=False),
        sa.Column("error_message", sa.Text(), nullable=False),
        sa.Column("metadata", Json, nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_debate_logs_expires_at", "debate_logs", ["expires_at"], unique=False)
    op.create_index("ix_debate_logs_session", "debate_logs", ["session_id"], unique=False)

    op.create_table(
        "debate_sessions",
        sa.Column("id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("debate_id", words(64), nullable=False),
        sa.Column("protocol", words(32), nullable=False),
        sa.Column("topic", sa.Text(), nullable=False),
        sa.Column("status", words(16), nullable=False),
        sa.Column("topology_type", words(32), nullable=True),
        sa.Column("coordination_protocol", words(32), nullable=True),
        sa.Column("config", Json, nullable=False),
        sa.Column("initiated_by", words(128), nullable=True),
        sa.Column("owner", words(256), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("completed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("total_rounds", sa.Integer(), nullable=False),
        sa.Column("final_consensus_score", sa.Float(), nullable=True),
        sa.Column("outcome", Json, nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_debate_sessions_created_at", "debate_sessions", ["created_at"], unique=False)

    op.create_table(
        "debate_turns",
        sa.Column("id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("session_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("phase", words(32), nullable=False),
        sa.Column("agent_id", words(256), nullable=False),
        sa.Column("agent_role", words(64), nullable=False),
        sa.Column("provider", words(64), nullable=False),
        sa.Column("model", words(256), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("confidence", sa.Float(), nullable=True),
        sa.Column("tool_calls", Json, nullable=True),
        sa.Column("test_results", Json, nullable=True),
        sa.Column("reflections", Json, nullable=True),
        sa.Column("metadata", Json, nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("response_time_ms", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["session_id"], ["debate_sessions.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_debate_turns_session_seq", "debate_turns", ["session_id", "seq"], unique=True)

    op.create_table(
        "journal_steps",
        sa.Column("session_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("seq", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("part", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("name", words(128), nullable=False),
        sa.Column("digest", words(32), nullable=False),
        sa.Column("value", sa.JSON(), nullable=True),
        sa.Column("elapsed", sa.Float(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["session_id"], ["debate_sessions.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("session_id", "seq", "part"),
    )
    op.create_table(
        "code_versions",
        sa.Column("id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("session_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("turn_id", sa.Uuid(as_uuid=False), nullable=True),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("language", words(32), nullable=False),
        sa.Column("code", sa.Text(), nullable=False),
        sa.Column("version_number", sa.Integer(), nullable=False),
        sa.Column("quality_score", sa.Float(), nullable=True),
        sa.Column("test_pass_rate", sa.Float(), nullable=True),
        sa.Column("metrics", Json, nullable=True),
        sa.Column("diff_from_previous", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["session_id"], ["debate_sessions.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["turn_id"], ["debate_turns.id"], ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_code_versions_session_number", "code_versions", ["session_id", "version_number"], unique=True)
