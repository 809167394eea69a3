"""Review: an adversary challenges a planning artefact, a defender answers and revises it, and evidence decides what
counts."""

from collections.abc import Collection, Sequence
from typing import Annotated, Literal

from pydantic import Field

from moot.core.errors import SessionStopped
from moot.core.protocol import Option, QuestionRange
from moot.core.report import count_things
from moot.core.room import Room
from moot.core.types import Code, NotAnalysed, Result, Rules, Value
from moot.evidence.artefacts.checkpoints import MOST_ROUNDS
from moot.evidence.artefacts.checks import check
from moot.evidence.artefacts.values import Artefact, ArtefactFault, ArtefactType, Challenge, Neighbour
from moot.protocols.review.adversary import challenge_artefact
from moot.protocols.review.changes import ChangeReview, Dismissal, review_change
from moot.protocols.review.defender import defend_artefact
from moot.protocols.review.review_state import (
    ChallengeAnswer,
    Dropped,
    ReviewState,
    Round,
    is_deadlock,
    needs_another_round,
)
from moot.text.render import file_diff

Stop = Literal[
    "no_objections", "converged", "deadlock", "max_rounds", "not_defended", "absent", "nothing_checkable",
    "partly_seen", "no_model", "switched_off", "timed_out", "budget_exhausted", "cancelled", "rejected",
]  # fmt: skip
Outcome = Literal[
    "no_objections", "converged", "deadlock", "unresolved", "challenged", "inconclusive", "structural_only",
    "switched_off", "timed_out", "budget_exhausted", "cancelled", "rejected",
]  # fmt: skip
OUTCOMES: dict[Stop, Outcome] = {
    "no_objections": "no_objections",
    "converged": "converged",
    "deadlock": "deadlock",
    "max_rounds": "unresolved",
    "not_defended": "challenged",
    "absent": "inconclusive",
    "nothing_checkable": "inconclusive",
    "partly_seen": "inconclusive",
    "no_model": "structural_only",
    "switched_off": "switched_off",
    "timed_out": "timed_out",
    "budget_exhausted": "budget_exhausted",
    "cancelled": "cancelled",
    "rejected": "rejected",
}
WORST_FIRST: tuple[Outcome, ...] = (
    "rejected", "cancelled", "timed_out", "budget_exhausted", "inconclusive", "unresolved", "deadlock", "challenged",
    "converged", "structural_only", "no_objections", "switched_off",
)  # fmt: skip
State = Literal["addressed", "withdrawn", "rejected", "unresolved"]
"""Withdrawn: the adversary dropped it, and the artefact is unchanged."""


class ReviewRules(Rules):
    max_rounds: Annotated[int, Option(help="Rounds of challenge and defence; at most 3.")] = Field(
        default=3, ge=1, description="rounds of challenge and defence; never more than 3"
    )
    defend: bool = Field(
        default=True, description="whether a defender answers; without one, challenges are only listed"
    )
    comments: Annotated[int, Option(help="Maximum number of comments on a code change, most serious first.")] = Field(
        default=5, ge=1, le=50, description="maximum number of comments on a code change, most serious first"
    )


class Reviewed(Value):
    """An artefact to review, and what its project's configuration says of it."""

    artefact: Artefact
    max_rounds: int | None = None
    off: str = ""
    """Why no adversary is wanted here."""


class ReviewInput(Value):
    artefacts: Annotated[tuple[Reviewed, ...], Option(derived=True)]
    around: Annotated[tuple[Neighbour, ...], Option(derived=True)] = ()
    """All artefacts of the project, for checks across files."""
    notes: Annotated[tuple[str, ...], Option(derived=True)] = ()
    """Caveats known before the session began."""
    left_out: Annotated[tuple[NotAnalysed, ...], Option(derived=True)] = ()
    change: Annotated[Code | None, Option(derived=True)] = None
    """A change of code, instead of artefacts."""
    triage: Annotated[
        bool, Option(help="Judge what `moot scan` finds in the code at PATHS; look for nothing else.")
    ] = False
    dismissals: Annotated[tuple[Dismissal, ...], Option(derived=True)] = ()
    """Points that were dismissed before."""


class ChallengeVerdict(Value):
    """A challenge, and what became of it."""

    id: str
    challenge: Challenge
    state: State
    confirmed: bool
    """Whether the adversary confirms it; else only the defender says so."""
    notes: str = ""
    answer: ChallengeAnswer | None = None


