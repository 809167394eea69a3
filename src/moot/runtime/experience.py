"""Memory of a session: lessons of earlier sessions, episodes of its own."""

from collections.abc import Mapping

from moot.core.errors import UsageError
from moot.core.experience import Episode, Lesson, Origin
from moot.core.ports import EpisodeRow
from moot.core.types import Value
from moot.evidence.lessons import new_lesson
from moot.runtime.journal import Steps, digest
from moot.runtime.ports import SessionPorts


class RecalledLessons(Value):
    lessons: tuple[Lesson, ...] = ()


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
        turn, agent = self._turns[seat]
        session = self._steps.journal.session_id
        where = {"id": digest(session, str(turn)), "session": session, "turn": turn, "agent": agent}

        async def keep() -> Episode:
            return episode.model_copy(update={**where, "time": self._ports.clock.now()})

        asked = self._steps.journal.digest_request(seat, episode.model_dump_json())
        return await self._steps.run("remember", asked, Episode, keep, lambda kept, seq: EpisodeRow(episode=kept))

    async def learn(self, text: str, episode: Episode) -> Lesson | None:
        memory = self._ports.memory
        # The time of the episode, not of learning: after a crash in between, the same lesson is learnt again.
        origin = Origin(session_id=episode.session, agent=episode.agent, task=episode.task[:200], when=episode.time)

        async def keep() -> RecalledLessons:
            lesson = new_lesson(self._ports.vault.hide(text), origin, self._ports.clock.now())
            return RecalledLessons(lessons=(await memory.learn(lesson),) if memory else ())

        learnt = await self._steps.run(
            "learn", self._steps.journal.digest_request(text, episode.id), RecalledLessons, keep
        )
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
