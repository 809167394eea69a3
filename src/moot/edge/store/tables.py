"""The current tables; `migrations` has their history."""

from sqlalchemy import Boolean, Float, ForeignKey, Index, Integer, MetaData, Table, Uuid, event, text
from sqlalchemy import Column as C

from moot.edge.store.columns import JSON, ExactJSON, MaybeJSON, Moment, Plain, String, TextColumn
from moot.edge.store.full_text import create_index

HEAD = "0008"
"""The newest migration. A store at this version needs no Alembic."""


metadata = MetaData()
Id = Uuid(as_uuid=False)


def session_key() -> "C[str]":
    return C("session_id", Id, ForeignKey("debate_sessions.id", ondelete="CASCADE"), nullable=False)


sessions = Table(
    "debate_sessions",
    metadata,
    C("id", Id, primary_key=True),
    C("debate_id", String(64), nullable=False),
    C("protocol", String(32), nullable=False),
    C("topic", TextColumn, nullable=False),
    C("status", String(16), nullable=False),
    C("topology_type", String(32)),
    C("coordination_protocol", String(32)),
    C("config", JSON, nullable=False),
    C("initiated_by", String(128)),
    C("owner", String(256), nullable=False, default=""),
    C("created_at", Moment, nullable=False),
    C("updated_at", Moment, nullable=False),
    C("completed_at", Moment),
    C("total_rounds", Integer, nullable=False, default=0),
    C("final_consensus_score", Float),
    C("outcome", JSON),
    C("parent", Id),
    C("priority", Integer, nullable=False, server_default="0"),
    C("idempotency_key", String(200)),
    C("format", Integer, nullable=False, server_default="1"),
    C("waiting_on", Id),
    C("wish", String(16), nullable=False, server_default=""),
    C("fence", Integer, nullable=False, server_default="0"),
    C("entries", Integer, nullable=False, server_default="0"),
    C("chain", Plain(64), nullable=False, server_default=""),
    Index("ix_debate_sessions_created_at", "created_at"),
    Index("ix_debate_sessions_status", "status"),
    Index("ix_debate_sessions_idempotency", "initiated_by", "idempotency_key", unique=True),
)

STANDING = text("kind = 'step' AND dropped_by IS NULL")
journal = Table(
    "journal",
    metadata,
    C("session_id", Id, ForeignKey("debate_sessions.id", ondelete="CASCADE"), primary_key=True),
    C("entry", Integer, primary_key=True, autoincrement=False),
    C("kind", Plain(16), nullable=False),
    C("seq", Integer, nullable=False),
    C("part", Integer, nullable=False),
    C("name", String(128), nullable=False),
    C("digest", Plain(32), nullable=False),
    C("value", ExactJSON),
    C("elapsed", Float, nullable=False),
    C("fence", Integer, nullable=False),
    C("seal", Plain(64), nullable=False),
    C("chain", Plain(64), nullable=False),
    C("created_at", Moment, nullable=False),
    C("dropped_by", Integer),  # the entry that dropped it; derived, so not part of the chain
    Index(
        "ix_journal_standing", "session_id", "seq", "part", unique=True,
        sqlite_where=STANDING, postgresql_where=STANDING,
    ),
)  # fmt: skip

TOLD = text("reflections IS NOT NULL")
turns = Table(
    "debate_turns",
    metadata,
    C("id", Id, primary_key=True),
    session_key(),
    C("seq", Integer, nullable=False),
    C("round", Integer, nullable=False),
    C("phase", String(32), nullable=False),
    C("agent_id", String(256), nullable=False),
    C("agent_role", String(64), nullable=False),
    C("provider", String(64), nullable=False),
    C("model", String(256), nullable=False),
    C("content", TextColumn, nullable=False),
    C("confidence", Float),
    C("tool_calls", MaybeJSON),
    C("test_results", MaybeJSON),
    C("reflections", JSON),
    C("metadata", JSON),
    C("created_at", Moment, nullable=False),
    C("response_time_ms", Integer, nullable=False),
    Index("ix_debate_turns_session_seq", "session_id", "seq", unique=True),
    Index("ix_debate_turns_told", "created_at", sqlite_where=TOLD, postgresql_where=TOLD),
)

versions = Table(
    "code_versions",
    metadata,
    C("id", Id, primary_key=True),
    session_key(),
    C("turn_id", Id, ForeignKey("debate_turns.id", ondelete="SET NULL")),
    C("seq", Integer, nullable=False),
    C("language", String(32), nullable=False),
    C("code", TextColumn, nullable=False),
    C("version_number", Integer, nullable=False),
    C("quality_score", Float),
    C("test_pass_rate", Float),
    C("metrics", JSON),
    C("diff_from_previous", TextColumn, nullable=False),
    C("created_at", Moment, nullable=False),
    Index("ix_code_versions_session_number", "session_id", "version_number", unique=True),
)