class ArtefactReview(Value):
    path: str
    type: ArtefactType
    guessed: str
    outcome: Outcome
    stop_reason: Stop
    why: str = ""
    faults: tuple[ArtefactFault, ...] = ()
    """Structural faults in the artefact as given."""
    faults_left: tuple[ArtefactFault, ...] = ()
    challenges: tuple[ChallengeVerdict, ...] = ()
    dropped: int = 0
    """Challenges without checkable evidence, which do not count."""
    dropped_challenges: tuple[Dropped, ...] = ()
    rounds: tuple[Round, ...] = ()
    revised: str | None = None
    diff: str = ""
    decision: str = ""
    """The last word, with its reasons."""

    def list_standing(self) -> list[ChallengeVerdict]:
        """Challenges that only the defender calls settled."""
        return [v for v in self.challenges if not v.confirmed]


class ReviewResult(Result):
    outcome: Outcome
    rounds: int
    artefacts: tuple[ArtefactReview, ...]
    left_out: tuple[NotAnalysed, ...] = ()
    change: ChangeReview | None = None
    """The review of a code change; then there are no artefacts."""


async def review(given: ReviewInput, rules: ReviewRules, room: Room) -> ReviewResult:
    if given.change is not None:
        return await review_code(given, given.change, rules, room)
    return await review_artefacts(given, rules, room)


async def review_code(given: ReviewInput, code: Code, rules: ReviewRules, room: Room) -> ReviewResult:
    for note in (*given.notes, *(f"not looked at: {spot.why}" for spot in given.left_out)):
        room.degrade(note)
    if not room.has_model("adversary") and not given.triage:
        room.degrade("no model sits as adversary: only the scan reviewed the change (set `model`, or give --model)")
    done = await review_change(code, given.dismissals, rules.comments, room, triage=given.triage, defend=rules.defend)
    try:
        await room.gate("round", f"{count_things(len(done.comments), 'comment')} on the change")
    except SessionStopped as cut:
        room.degrade(f"{cut.kind.replace('_', ' ')}: {cut}")
        done = done.model_copy(update={"stopped": cut.kind})
    ended: dict[str, Outcome] = {"no_model": "structural_only", "absent": "inconclusive", "reviewed": "no_objections"}
    outcome: Outcome = ended.get(done.stopped) or OUTCOMES[done.stopped]  # type: ignore[index]
    if done.comments and done.stopped in ended:
        outcome = "challenged"
    elif done.dropped and done.stopped == "reviewed":  # whose every point fell has not said that there is none
        outcome = "inconclusive"
    return ReviewResult(outcome=outcome, rounds=1, artefacts=(), left_out=given.left_out, change=done)


async def review_artefacts(given: ReviewInput, rules: ReviewRules, room: Room) -> ReviewResult:
    reviews: list[ArtefactReview] = []
    cut: SessionStopped | None = None
    for note in (*given.notes, *(f"not looked at: {spot.why}" for spot in given.left_out)):
        room.degrade(note)
    if not room.has_model("adversary"):
        room.degrade("no model sits as adversary: structural checks only (set `model`, or give --model)")
    if rules.max_rounds > MOST_ROUNDS:
        room.degrade(f"{rules.max_rounds} rounds were asked for; a review has at most {MOST_ROUNDS}")
    for one in given.artefacts:
        state = ReviewState(one.artefact, one.artefact.text, given.around, rounds_allowed(one, rules))
        if cut is None:
            try:
                stopped = await debate(state, one, rules, room)
            except SessionStopped as error:
                cut = error
                room.degrade(f"{cut.kind.replace('_', ' ')}: {cut}")
        if cut is not None:
            stopped = cut.kind
        reviews.append(build_review(state, stopped, one))
    return ReviewResult(
        outcome=min((r.outcome for r in reviews), key=WORST_FIRST.index),
        rounds=max(len(r.rounds) for r in reviews),
        artefacts=tuple(reviews),
        left_out=given.left_out,
    )


