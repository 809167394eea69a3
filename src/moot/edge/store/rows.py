"""Converts values to table columns and back."""

from collections.abc import Callable
from datetime import datetime, timedelta

from sqlalchemy import RowMapping, Table, bindparam, update

from moot.core.ports import EpisodeRow, LogRow, RanTurnRow, Row, SessionRecord, TurnRow, VersionRow
from moot.edge.store import tables

LOG_DAYS = 30


def session_columns(session: SessionRecord) -> dict[str, object]:
    return {"debate_id": session.id, **session.model_dump()}


def session_from(row: RowMapping) -> SessionRecord:
    return SessionRecord(**{name: row[name] for name in SessionRecord.model_fields})


def own_id(session_id: str, number: int) -> str:
    """The session's id with the number as its last eight digits: the same row has the same id in every run."""
    return f"{session_id[:28]}{number:08x}"


def number_of(own: str) -> int:
    """The number in an id that `own_id` made."""
    return int(own[28:], 16)


def _turn_columns(session_id: str, row: TurnRow, now: datetime) -> dict[str, object]:
    return {"id": own_id(session_id, row.seq), "session_id": session_id, **row.__dict__, "created_at": now}


def _version_columns(session_id: str, row: VersionRow, now: datetime) -> dict[str, object]:
    return {
        "id": own_id(session_id, row.number),
        "session_id": session_id,
        "turn_id": None if row.turn is None else own_id(session_id, row.turn),
        "seq": row.seq,
        "language": row.language,
        "code": row.code,
        "version_number": row.number,
        "metrics": row.metrics,
        "quality_score": row.quality,
        "test_pass_rate": row.pass_rate,
        "diff_from_previous": row.diff,
        "created_at": now,
    }


def _episode_columns(session_id: str, row: EpisodeRow, now: datetime) -> dict[str, object]:
    return {"wanted": own_id(session_id, row.episode.turn), "told": [row.episode.model_dump(mode="json")]}


def _ran_columns(session_id: str, row: RanTurnRow, now: datetime) -> dict[str, object]:
    return {
        "wanted": own_id(session_id, row.turn),
        "session": session_id,
        "turn": row.turn,
        "results": row.results,
        "quality": row.quality,
    }


def _log_columns(session_id: str, row: LogRow, now: datetime) -> dict[str, object]:
    return {
        "debate_id": session_id,
        "session_id": session_id,
        "seq": row.seq,
        "part": row.part,
        "participant_identifier": row.agent,
        "role": row.role,
        "provider": row.provider,
        "model": row.model,
        "round": row.round,
        "action": row.action,
        "response_time_ms": row.response_time_ms,
        "quality_score": row.quality,
        "tokens_used": row.tokens,
        "content_length": row.content_length,
        "error_message": row.error,
        "created_at": now,
        "expires_at": now + timedelta(days=LOG_DAYS),
    }


COLUMNS: dict[type[Row], tuple[Table, Callable[..., dict[str, object]]]] = {
    TurnRow: (tables.turns, _turn_columns),
    VersionRow: (tables.versions, _version_columns),
    EpisodeRow: (tables.turns, _episode_columns),
    LogRow: (tables.logs, _log_columns),
    RanTurnRow: (tables.turns, _ran_columns),
}


EPISODE = (
    update(tables.turns).where(tables.turns.c.id == bindparam("wanted")).values(reflections=bindparam("told"))
)  # an episode belongs to its turn
RAN_TURN = (
    update(tables.turns).where(tables.turns.c.id == bindparam("wanted")).values(test_results=bindparam("results"))
)
RAN_LOG = (
    update(tables.logs)
    .where(tables.logs.c.session_id == bindparam("session"), tables.logs.c.seq == bindparam("turn"))
    .where(tables.logs.c.action.in_(("response", "clarification")))
    .where(tables.logs.c.error_message == "", tables.logs.c.quality_score > 0)
    .values(quality_score=bindparam("quality"))
)  # a reply that could not be used stays 0
OTHERS_BUSINESS = {"id", "fence", "entries", "chain", "wish", "created_at", "initiated_by", "idempotency_key"}
CHANGED = [name for name in SessionRecord.model_fields if name not in OTHERS_BUSINESS]


def turn_from(row: RowMapping) -> TurnRow:
    return TurnRow(**{name: row[name] for name in TurnRow.model_fields})


def version_from(row: RowMapping) -> VersionRow:
    return VersionRow(
        seq=row["seq"],
        number=row["version_number"],
        language=row["language"],
        code=row["code"],
        diff=row["diff_from_previous"],
        metrics=row["metrics"],
        quality=row["quality_score"],
        pass_rate=row["test_pass_rate"],
        turn=None if row["turn_id"] is None else number_of(row["turn_id"]),
    )


def log_from(row: RowMapping) -> LogRow:
    return LogRow(
        seq=row["seq"],
        part=row["part"],
        action=row["action"],
        agent=row["participant_identifier"],
        role=row["role"],
        provider=row["provider"],
        model=row["model"],
        round=row["round"],
        response_time_ms=row["response_time_ms"],
        tokens=row["tokens_used"],
        content_length=row["content_length"],
        error=row["error_message"],
        quality=row["quality_score"],
    )
