"""The `Store` port on SQLAlchemy: one thread writes, steps that arrive together at once; another one reads."""

import asyncio
import os
import socket
import threading
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import TypeVar
from uuid import UUID

from sqlalchemy import Connection, Engine, RowMapping, Table, bindparam, delete, insert, null, or_, select, update

from moot.edge.store import tables
from moot.edge.store.engine import address, alone, make_current, open_engine, shown
from moot.edge.store.line import Line
from moot.errors import StoreError, UsageError
from moot.ports import EpisodeRow, LogRow, Row, SessionRecord, StepRow, TurnRow, VersionRow

R = TypeVar("R")
LOG_DAYS = 30
MOST_EPISODES = 10_000
"""Of all sessions together; the oldest are forgotten first."""
Waiting = tuple[str, Sequence[Row], "asyncio.Future[None]"]


class SqlStore:
    def __init__(self, place: str) -> None:
        self._url = address(place)
        self.place = shown(self._url)
        self._writer = Line(self.place, "moot-store", lambda: self._open(reading=False))
        in_memory = self._url.database == ":memory:"  # nobody but its one connection sees such a store
        reader = None if in_memory else Line(self.place, "moot-reader", lambda: self._open(reading=True), reading=True)
        self._reader = reader or self._writer
        self._opening = threading.Lock()
        self._current = False
        self._waiting: list[Waiting] = []
        self._flushing: asyncio.Task[None] | None = None
        self._new = True

    # --- writing

    async def create(self, session: SessionRecord) -> None:
        def begin(db: Connection) -> None:
            if self._new:  # once for each opening of the store is often enough
                db.execute(delete(tables.logs).where(tables.logs.c.expires_at < session.created_at))
                self._new = False
            db.execute(NEW_SESSION, _session_columns(session))

        await self.work(begin)

    async def update(self, session: SessionRecord) -> None:
        values = {**_session_columns(session), "wanted": session.id}
        await self.work(lambda db: db.execute(SESSION_CHANGE, values))

    async def append(self, session_id: str, rows: Sequence[Row]) -> None:
        loop = asyncio.get_running_loop()
        done = loop.create_future()
        self._waiting.append((session_id, rows, done))
        if self._flushing is None:
            self._flushing = loop.create_task(self._flush())
        await done

    async def _flush(self) -> None:
        try:
            while self._waiting:
                batch, self._waiting = self._waiting, []
                failure: Exception | None = None
                try:
                    await self.work(lambda db, batch=batch: _insert(db, batch))  # type: ignore[misc]
                except Exception as error:
                    failure = error
                for _, _, done in batch:
                    if not done.done():
                        done.set_exception(failure) if failure else done.set_result(None)
        finally:
            self._flushing = None

    async def claim(self, session_id: str, owner: str) -> SessionRecord:
        return await self.work(lambda db: _claim(db, session_id, owner))

    async def drop_steps(self, session_id: str, from_seq: int) -> None:
        def drop(db: Connection) -> None:
            for table in (tables.steps, tables.versions, tables.turns):
                db.execute(delete(table).where(table.c.session_id == session_id, table.c.seq >= from_seq))

        await self.work(drop)

    async def delete(self, session_id: str) -> None:
        def remove(db: Connection) -> None:
            found = _find(db, session_id)
            db.execute(delete(tables.logs).where(tables.logs.c.session_id == found.id))
            db.execute(delete(tables.sessions).where(tables.sessions.c.id == found.id))

        await self.work(remove)

    # --- reading

    async def session(self, session_id: str) -> SessionRecord:
        return await self.read(lambda db: _find(db, session_id))

    async def sessions(self, limit: int = 50, text: str = "") -> list[SessionRecord]:
        query = select(tables.sessions).order_by(tables.sessions.c.created_at.desc()).limit(limit)
        if text:
            found = tables.sessions.c.topic.icontains(text, autoescape=True)
            query = query.where(or_(found, tables.sessions.c.status == text))
        return await self.read(lambda db: [_session(row) for row in db.execute(query).mappings()])

    async def steps(self, session_id: str) -> list[StepRow]:
        return await self._rows(tables.steps, session_id, _step)

    async def turns(self, session_id: str) -> list[TurnRow]:
        return await self._rows(tables.turns, session_id, _turn)

    async def versions(self, session_id: str) -> list[VersionRow]:
        return await self._rows(tables.versions, session_id, _version)

    async def logs(self, session_id: str) -> list[LogRow]:
        return await self._rows(tables.logs, session_id, _log)

    async def _rows(self, table: Table, session_id: str, made: Callable[[RowMapping], R]) -> list[R]:
        order = [table.c.seq] + ([table.c.part] if "part" in table.c else [])
        query = select(table).where(table.c.session_id == session_id).order_by(*order)
        return await self.read(lambda db: [made(row) for row in db.execute(query).mappings()])

    # --- the two threads

    async def work(self, work: Callable[[Connection], R]) -> R:
        """Do this in one transaction."""
        return await self._writer.work(work)

    async def read(self, read: Callable[[Connection], R]) -> R:
        """Look at one moment of the store; never waits behind what is being written."""
        return await self._reader.work(read)

    def _open(self, *, reading: bool) -> Engine:
        engine = open_engine(self._url, reading=reading)
        with self._opening:
            if not self._current:
                make_current(self._url)
                self._current = True
        return engine

    async def aclose(self) -> None:
        if self._flushing is not None:
            await self._flushing
        await self._writer.aclose()
        if self._reader is not self._writer:
            await self._reader.aclose()