logs = Table(
    "debate_logs",
    metadata,
    C("id", Integer, primary_key=True),
    C("debate_id", String(64), nullable=False),
    C("session_id", Id, nullable=False),
    C("seq", Integer, nullable=False),
    C("part", Integer, nullable=False),
    C("participant_identifier", String(256), nullable=False),
    C("role", String(64), nullable=False),
    C("provider", String(64), nullable=False),
    C("model", String(256), nullable=False),
    C("round", Integer, nullable=False),
    C("action", String(32), nullable=False),
    C("response_time_ms", Integer, nullable=False),
    C("quality_score", Float),
    C("tokens_used", Integer, nullable=False),
    C("content_length", Integer, nullable=False),
    C("error_message", TextColumn, nullable=False),
    C("metadata", JSON),
    C("created_at", Moment, nullable=False),
    C("expires_at", Moment),
    Index("ix_debate_logs_session", "session_id"),
    Index("ix_debate_logs_expires_at", "expires_at"),
)

lessons = Table(
    "lessons",
    metadata,
    C("id", String(12), primary_key=True),
    C("text", TextColumn, nullable=False),
    C("words", TextColumn, nullable=False, server_default=""),  # for the full text index
    C("lesson", JSON, nullable=False),
    C("created_at", Moment, nullable=False),
    C("expires_at", Moment),
    Index("ix_lessons_created_at", "created_at"),
)
event.listen(lessons, "after_create", lambda table, db, **_: create_index(db))

agent_records = Table(
    "agent_records",
    metadata,
    C("session_id", Id, primary_key=True),  # the record outlives the session
    C("agent_id", String(64), primary_key=True),
    C("act", Plain(16), primary_key=True, server_default="answer"),
    C("role", String(64), nullable=False),
    C("model", String(256), nullable=False),
    C("domain", String(32), nullable=False),
    C("band", Integer),
    C("was_right", Boolean, nullable=False),
    C("confidence", Float),
    C("created_at", Moment, nullable=False),
)

gates = Table(
    "gates",
    metadata,
    C("id", Id, primary_key=True),
    session_key(),
    C("seq", Integer, nullable=False),
    C("kind", String(16), nullable=False),
    C("point", String(64), nullable=False),
    C("summary", TextColumn, nullable=False),
    C("artefacts", JSON, nullable=False),
    C("questions", JSON, nullable=False),
    C("created_at", Moment, nullable=False),
    C("deadline", Moment, nullable=False),
    C("decision", MaybeJSON),
    C("decided_at", Moment),
    Index("ix_gates_session_seq", "session_id", "seq"),
)

notices = Table(
    "notices",  # pending webhook notices
    metadata,
    C("id", Integer, primary_key=True),
    session_key(),
    C("gate_id", Id, nullable=False),
    C("url", TextColumn, nullable=False),
    C("payload", JSON, nullable=False),
    C("attempts", Integer, nullable=False),
    C("next_at", Moment),  # NULL: delivered, or given up
    C("delivered_at", Moment),
    C("problem", TextColumn, nullable=False),
    Index("ix_notices_next_at", "next_at"),
)

tokens = Table(
    "tokens",
    metadata,
    C("id", Id, primary_key=True),
    C("name", String(128), nullable=False, unique=True),
    C("digest", String(64), nullable=False, unique=True),
    C("scopes", JSON, nullable=False),
    C("created_at", Moment, nullable=False),
    C("expires_at", Moment),
    C("revoked_at", Moment),
    C("owner", String(128)),  # NULL: its own name
)

tombstones = Table(
    "tombstones",  # deleted sessions, in their own chain
    metadata,
    C("number", Integer, primary_key=True, autoincrement=False),
    C("session_id", Id, nullable=False),
    C("entries", Integer, nullable=False),
    C("head", String(64), nullable=False),
    C("deleted_by", String(128), nullable=False),
    C("deleted_at", Moment, nullable=False),
    C("chain", String(64), nullable=False),
)

workers = Table(
    "workers",
    metadata,
    C("id", Id, primary_key=True),
    C("name", String(128), nullable=False),
    C("host", String(255), nullable=False),
    C("pid", Integer, nullable=False),
    C("version", String(32), nullable=False),
    C("format", Integer, nullable=False),
    C("concurrency", Integer, nullable=False),
    C("started_at", Moment, nullable=False),
    C("seen_at", Moment, nullable=False),
    C("left_at", Moment),  # it ended in order; what it still held is free
    C("draining", Boolean, nullable=False),
    C("holding", JSON, nullable=False),
    C("refused", JSON, nullable=False),  # sessions of an unknown format
)

model_leases = Table(
    "model_leases",
    metadata,
    C("id", Id, primary_key=True),
    C("model", String(256), nullable=False),
    C("holder", Id, nullable=False),  # the worker
    C("taken_at", Moment, nullable=False),
    C("expires_at", Moment, nullable=False),
    C("released_at", Moment),
    Index("ix_model_leases_model", "model", "taken_at"),
)
