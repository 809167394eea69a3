"""Decide: judges with fixed stances answer an open question, first alone, then against each other; votes are counted
exactly."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Literal, TypeVar, cast

from pydantic import Field

from moot.core.errors import CutKind, SessionStopped
from moot.core.protocol import Option, QuestionRange
from moot.core.room import Ask, Room, T
from moot.core.types import Absent, Names, Result, Rules, Value
from moot.protocols.decide.ballots import (
    ADVISOR,
    Ballot,
    JudgeRebuttal,
    Stand,
    ask_about,
    ask_advice,
    ask_rebuttal,
    ask_recommendation,
)
from moot.protocols.decide.cases import DecisionCase, after_first, after_second, needs_panel, open_case, verdict
from moot.protocols.decide.questions.letters import find_favoured
from moot.protocols.decide.questions.values import Judge, PanelQuestion
from moot.protocols.decide.verdicts import Outcome, PanelTerms, QuestionVerdict, Share, worst_outcome

V = TypeVar("V", bound=Value)
Doubts = Mapping[str, tuple[str, ...]]
"""By question: judges asked again because their reasons supported another option, and the result."""


class DecideRules(Rules):
    judges: Annotated[Names, Option(help="Judges, e.g. risk,value,effort.")] = Field(
        default=("risk", "value", "effort"), description="the judges on the panel, by name"
    )
    judges_folder: Annotated[str, Option(help="Folder with your own judges.")] = Field(
        default="", description="a folder with judges of your own, NAME.toml each"
    )
    max_rounds: int = Field(default=2, ge=1, le=2, description="1: the judges do not answer each other")
    require_agreement: Annotated[Share, Option(help="How many of the judges must agree.")] = Field(
        default="two_thirds", description="how many of the judges present must choose an option to recommend it"
    )
    require_stance_maintenance: bool = Field(
        default=False, description="a judge that leaves its stance is not counted, instead of only noted"
    )
    require_change_documentation: bool = Field(
        default=True, description="a change of mind counts only if the judge says what convinced it"
    )

    @property
    def terms(self) -> PanelTerms:
        return PanelTerms(
            agreement=self.require_agreement,
            stance=self.require_stance_maintenance,
            documented=self.require_change_documentation,
        )


class DecideInput(Value):
    questions: Annotated[tuple[PanelQuestion, ...], Option(derived=True)] = Field(min_length=1)
    judges: Annotated[tuple[Judge, ...], Option(derived=True)] = Field(min_length=2)
    force_panel: Annotated[bool, Option(help="Ask the panel whatever the question's class, as --ask does.")] = False


class DecideResult(Result):
    outcome: Outcome
    """Of several questions, the worst."""
    stop_reason: Literal["decided"] | CutKind = "decided"
    rounds: int = 0
    questions: tuple[QuestionVerdict, ...]
    calls_full_run: int = 0

    @property
    def consensus_level(self) -> float | None:
        """The share of judges for the leading option; of several questions, the lowest. None if no panel answered."""
        spreads = [[len(judges) for judges in one.distribution.values()] for one in self.questions if one.distribution]
        return min((round(max(spread) / sum(spread), 4) for spread in spreads), default=None)


async def decide(given: DecideInput, rules: DecideRules, room: Room) -> DecideResult:
    forced, terms = given.force_panel, rules.terms
    cases = [open_case(question, room.allowance(), forced=forced, terms=terms) for question in given.questions]
    cases, cut = await first_round(cases, given.judges, room)
    if cut is None and rules.max_rounds > 1:
        cases, cut = await second_round(cases, given.judges, room)
    elif cut is not None:
        cases = [replace(case, cut=case.cut or case.goes_on) for case in cases]
    verdicts = tuple(verdict(case) for case in cases)
    if cut is None:
        cut = await find_rejection(verdicts, room)
    for case in cases:
        for note in case.weak:
            room.degrade(f"{case.question.id}: {note}")
    if cut is not None:
        room.degrade(f"{cut.kind.replace('_', ' ')}: {cut}")
    return DecideResult(
        outcome=worst_outcome(one.outcome for one in verdicts),
        stop_reason=cut.kind if cut else "decided",
        rounds=max(one.rounds for one in verdicts),
        questions=verdicts,
        calls_full_run=full_run(cases, given.judges, rules, room),
    )


async def find_rejection(verdicts: Sequence[QuestionVerdict], room: Room) -> SessionStopped | None:
    try:
        await room.gate("verdict", "; ".join(f"{one.question_id}: {one.outcome}" for one in verdicts))
    except SessionStopped as cut:
        return cut
    return None


async def first_round(
    cases: Sequence[DecisionCase], judges: Sequence[Judge], room: Room
) -> tuple[list[DecisionCase], SessionStopped | None]:
    """All judges of all questions in parallel; no prompt contains another judge's words."""
    allowance = room.allowance()
    advised = [case for case in cases if not case.panel and room.has_model(ADVISOR)]
    asks = [ask_recommendation(case.question, judge, allowance) for case in cases if case.panel for judge in judges]
    about = [case.question for case in cases if case.panel for _ in judges]
    answers, cut = await collect_answers(room, asks + [ask_advice(case.question, allowance) for case in advised])
    doubts: Doubts = {}
    if cut is None:
        answers, doubts, cut = await ask_about_doubts(room, asks, answers, about)
    said = iter(answers)
    heard_by_case = [
        with_doubts(after_first(case, judges, {j.name: next(said) for j in judges}), doubts) if case.panel else case
        for case in cases
    ]
    rounds = [tell_round(case, room) for case in heard_by_case]
    return [with_advice(case, next(said)) if case in advised else case for case in rounds], cut


