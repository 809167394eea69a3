"""Judges with fixed stances on an open question: alone first, then against each other, and counted exactly."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Literal, cast

from pydantic import BeforeValidator, Field

from moot.errors import Cut, CutKind
from moot.protocols.ballots import ADVISOR, Ballot, Rebuttal, ask_advice, ask_rebuttal, ask_recommendation
from moot.protocols.cases import Case, after_first, after_second, opened, verdict
from moot.protocols.verdicts import Outcome, Verdict, gravest
from moot.questions import Judge, Question
from moot.room import Ask, Room, T
from moot.types import Absent, Result, Rules, Value


def _names(value: object) -> object:
    """`risk,value,effort` as a list."""
    return [name.strip() for name in value.split(",") if name.strip()] if isinstance(value, str) else value


class DecideRules(Rules):
    judges: Annotated[tuple[str, ...], BeforeValidator(_names)] = Field(
        default=("risk", "value", "effort"), description="who sits on the panel, by name"
    )
    judges_folder: str = Field(default="", description="a folder with judges of your own, NAME.toml each")
    max_rounds: int = Field(default=2, ge=1, le=2, description="1: the judges do not answer each other")


class DecideInput(Value):
    questions: tuple[Question, ...] = Field(min_length=1)
    judges: tuple[Judge, ...] = Field(min_length=2)
    force_panel: bool = False


class DecideResult(Result):
    outcome: Outcome
    """Of several questions, the gravest."""
    stop_reason: Literal["decided"] | CutKind = "decided"
    rounds: int = 0
    questions: tuple[Verdict, ...]
    calls_full_run: int = 0


async def decide(given: DecideInput, rules: DecideRules, room: Room) -> DecideResult:
    cases = [opened(question, room.allowance(), forced=given.force_panel) for question in given.questions]
    cases, cut = await first_round(cases, given.judges, room)
    if cut is None and rules.max_rounds > 1:
        cases, cut = await second_round(cases, given.judges, room)
    elif cut is not None:
        cases = [replace(case, cut=case.cut or case.goes_on) for case in cases]
    verdicts = tuple(verdict(case) for case in cases)
    if cut is None:
        cut = await rejected(verdicts, room)
    for case in cases:
        for note in case.weak:
            room.degrade(f"{case.question.id}: {note}")
    if cut is not None:
        room.degrade(f"{cut.kind.replace('_', ' ')}: {cut}")
    return DecideResult(
        outcome=gravest(one.outcome for one in verdicts),
        stop_reason=cut.kind if cut else "decided",
        rounds=max(one.rounds for one in verdicts),
        questions=verdicts,
        calls_full_run=full_run(cases, given.judges, rules, room),
    )


async def rejected(verdicts: Sequence[Verdict], room: Room) -> Cut | None:
    """What a person who was asked to approve of it refused."""
    try:
        await room.gate("verdict", "; ".join(f"{one.question_id}: {one.outcome}" for one in verdicts))
    except Cut as cut:
        return cut
    return None


async def first_round(cases: Sequence[Case], judges: Sequence[Judge], room: Room) -> tuple[list[Case], Cut | None]:
    """Every judge of every question at once; nobody's prompt holds a word of another."""
    allowance = room.allowance()
    advised = [case for case in cases if not case.panel and room.seated(ADVISOR)]
    asks = [ask_recommendation(case.question, judge, allowance) for case in cases if case.panel for judge in judges]
    answers, cut = await heard(room, asks + [ask_advice(case.question, allowance) for case in advised])
    said = iter(answers)
    heard_by_case = [
        after_first(case, judges, {j.name: next(said) for j in judges}) if case.panel else case for case in cases
    ]
    told = [tell_round(case, room) for case in heard_by_case]
    return [with_advice(case, next(said)) if case in advised else case for case in told], cut


async def second_round(cases: Sequence[Case], judges: Sequence[Judge], room: Room) -> tuple[list[Case], Cut | None]:
    """Where there is no agreement, each judge reads the others, challenges each of them, and may change its mind."""
    asks = [ask for case in cases if case.goes_on for ask in rebuttals(case, judges, room)]
    answers, cut = await heard(room, asks)
    said = iter(answers)
    return [
        tell_round(after_second(case, judges, {p.judge: next(said) for p in case.first}), room)
        if case.goes_on
        else case
        for case in cases
    ], cut


def rebuttals(case: Case, judges: Sequence[Judge], room: Room) -> list[Ask[Rebuttal]]:
    known = {judge.name: judge for judge in judges}
    return [
        ask_rebuttal(
            case.question,
            known[mine.judge],
            mine,
            {known[p.judge]: p for p in case.first if p != mine},
            room.allowance(),
        )
        for mine in case.first
    ]


async def heard(room: Room, asks: Sequence[Ask[T]]) -> tuple[list[T | Absent | None], Cut | None]:
    """All answers; when the session is cut short, those that had come by then."""
    if not asks:
        return [], None
    try:
        return [*await room.ask_all(asks)], None
    except Cut as cut:
        answered = cast("list[T | Absent | None]", [*cut.answered])
        return answered or [None] * len(asks), cut


def with_advice(case: Case, said: Ballot | Absent | None) -> Case:
    if isinstance(said, Ballot):
        return replace(case, advice=said)
    return replace(case, cut=said is None, notes=(*case.notes, "the adviser gave no recommendation"))


def tell_round(case: Case, room: Room) -> Case:
    if case.panel:
        spread = ", ".join(f"{p.judge} {p.option}" for p in case.last) or "no recommendation"
        room.tell(f"{case.question.id}, round {2 if case.second else 1}: {spread}")
    return case


def full_run(cases: Sequence[Case], judges: Sequence[Judge], rules: DecideRules, room: Room) -> int:
    """Calls that both rounds of every panel make: what an early agreement saves is the difference."""
    seated = sum(room.seated(judge.name) for judge in judges)
    return sum(seated * rules.max_rounds for case in cases if case.panel)
