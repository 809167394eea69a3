"""A running debate: its state, kept current so that a stop loses nothing, and who may speak."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import BaseModel

from moot.core.errors import SessionStopped
from moot.core.room import Ask, Room, T
from moot.core.types import Absent, Answer, SuiteRun, Vulnerability
from moot.protocols.debate.acts import RoleAct
from moot.protocols.debate.state import DebateState, SpokenTurn, tool_context, tools_of
from moot.protocols.debate.types import PARALLEL, Attacked, Candidate, Member, Phase, Talk
from moot.teams.topology import Arrangement
from moot.text.excerpts import Fitted, TextPart, fit_parts, fit_text, show
from moot.text.render import fence_text


@dataclass
class CandidateRun:
    suite: SuiteRun | None = None
    answers: dict[str, Answer] = field(default_factory=dict)
    seconds: float = 0.0


def ignore_answer(member: Member, answer: object) -> None:
    """For callers that wait for all answers."""


@dataclass
class DebateContext:
    state: DebateState
    room: Room
    arrangement: Arrangement
    ran: dict[str, CandidateRun] = field(default_factory=dict)
    """Results so far, by code. The same code is not run twice on the same input."""
    turns: dict[str, int] = field(default_factory=dict)
    """The step of the turn that wrote a candidate; none for one that no seat wrote."""
    lost: set[str] = field(default_factory=set)
    """Unreachable seats."""
    examined: dict[str, set[str]] = field(default_factory=dict)
    """The codes that a seat has looked at by its tools."""

    def update(self, **changes: Any) -> None:
        self.state = replace(self.state, **changes)

    def enter(self, candidate: Candidate, phase: Phase, text: str, answer: BaseModel | None = None) -> None:
        """`answer`: the one that holds it."""
        if answer is not None and (turn := self.room.turn_of(answer)) is not None:
            self.turns[candidate.id] = turn
        said = SpokenTurn(seat=candidate.seat, phase=phase, round=self.state.round, text=text, candidate=candidate.id)
        self.update(candidates=(*self.state.candidates, candidate), spoken=(*self.state.spoken, said))

    def say(self, member: Member, phase: Phase, text: str) -> None:
        said = SpokenTurn(seat=member.seat, phase=phase, round=self.state.round, text=text)
        self.update(spoken=(*self.state.spoken, said))

    def note_act(self, member: Member, phase: Talk, effect: str, report: str = "") -> None:
        """What a role did. A report may take an eighth of a prompt's material."""
        text = fit_text(f"the report of {member.seat}", report, self.room.allowance() // 8)
        act = RoleAct(
            seat=member.seat,
            role=member.role,
            phase=phase,
            round=self.state.round,
            effect=effect,
            report=show(text, "the seats", self.room).join() if report else "",
        )
        self.update(acts=(*self.state.acts, act))

    async def ask_independently(
        self,
        phase: Talk,
        speakers: Sequence[Member],
        make: Callable[[Member], Ask[T]],
        take: Callable[[Member, T], object] = ignore_answer,
        *,
        tools: bool = True,
    ) -> list[T]:
        """Ask everybody in parallel, without showing anybody's answer. `take` gets each answer, even if the session is
        stopped."""
        asks = [replace(make(member), role=member.role) for member in speakers]
        if tools:
            asks = [self.equip_ask(member, phase, ask) for member, ask in zip(speakers, asks, strict=True)]
        self.update(calls=self.state.calls + len(asks))
        try:
            answers: Sequence[Any] = await self.room.ask_all(asks, PARALLEL[phase])
        except SessionStopped as cut:
            _take_answers(speakers, cut.answered, take)
            raise
        self._note_missing(speakers, answers)
        denied = sum(isinstance(answer, Absent) and answer.why == "limit" for answer in answers)
        self.update(calls=self.state.calls - denied)
        heard = _take_answers(speakers, answers, take)
        self.update(answered=self.state.answered + len(heard))
        return heard

    def equip_ask(self, member: Member, phase: Talk, ask: Ask[T]) -> Ask[T]:
        """Add the tools of this seat's role, as far as the rules allow."""
        tools = tools_of(member, phase, self.state)
        return replace(ask, tools=tools, context=tool_context(member, phase, self.state)) if tools else ask

    async def in_turn(
        self,
        phase: Talk,
        speakers: Sequence[Member],
        make: Callable[[Member], Ask[T]],
        take: Callable[[Member, T], object] = ignore_answer,
    ) -> list[T]:
        """Group by group, as the topology says; each prompt contains the turns its seat may see by then."""
        by_seat = {member.seat: member for member in speakers}
        heard = list[T]()
        for group in self.arrangement.groups(phase, tuple(by_seat)):
            heard += await self.ask_independently(phase, [by_seat[seat] for seat in group], make, take)
        return heard

    async def ask_with_stand_ins(
        self,
        phase: Phase,
        speakers: Sequence[Member],
        make: Callable[[Member], Ask[T]],
        take: Callable[[Member, T], object] = ignore_answer,
    ) -> list[T]:
        """Like `in_turn`; if none of the speakers can be reached, others stand in, one after another."""
        heard = await self.in_turn(phase, [m for m in speakers if m.seat not in self.lost], make, take)
        tried = {member.seat for member in speakers}
        while not heard and speakers and all(seat in self.lost for seat in tried):
            other = next(
                (m for m in self.state.given.team if m.seat not in tried and self.room.has_model(m.seat)), None
            )
            if other is None:
                break
            tried.add(other.seat)
            if other.seat in self.lost:
                continue
            absent = ", ".join(member.seat for member in speakers)
            self.room.degrade(
                f"{phase}, round {self.state.round}: {absent} cannot be reached; {other.seat} takes it up"
            )
            heard = await self.in_turn(phase, [other], make, take)
        return heard

    def render_heard(self, member: Member) -> str:
        """The turns of this round that reach this seat, besides the candidates: directly, or in a star or tree through
        others, who are named. Limited to a quarter of a prompt's material; the oldest turns are left out."""
        parts = list[TextPart]()
        for said in self.state.spoken:
            if said.candidate or not said.text or said.round != self.state.round or said.seat == member.seat:
                continue
            if (through := self.arrangement.relay(said.seat, member.seat)) is not None:
                passed = f", passed on by {through}" if through else ""
                name = f"the turn of {said.seat} ({said.phase})"
                parts.append(TextPart(name, f"{said.seat} ({said.phase}{passed}):\n{said.text}"))
        if not parts:
            return ""
        newest = fit_parts(parts[::-1], self.room.allowance() // 4)
        in_order = Fitted(newest.parts[::-1], newest.missing[::-1])
        heard = show(in_order, f"{member.seat}, round {self.state.round},", self.room)
        return f"What others said in this round:\n\n{fence_text(heard.join(), 'text')}\n\n"

    def _note_missing(self, speakers: Sequence[Member], answers: Sequence[Any]) -> None:
        """An unreachable seat leaves the topology; its neighbours are connected through others."""
        for member, answer in zip(speakers, answers, strict=False):
            gone = isinstance(answer, Absent) and answer.why in ("unreachable", "timeout")
            if gone:
                self.lost.add(member.seat)
            if gone and len(self.arrangement.seats) > 1:
                self.arrangement = self.arrangement.without(member.seat)


def note_attack(
    context: DebateContext, candidate: Candidate, left: Sequence[Vulnerability], by: str = "harden"
) -> None:
    told = {"candidate": candidate.id, "round": context.state.round, "by": by, "findings": tuple(left)}
    context.update(attacks=(*context.state.attacks, Attacked.model_validate(told)))


def _take_answers(speakers: Sequence[Member], answers: Sequence[Any], take: Callable[[Member, T], object]) -> list[T]:
    heard = [(m, a) for m, a in zip(speakers, answers, strict=False) if a is not None and not isinstance(a, Absent)]
    for member, answer in heard:
        take(member, answer)
    return [answer for _, answer in heard]