async def second_round(
    cases: Sequence[DecisionCase], judges: Sequence[Judge], room: Room
) -> tuple[list[DecisionCase], SessionStopped | None]:
    """Without agreement, each judge reads the others, challenges each of them, and may change its mind."""
    asks = [ask for case in cases if case.goes_on for ask in rebuttals(case, judges, room)]
    about = [case.question for case in cases if case.goes_on for _ in case.first]
    answers, cut = await collect_answers(room, asks)
    doubts: Doubts = {}
    if cut is None:
        answers, doubts, cut = await ask_about_doubts(room, asks, answers, about)
    said = iter(answers)
    return [
        tell_round(with_doubts(after_second(case, judges, {p.judge: next(said) for p in case.first}), doubts), room)
        if case.goes_on
        else case
        for case in cases
    ], cut


async def ask_about_doubts(
    room: Room, asks: Sequence[Ask[V]], answers: Sequence[V | Absent | None], about: Sequence[PanelQuestion]
) -> tuple[list[V | Absent | None], Doubts, SessionStopped | None]:
    """Ask every judge whose reasons support another option once more. The new answer counts; without a usable one, the
    first stands."""
    settled, notes, doubted = list(answers), dict[str, tuple[str, ...]](), list[tuple[int, str]]()
    for place, (said, question) in enumerate(zip(answers, about, strict=False)):
        if isinstance(said, Ballot | JudgeRebuttal):
            other = find_favoured(said.reasons, question.options)
            doubted += [(place, other)] if other not in ("", said.option) else []
    again, cut = await collect_answers(
        room, [ask_about(asks[n], cast("Stand", settled[n]), other) for n, other in doubted]
    )
    for (place, other), said in zip(doubted, again, strict=True):
        before = cast("Stand", settled[place]).option
        now = said.option if isinstance(said, Ballot | JudgeRebuttal) else ""
        note = f"{asks[place].seat} chose {before} with reasons for {other}; asked about it, "
        note += f"it chose {now}" if now else f"it gave no answer, and {before} stands"
        notes[about[place].id] = (*notes.get(about[place].id, ()), note)
        settled[place] = said if now else settled[place]
    return settled, notes, cut


def with_doubts(case: DecisionCase, doubts: Doubts) -> DecisionCase:
    return replace(case, notes=(*case.notes, *doubts.get(case.question.id, ())))


def rebuttals(case: DecisionCase, judges: Sequence[Judge], room: Room) -> list[Ask[JudgeRebuttal]]:
    known = {judge.name: judge for judge in judges}
    return [
        ask_rebuttal(
            case.question,
            known[mine.judge],
            mine,
            {known[p.judge]: p for p in case.first if p != mine},
            room,
        )
        for mine in case.first
    ]


async def collect_answers(room: Room, asks: Sequence[Ask[T]]) -> tuple[list[T | Absent | None], SessionStopped | None]:
    """All answers; if the session is stopped, those received by then."""
    if not asks:
        return [], None
    try:
        return [*await room.ask_all(asks)], None
    except SessionStopped as cut:
        answered = cast("list[T | Absent | None]", [*cut.answered])
        return answered or [None] * len(asks), cut


def with_advice(case: DecisionCase, said: Ballot | Absent | None) -> DecisionCase:
    if isinstance(said, Ballot):
        return replace(case, advice=said)
    return replace(case, cut=said is None, notes=(*case.notes, "the adviser gave no recommendation"))


def tell_round(case: DecisionCase, room: Room) -> DecisionCase:
    if case.panel:
        spread = ", ".join(f"{p.judge} {p.option}" for p in case.last) or "no recommendation"
        room.tell(f"{case.question.id}, round {2 if case.second else 1}: {spread}")
    return case


def estimate_decide(given: DecideInput, rules: DecideRules, seats: Collection[str]) -> QuestionRange:
    """In each round a judge whose reasons argue for another option is asked about it once."""
    seated = sum(judge.name in seats for judge in given.judges)
    panels = sum(given.force_panel or needs_panel(question) for question in given.questions)
    advice = (len(given.questions) - panels) * (ADVISOR in seats)
    return QuestionRange(panels * seated + advice, panels * seated * 2 * rules.max_rounds + advice)


def full_run(cases: Sequence[DecisionCase], judges: Sequence[Judge], rules: DecideRules, room: Room) -> int:
    """Calls in both rounds of every panel; the difference is what early agreement saves."""
    seated = sum(room.has_model(judge.name) for judge in judges)
    return sum(seated * rules.max_rounds for case in cases if case.panel)