async def debate(state: ReviewState, one: Reviewed, rules: ReviewRules, room: Room) -> Stop:
    """Challenge and defence in turn, until nothing serious is open, nobody moves, or the rounds are used up."""
    if one.off:
        room.degrade(f"{one.artefact.path}: no debate, structural checks only: {one.off}")
        return "switched_off"
    if not room.has_model("adversary"):
        return "no_model"
    for number in range(1, state.most + 1):
        room.tell(f"{one.artefact.path}: round {number} of {state.most}")
        if not await challenge_artefact(state, number, room):
            return "absent"
        if not state.standing:
            return nothing_stands(state)
        stuck = is_deadlock(
            state, number, [c for c in state.standing if c.round == number], state.rounds[-1].convergence
        )
        answered = await answer(state, number, rules, room)
        await room.gate("round", f"{one.artefact.path}: {len(state.standing)} challenges stand after round {number}")
        if not answered:
            return "not_defended"
        if stuck:
            return "deadlock"
        if not needs_another_round(state.standing, one.artefact.type):
            return "converged"
    return "max_rounds"


async def answer(state: ReviewState, number: int, rules: ReviewRules, room: Room) -> bool:
    if not rules.defend:
        return False
    if not room.has_model("defender"):
        room.degrade("nobody sits as defender: challenges are only listed (--defend MODEL)")
        return False
    if await defend_artefact(state, number, room):
        return True
    room.degrade(f"round {number}: no answer of the defender, so the challenges stand as they are")
    return False


def estimate_review(given: ReviewInput, rules: ReviewRules, seats: Collection[str]) -> QuestionRange:
    """A defender answers, and revises what it has to."""
    if given.change is not None:
        asked = int("adversary" in seats and not given.triage)
        return QuestionRange(asked, asked + int(rules.defend and "defender" in seats))
    rounds = [rounds_allowed(one, rules) for one in given.artefacts if not one.off and "adversary" in seats]
    defends = rules.defend and "defender" in seats
    return QuestionRange(len(rounds), sum(rounds) * (3 if defends else 1))


def rounds_allowed(one: Reviewed, rules: ReviewRules) -> int:
    return min(one.max_rounds or rules.max_rounds, MOST_ROUNDS)


def nothing_stands(state: ReviewState) -> Stop:
    """ "No objections" does not follow if every challenge was dropped or the adversary saw only a part."""
    if state.rounds[-1].dropped:
        return "nothing_checkable"
    return "partly_seen" if state.partly_seen else "no_objections"


def build_review(state: ReviewState, stopped: Stop, one: Reviewed) -> ArtefactReview:
    artefact, changed = one.artefact, state.text != one.artefact.text
    faults = check(artefact, state.around)
    verdicts = tuple(verdict_of(c, state) for c in state.challenges)
    return ArtefactReview(
        path=artefact.path,
        type=artefact.type,
        guessed=artefact.guessed,
        outcome=OUTCOMES[stopped],
        stop_reason=stopped,
        why=one.off if stopped == "switched_off" else "",
        faults=faults,
        faults_left=state.faults if changed else faults,
        challenges=verdicts,
        dropped=len(state.dropped),
        dropped_challenges=tuple(state.dropped),
        rounds=tuple(state.rounds),
        revised=state.text if changed else None,
        diff=file_diff(artefact.path, artefact.text, state.text) if changed else "",
        decision=last_word(verdicts),
    )


def verdict_of(c: Challenge, state: ReviewState) -> ChallengeVerdict:
    """The adversary's assessment if any; else the defender's, as far as carried out."""
    answer = state.answers.get(c.id)
    if settled := state.settled.get(c.id):
        kept = state.text == state.artefact.text
        found: State = "rejected" if settled.status == "rejected" else "withdrawn" if kept else "addressed"
        return ChallengeVerdict(id=c.id, challenge=c, state=found, confirmed=True, notes=settled.notes, answer=answer)
    changed = answer is not None and any(r.revised and r.round == answer.round for r in state.rounds)
    if answer is None or (answer.answer == "addressed" and not changed):
        return ChallengeVerdict(id=c.id, challenge=c, state="unresolved", confirmed=False, answer=answer)
    return ChallengeVerdict(id=c.id, challenge=c, state=answer.answer, confirmed=False, answer=answer)


def last_word(verdicts: Sequence[ChallengeVerdict], *, saved: bool = True) -> str:
    """The defender's decision and reason for each challenge; empty without a defender. Not `saved`: only a revision was
    changed, not the artefact itself."""
    if not any(v.answer for v in verdicts):
        return ""
    words: dict[State, str] = {} if saved else {"addressed": "open: settled only in a revision that was not written"}
    return "; ".join(
        f"{v.id} ({v.challenge.severity}, {v.challenge.category}) {words.get(v.state, v.state)}"
        + (f": {v.answer.reason}" if v.answer else ": no answer")
        for v in verdicts
    )
