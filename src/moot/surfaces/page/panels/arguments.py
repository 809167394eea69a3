"""Arguments: positions of judges, challenges of a review, both sides of a vetted action."""

from dataclasses import dataclass

from moot.core.ports import StepRow
from moot.protocols.decide.script import DecideResult
from moot.protocols.decide.verdicts import JudgePosition, QuestionVerdict, UserChoice
from moot.protocols.review.script import ArtefactReview, ReviewResult
from moot.protocols.vet.positions import BlindSpot, Claim, Diagnosis, Objection
from moot.protocols.vet.verdict import VetResult
from moot.record.transcript import as_table
from moot.surfaces.page.panels.recorded import RecordedSession


@dataclass(frozen=True)
class JudgeRow:
    judge: str
    positions: tuple[tuple[JudgePosition | None, int | None], ...]


@dataclass(frozen=True)
class QuestionView:
    verdict: QuestionVerdict
    rounds: tuple[int, ...]
    judges: tuple[JudgeRow, ...]
    choice: UserChoice | None
    weighed: bool
    """Whether a judge said what it thinks of each option."""


@dataclass(frozen=True)
class Argument:
    side: str
    about: str
    text: str
    points: tuple[tuple[str, str], ...]
    """(kind, text)."""
    turns: tuple[int, ...]


@dataclass(frozen=True)
class VetView:
    result: VetResult
    sides: tuple[Argument, ...]


def list_positions(session: RecordedSession) -> tuple[QuestionView, ...] | None:
    if not isinstance(session.result, DecideResult):
        return None
    heard = [verdict for verdict in session.result.questions if verdict.positions]
    choices = {choice[0]: choice[1] for step in session.snapshot.steps if (choice := _read_choice(step))}
    return tuple(_view(verdict, session, choices.get(verdict.question_id)) for verdict in heard) or None


def _view(verdict: QuestionVerdict, session: RecordedSession, choice: UserChoice | None) -> QuestionView:
    rounds = tuple(sorted({position.round for position in verdict.positions}))
    said = {(position.judge, position.round): position for position in verdict.positions}
    rows = []
    for judge in dict.fromkeys(position.judge for position in verdict.positions):
        turns = [session.find_turn(judge, number) for number in rounds]
        positions = (said.get((judge, number)) for number in rounds)
        links = (turn.seq if turn else None for turn in turns)
        rows.append(JudgeRow(judge, tuple(zip(positions, links, strict=True))))
    weighed = any(position.analysis for position in verdict.positions if position.round == rounds[0])
    return QuestionView(verdict, rounds, tuple(rows), choice or verdict.choice, weighed)


def _read_choice(step: StepRow) -> tuple[str, UserChoice] | None:
    """Choices are made after the session has ended, so the recorded result lacks them."""
    if not step.name.startswith("choose "):
        return None
    made = {key: str(value) for key, value in as_table(step.value).items()}
    words = {key: made.get(key, "") for key in ("option", "reason", "by", "at")}
    return made.get("question_id", ""), UserChoice(**words)


def list_challenges(session: RecordedSession) -> tuple[ArtefactReview, ...] | None:
    if not isinstance(session.result, ReviewResult):
        return None
    return tuple(each for each in session.result.artefacts if each.challenges or each.faults or each.rounds) or None


def weigh_arguments(session: RecordedSession) -> VetView | None:
    result = session.result
    if not isinstance(result, VetResult):
        return None
    sides = tuple(
        Argument(side, *points, tuple(turn.seq for turn in session.snapshot.turns if turn.seat == side))
        for side, points in (("advocate", _describe_advocate(result)), ("critic", _describe_critic(result)))
        if points is not None
    )
    return VetView(result, sides) if sides else None


Told = tuple[str, str, tuple[tuple[str, str], ...]]


def _describe_advocate(result: VetResult) -> Told | None:
    match result.advocate:
        case Claim() as said:
            return _confidence(said.confidence), said.claim, tuple(("because", reason) for reason in said.supports)
        case Diagnosis() as said:
            points = (("fix", said.fix), ("what is different", said.diff_from_previous))
            return _confidence(said.confidence), said.diagnosis, points
        case None:
            return None


def _confidence(value: float | None) -> str:
    return "confidence unknown" if value is None else f"confidence {value:g}"


def _describe_critic(result: VetResult) -> Told | None:
    match result.critic:
        case Objection() as said:
            counter = (("instead", said.counter),) if said.counter else ()
            return f"severity {said.severity}", said.objection, (*(("risk", risk) for risk in said.risks), *counter)
        case BlindSpot() as said:
            missed = (("overlooked", said.blind_spot),) if said.blind_spot else ()
            others = tuple(("alternative", text) for text in said.alternatives)
            return "must escalate" if said.should_escalate else "", said.pattern, (*missed, *others)
        case None:
            return None
