"""A debate under way: the table as it stands, so that what was done before a cut is never lost, and who may speak."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from moot.errors import Cut
from moot.protocols.debated import PARALLEL, Candidate, Member, Phase
from moot.protocols.phases.table import Said, Table
from moot.room import Ask, Room, T
from moot.topology import Arrangement
from moot.types import Absent


def nothing(member: Member, answer: object) -> None:
    """For those who wait for all answers."""


@dataclass
class Sitting:
    table: Table
    room: Room
    arrangement: Arrangement

    def update(self, **changes: Any) -> None:
        self.table = replace(self.table, **changes)

    def enter(self, candidate: Candidate, phase: Phase, text: str) -> None:
        """A new candidate, and the turn in which it came."""
        said = Said(seat=candidate.seat, phase=phase, round=self.table.round, text=text, candidate=candidate.id)
        self.update(candidates=(*self.table.candidates, candidate), spoken=(*self.table.spoken, said))

    def say(self, member: Member, phase: Phase, text: str) -> None:
        said = Said(seat=member.seat, phase=phase, round=self.table.round, text=text)
        self.update(spoken=(*self.table.spoken, said))

    async def apart(
        self,
        phase: Phase,
        speakers: Sequence[Member],
        make: Callable[[Member], Ask[T]],
        take: Callable[[Member, T], object] = nothing,
    ) -> list[T]:
        """Everybody at once, nobody reading another. `take` gets each answer, also when the session is cut short."""
        asks = [make(member) for member in speakers]
        self.update(calls=self.table.calls + len(asks))
        try:
            answers: Sequence[Any] = await self.room.ask_all(asks, PARALLEL[phase])
        except Cut as cut:
            _taken(speakers, cut.answered, take)
            raise
        return _taken(speakers, answers, take)

    async def in_turn(
        self,
        phase: Phase,
        speakers: Sequence[Member],
        make: Callable[[Member], Ask[T]],
        take: Callable[[Member, T], object] = nothing,
    ) -> list[T]:
        """As the topology has it: group after group, each prompt with the turns its seat may see by then."""
        by_seat = {member.seat: member for member in speakers}
        heard = list[T]()
        for group in self.arrangement.groups(phase, tuple(by_seat)):
            heard += await self.apart(phase, [by_seat[seat] for seat in group], make, take)
        return heard

    def may_read(self, member: Member) -> set[str]:
        """The candidates whose turns this seat may see."""
        spoken = [said for said in self.table.spoken if said.candidate]
        return {said.candidate for said in self.arrangement.visible(member.seat, spoken)}


def _taken(speakers: Sequence[Member], answers: Sequence[Any], take: Callable[[Member, T], object]) -> list[T]:
    heard = [(m, a) for m, a in zip(speakers, answers, strict=False) if a is not None and not isinstance(a, Absent)]
    for member, answer in heard:
        take(member, answer)
    return [answer for _, answer in heard]
