"""Memory of a session: lessons, episodes and results of earlier sessions, episodes of its own."""

from collections.abc import Mapping, Sequence

from moot.core.errors import UsageError
from moot.core.experience import Episode, Lesson, Origin, Played, TrackRecord
from moot.core.ports import EpisodeRow
from moot.core.types import Value
from moot.evidence.lessons.lesson import new_lesson
from moot.runtime.journal import Steps, digest
from moot.runtime.ports import SessionPorts


class RecalledLessons(Value):
    lessons: tuple[Lesson, ...] = ()


class RecalledEpisodes(Value):
    """Of each agent, in the order in which they were asked for."""

    episodes: tuple[tuple[Episode, ...], ...] = ()


class RecalledRecords(Value):
    records: tuple[TrackRecord, ...] = ()


class Experience:
    def __init__(self, ports: SessionPorts, steps: Steps, turns: Mapping[str, tuple[int, str]]) -> None:
        self._ports = ports
        self._steps = steps
        self._turns = turns
        """Each seat's last turn: its step and its model."""

    async def recall(self, task: str, limit: int) -> tuple[Lesson, ...]:
        memory, now = self._ports.memory, self._ports.clock.now

        async def look() -> RecalledLessons:
            return RecalledLessons(lessons=tuple(await memory.recall(task, now(), limit)) if memory else ())

        return (
            await self._steps.run("recall", self._steps.journal.digest_request(task, str(limit)), RecalledLessons, look)
        ).lessons

    async def remember(self, seat: str, episode: Episode) -> Episode:
        last, agent = self._turns[seat]
        turn, session = episode.turn or last, self._steps.journal.session_id
        where = {"id": digest(session, str(turn)), "session": session, "turn": turn, "agent": agent}

        async def keep() -> Episode:
            return episode.model_copy(update={**where, "time": self._ports.clock.now()})

        asked = self._steps.journal.digest_request(seat, episode.model_dump_json())
        return await self._steps.run("remember", asked, Episode, keep, lambda kept, seq: EpisodeRow(episode=kept))

    async def learn(self, text: str, origin: Origin) -> Lesson | None:
        memory, now, hide = self._ports.memory, self._ports.clock.now(), self._ports.vault.hide
        here = {"session_id": self._steps.journal.session_id, "when": origin.when or now, "source": hide(origin.source)}

        async def keep() -> RecalledLessons:
            lesson = new_lesson(hide(text), origin.model_copy(update=here), now)
            return RecalledLessons(lessons=(await memory.learn(lesson),) if memory else ())

        asked = self._steps.journal.digest_request(text, origin.source)
        learnt = await self._steps.run("learn", asked, RecalledLessons, keep)
        return learnt.lessons[0] if learnt.lessons else None

    async def credit(self, lesson: Lesson, *, helped: bool) -> None:
        memory, session = self._ports.memory, self._steps.journal.session_id

        async def judge() -> RecalledLessons:
            if memory is None:
                return RecalledLessons()
            try:
                judged = await memory.credit(lesson.id, helped=helped, now=self._ports.clock.now(), by=session)
            except UsageError:  # the lesson was deleted meanwhile
                return RecalledLessons()
            return RecalledLessons(lessons=(judged,))

        await self._steps.run(
            "credit", self._steps.journal.digest_request(lesson.id, str(helped)), RecalledLessons, judge
        )

    async def read_episodes(self, agents: Sequence[Played], limit: int) -> tuple[tuple[Episode, ...], ...]:
        memory, session = self._ports.memory, self._steps.journal.session_id

        async def look() -> RecalledEpisodes:
            if memory is None:
                return RecalledEpisodes(episodes=tuple(() for _ in agents))
            found = [await memory.read_episodes(agent, limit, besides=session) for agent in agents]
            return RecalledEpisodes(episodes=tuple(map(tuple, found)))

        asked = self._steps.journal.digest_request(str(limit), *(agent.model_dump_json() for agent in agents))
        return (await self._steps.run("episodes", asked, RecalledEpisodes, look)).episodes

    async def read_records(self, agents: Sequence[Played]) -> tuple[TrackRecord, ...]:
        memory = self._ports.memory

        async def look() -> RecalledRecords:
            return RecalledRecords(records=tuple(await memory.count_results(agents)) if memory else ())

        asked = self._steps.journal.digest_request(*(agent.model_dump_json() for agent in agents))
        return (await self._steps.run("records", asked, RecalledRecords, look)).records
