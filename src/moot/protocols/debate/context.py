"""A running debate: its state, kept current so that a stop loses nothing, and who may speak."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import BaseModel

from moot.core.errors import SessionStopped
from moot.core.room import Ask, Room, T
from moot.core.types import Absent, Answer, HeardTurn, SuiteRun, Vulnerability
from moot.protocols.debate.acts import RoleAct
from moot.protocols.debate.delegation import ask_delegation, build_delegations, list_undelegated
from moot.protocols.debate.hearing import (
    HeardText,
    RelayReply,
    ask_relay,
    build_relays,
    fit_heard,
    hear_in_mesh,
    list_heard,
    list_spoken,
    list_unrelayed,
)
from moot.protocols.debate.state import DebateState, SpokenTurn, tool_context, tools_of
from moot.protocols.debate.types import PARALLEL, Attacked, Candidate, Member, Phase, Talk
from moot.teams.planning.cognition import count_extra
from moot.teams.topology import Arrangement
from moot.text.excerpts import Fitted, TextPart, fit_parts, fit_text, name_some, show
from moot.text.render import estimate_tokens, fence_text

REINFORCED = frozenset({"critique", "review"})
"""Phases that the planner may give more seats."""


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
    heard_roles: set[str] = field(default_factory=set)
    """Roles with a usable answer in the phase that runs."""
    heard: dict[str, tuple[HeardTurn, ...]] = field(default_factory=dict)
    """Turns of others in the prompt that is being written for a seat."""
    examined: dict[str, set[str]] = field(default_factory=dict)
    """The codes that a seat has looked at by its tools."""

    def update(self, **changes: Any) -> None:
        self.state = replace(self.state, **changes)

    def enter(self, candidate: Candidate, phase: Phase, text: str, answer: BaseModel | None = None) -> None:
        """`answer`: the reply that contains the candidate."""
        if answer is not None and (turn := self.room.turn_of(answer)) is not None:
            self.turns[candidate.id] = turn
        said = SpokenTurn(seat=candidate.seat, phase=phase, round=self.state.round, text=text, candidate=candidate.id)
        self.update(candidates=(*self.state.candidates, candidate), spoken=(*self.state.spoken, said))

    def say(self, member: Member, phase: Phase, text: str) -> None:
        number = len(self.state.spoken)
        said = SpokenTurn(seat=member.seat, phase=phase, round=self.state.round, text=text, number=number)
        self.update(spoken=(*self.state.spoken, said))

    def member(self, seat: str) -> Member:
        return next(member for member in self.state.given.team if member.seat == seat)

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
        if tools:  # a blind question is answered from the task's words alone
            await self.delegate(phase, speakers)
        asks = [self._complete(member, make(member)) for member in speakers]
        if tools:
            asks = [self.equip_ask(member, phase, ask) for member, ask in zip(speakers, asks, strict=True)]
        self.update(calls=self.state.calls + len(asks))
        try:
            answers: Sequence[Any] = await self.room.ask_all(asks, self.state.rules.seats_at_once(phase))
        except SessionStopped as cut:
            _take_answers(speakers, cut.answered, take)
            raise
        self._note_missing(speakers, answers)
        denied = sum(isinstance(answer, Absent) and answer.why == "limit" for answer in answers)
        self.update(calls=self.state.calls - denied)
        heard = _take_answers(speakers, answers, take)
        self.update(answered=self.state.answered + len(heard))
        usable = (m for m, a in zip(speakers, answers, strict=False) if a is not None and not isinstance(a, Absent))
        self.heard_roles |= {member.role for member in usable}
        return heard

    async def ask_aside(self, asks: Sequence[Ask[T]]) -> list[T | None]:
        """Questions that serve the others, such as a relay: they cost calls, but are no answers of the phase."""
        self.update(calls=self.state.calls + len(asks))
        answers = await self.room.ask_all(asks, PARALLEL["planning"])
        self._note_missing([self.member(ask.seat) for ask in asks], answers)
        denied = sum(isinstance(answer, Absent) and answer.why in ("limit", "no_model") for answer in answers)
        self.update(calls=self.state.calls - denied)
        return [None if isinstance(answer, Absent) else answer for answer in answers]

    def _count_tokens(self, asks: Sequence[Ask[T]], replies: Sequence[T | None]) -> None:
        """Of relays and delegations, which a mesh does not need."""
        spent = sum(estimate_tokens(ask.system + ask.prompt) for ask in asks)
        spent += sum(estimate_tokens(reply.model_dump_json()) for reply in replies if reply)
        tokens = self.state.heard_tokens
        self.update(heard_tokens=tokens.model_copy(update={"aside": tokens.aside + spent}))

    def _complete(self, member: Member, ask: Ask[T]) -> Ask[T]:
        return replace(ask, role=member.role, heard=(*ask.heard, *self.heard.pop(member.seat, ())))

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
            await self.relay_to(group, list_spoken(self.state, self.state.round))
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
        speakers = self.reinforce(phase, speakers)
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

    def reinforce(self, phase: Phase, speakers: Sequence[Member]) -> list[Member]:
        """More seats for a phase that fell short in the round before."""
        extra = count_extra(self.state.emphases, phase, self.state.round) if phase in REINFORCED and speakers else 0
        asked = {member.seat for member in speakers} | self.lost
        rest = [m for m in self.state.given.team if m.seat not in asked and self.room.has_model(m.seat)]
        return [*speakers, *rest[:extra]]

    async def relay_to(self, readers: Sequence[str], turns: Sequence[SpokenTurn]) -> None:
        """Ask the seats between for what their readers have not heard yet; what is not condensed is passed on whole."""
        if self.state.rules.edition < 2:
            return
        while wanted := list_unrelayed(turns, self.state, self.arrangement, readers):
            asks = [ask_relay(self.member(by), mine, self.state) for by, mine in wanted.items()]
            replies = await self.ask_aside(asks)
            self._count_tokens(asks, replies)
            for (by, mine), reply in zip(wanted.items(), replies, strict=True):
                self._keep_relays(by, mine, reply)

    def _keep_relays(self, by: str, turns: Sequence[SpokenTurn], reply: RelayReply | None) -> None:
        made = build_relays(by, turns, reply)
        if whole := [f"{relay.seat} ({relay.phase}): {relay.whole}" for relay in made if relay.whole]:
            self.room.degrade(f"round {self.state.round}: {by} passes turns on whole: {name_some(whole, between='; ')}")
        self.update(relays=(*self.state.relays, *made))

    async def delegate(self, phase: Talk, speakers: Sequence[Member]) -> None:
        """In a tree, level by level from the root: who has others below says what they are to do."""
        if self.state.rules.edition < 2:
            return
        names = [member.seat for member in speakers]
        while wanted := list_undelegated(self.state, self.arrangement, phase, names):
            await self.relay_to([*wanted], list_spoken(self.state, self.state.round))
            bosses = [(self.member(by), below) for by, below in wanted.items()]
            asks = [self._complete(member, ask_delegation(member, below, phase, self)) for member, below in bosses]
            replies = await self.ask_aside(asks)
            self._count_tokens(asks, replies)
            for (by, below), reply in zip(wanted.items(), replies, strict=True):
                made = build_delegations(by, below, phase, self.state.round, reply)
                self.update(delegations=(*self.state.delegations, *made))
                if silent := [each.to for each in made if not each.text]:
                    self.room.degrade(
                        f"{phase}, round {self.state.round}: {by} delegates nothing to {name_some(silent)}"
                    )

    def render_heard(self, member: Member, *, aside: bool = False) -> str:
        """The turns of this round that reach this seat, besides the candidates, within a quarter of a prompt's
        material. `aside`: for a question that a mesh would not put."""
        if self.state.rules.edition < 2:
            return self._render_earlier(member)
        most = self.room.allowance() // 4
        fitted = fit_heard(list_heard(self.state, self.arrangement, member.seat), most)
        mesh = hear_in_mesh(list_spoken(self.state, self.state.round), self.state, member.seat)
        self.note_heard(member, fitted.heard, mesh, most, aside=aside)
        if not fitted.heard:
            return ""
        lines = show(fitted.shown, f"{member.seat}, round {self.state.round},", self.room)
        return f"What others said in this round:\n\n{fence_text(lines.join(), 'text')}\n\n"

    def note_heard(
        self, member: Member, heard: Sequence[HeardText], mesh: Sequence[HeardText], most: int, *, aside: bool = False
    ) -> None:
        """For the record of the question that is being written and, unless it is aside, the account of the debate."""
        made = tuple(each.record() for each in heard)
        self.heard[member.seat] = (*self.heard.get(member.seat, ()), *made)
        if aside:
            return
        tokens = self.state.heard_tokens
        more = {
            "shown": tokens.shown + min(sum(each.tokens for each in made), most),
            "mesh": tokens.mesh + min(sum(each.record().tokens for each in mesh), most),
        }
        self.update(heard_tokens=tokens.model_copy(update=more))

    def _render_earlier(self, member: Member) -> str:
        """As edition 1 wrote it: all that a topology lets through, word for word."""
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
    fields = {"candidate": candidate.id, "round": context.state.round, "by": by, "findings": tuple(left)}
    context.update(attacks=(*context.state.attacks, Attacked.model_validate(fields)))


def _take_answers(speakers: Sequence[Member], answers: Sequence[Any], take: Callable[[Member, T], object]) -> list[T]:
    heard = [(m, a) for m, a in zip(speakers, answers, strict=False) if a is not None and not isinstance(a, Absent)]
    for member, answer in heard:
        take(member, answer)
    return [answer for _, answer in heard]