def _insert(db: Connection, batch: Iterable[Waiting]) -> None:
    now = datetime.now(UTC)
    grouped: dict[type[Row], list[dict[str, object]]] = {}
    for session_id, rows, _ in batch:
        for row in rows:
            columns = COLUMNS[type(row)][1]
            grouped.setdefault(type(row), []).append(columns(session_id, row, now))
    for kind in COLUMNS:  # in this order: a version may refer to a turn
        if kind in grouped:
            db.execute(INSERTS[kind], grouped[kind])
    if EpisodeRow in grouped:
        _forget_episodes(db)


def _forget_episodes(db: Connection) -> None:
    alone(db)  # two at once would each wait for the other's rows
    turns = tables.turns
    told = select(turns.c.id).where(turns.c.reflections.is_not(None))
    oldest = told.order_by(turns.c.created_at.desc(), turns.c.id).offset(MOST_EPISODES).limit(MOST_EPISODES)
    db.execute(update(turns).where(turns.c.id.in_(oldest)).values(reflections=null()))


def _claim(db: Connection, session_id: str, owner: str) -> SessionRecord:
    record = _find(db, session_id, lock=True)
    if record.owner and record.owner != owner and _alive(record.owner):
        raise StoreError(
            f"session {record.id} is being run by another process ({record.owner}); stop that one first, or wait for it"
        )
    db.execute(
        update(tables.sessions)
        .where(tables.sessions.c.id == record.id)
        .values(owner=owner, status="running", updated_at=datetime.now(UTC))
    )
    return record.model_copy(update={"owner": owner})  # with the status it had: why it waits decides how it goes on


def _alive(owner: str) -> bool:
    """Whether the process that ran a session last still does; of another machine nothing is known."""
    host, _, pid = owner.rpartition(":")
    if host != socket.gethostname():
        return True
    try:
        os.kill(int(pid), 0)
    except (ProcessLookupError, ValueError):
        return False
    except PermissionError:
        return True
    return True


def _find(db: Connection, session_id: str, *, lock: bool = False) -> SessionRecord:
    """By id or by an unambiguous beginning of one."""
    wanted = session_id.strip().lower().replace("-", "")
    if not wanted or not all(c in "0123456789abcdef" for c in wanted):
        raise UsageError(f"{session_id!r} is no session id; `moot list` shows them")
    table = tables.sessions
    first, last = (str(UUID(wanted[:32].ljust(32, digit))) for digit in "0f")
    matching = list(db.execute(select(table.c.id).where(table.c.id.between(first, last))).scalars())
    if not matching:
        raise UsageError(f"there is no session {session_id!r}; `moot list` shows those there are")
    if len(matching) > 1:
        raise UsageError(f"{session_id!r} is the beginning of {len(matching)} session ids; give more of it")
    query = select(table).where(table.c.id == matching[0])
    return _session(db.execute(query.with_for_update() if lock else query).mappings().one())


# --- values to columns and back


def _session_columns(session: SessionRecord) -> dict[str, object]:
    return {"debate_id": session.id, **session.model_dump()}


def _session(row: RowMapping) -> SessionRecord:
    return SessionRecord(**{name: row[name] for name in SessionRecord.model_fields})


def _own_id(session_id: str, number: int) -> str:
    """The session's own id with its last eight digits for the number: the same row has the same id in every run."""
    return f"{session_id[:28]}{number:08x}"


def _step_columns(session_id: str, row: StepRow, now: datetime) -> dict[str, object]:
    return {"session_id": session_id, **row.__dict__, "created_at": now}


def _turn_columns(session_id: str, row: TurnRow, now: datetime) -> dict[str, object]:
    return {"id": _own_id(session_id, row.seq), "session_id": session_id, **row.__dict__, "created_at": now}


def _version_columns(session_id: str, row: VersionRow, now: datetime) -> dict[str, object]:
    return {
        "id": _own_id(session_id, row.number),
        "session_id": session_id,
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
    return {"wanted": _own_id(session_id, row.episode.turn), "told": [row.episode.model_dump(mode="json")]}


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
        "tokens_used": row.tokens,
        "content_length": row.content_length,
        "error_message": row.error,
        "created_at": now,
        "expires_at": now + timedelta(days=LOG_DAYS),
    }


COLUMNS: dict[type[Row], tuple[Table, Callable[..., dict[str, object]]]] = {
    StepRow: (tables.steps, _step_columns),
    TurnRow: (tables.turns, _turn_columns),
    VersionRow: (tables.versions, _version_columns),
    EpisodeRow: (tables.turns, _episode_columns),
    LogRow: (tables.logs, _log_columns),
}


EPISODE = (
    update(tables.turns).where(tables.turns.c.id == bindparam("wanted")).values(reflections=bindparam("told"))
)  # an episode joins the turn in which it was told
INSERTS = {kind: EPISODE if kind is EpisodeRow else insert(table) for kind, (table, _) in COLUMNS.items()}
NEW_SESSION = insert(tables.sessions)
SESSION_CHANGE = (
    update(tables.sessions)
    .where(tables.sessions.c.id == bindparam("wanted"))
    .values({name: bindparam(name) for name in ("debate_id", *SessionRecord.model_fields)})
)


def _step(row: RowMapping) -> StepRow:
    return StepRow(**{name: row[name] for name in StepRow.model_fields})


def _turn(row: RowMapping) -> TurnRow:
    return TurnRow(**{name: row[name] for name in TurnRow.model_fields})


def _version(row: RowMapping) -> VersionRow:
    return VersionRow(
        seq=row["seq"],
        number=row["version_number"],
        language=row["language"],
        code=row["code"],
        diff=row["diff_from_previous"],
        metrics=row["metrics"],
        quality=row["quality_score"],
        pass_rate=row["test_pass_rate"],
    )


def _log(row: RowMapping) -> LogRow:
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
    )
