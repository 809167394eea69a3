"""Episodes of all sessions: what failed, why, and what to do about it."""

from sqlalchemy import select

from moot.core.experience import Episode, Played
from moot.edge.store import tables
from moot.edge.store.session_queries import belongs_to
from moot.edge.store.sql import SqlStore
from moot.evidence.trials.episodes import find_episodes


class EpisodeStore:
    """Stored with their turns; the oldest are forgotten first."""

    def __init__(self, store: SqlStore, owner: str | None = None) -> None:
        """`owner`: whose sessions `read_last` may read; None: all."""
        self._store = store
        self._owner = owner

    async def read_last(self, agent: Played, limit: int, besides: str = "") -> list[Episode]:
        """The last episodes of this model in this role, newest first, without those of the session `besides`."""
        turns = tables.turns
        provider, _, model = agent.model.partition(":")
        query = select(turns.c.reflections).where(turns.c.reflections.is_not(None), turns.c.agent_role == agent.role)
        query = query.where(turns.c.provider == provider, turns.c.model == model)
        if besides:
            query = query.where(turns.c.session_id != besides)
        if self._owner is not None:
            theirs = select(tables.sessions.c.id).where(belongs_to(self._owner))
            query = query.where(turns.c.session_id.in_(theirs))
        newest = query.order_by(turns.c.created_at.desc(), turns.c.seq.desc()).limit(limit)
        rows = await self._store.read(lambda db: list(db.execute(newest).scalars()))
        return [Episode.model_validate(entry) for row in rows for entry in row]

    async def episodes(self, agent: str = "", session: str = "", task: str = "", limit: int = 20) -> list[Episode]:
        """Newest first; with a `task`, most similar tasks first."""
        turns = tables.turns
        query = select(turns.c.reflections).where(turns.c.reflections.is_not(None))
        newest = query.order_by(turns.c.created_at.desc(), turns.c.seq.desc())
        rows = await self._store.read(lambda db: list(db.execute(newest).scalars()))
        all_told = [Episode.model_validate(entry) for row in rows for entry in row]
        return find_episodes(all_told, agent, session, task)[:limit]
