"""An adversary challenges a planning artefact, a defender answers and revises it, and evidence decides what counts."""

from collections.abc import Collection, Sequence
from typing import Literal

from pydantic import Field

from moot.core.errors import SessionStopped
from moot.core.protocol import QuestionRange
from moot.core.room import Room
from moot.core.types import NotAnalysed, Result, Rules, Value
from moot.evidence.artefacts.checkpoints import MOST_ROUNDS
from moot.evidence.artefacts.checks import check
from moot.evidence.artefacts.values import Artefact, ArtefactFault, ArtefactType, Challenge, Gravity, Neighbour
from moot.protocols.review.adversary import challenge_artefact
from moot.protocols.review.defender import defend_artefact
from moot.protocols.review.review_state import ChallengeAnswer, Dropped, ReviewState, Round, goes_on, is_deadlock
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
"""Withdrawn: the adversary lets it go, and the artefact is as it was."""


class ReviewRules(Rules):
    max_rounds: int = Field(default=3, ge=1, description="rounds of challenge and defence; never more than 3")
    defend: bool = Field(
        default=True, description="whether a defender answers; without one, challenges are only listed"
    )


class Reviewed(Value):
    """An artefact to review, and what its project's configuration says of it."""

    artefact: Artefact
    max_rounds: int | None = None
    off: str = ""
    """Why no adversary is wanted here."""


class ReviewInput(Value):
    artefacts: tuple[Reviewed, ...]
    around: tuple[Neighbour, ...] = ()
    """All artefacts of the project, for checks across files."""
    notes: tuple[str, ...] = ()
    """Caveats known before the session began."""
    left_out: tuple[NotAnalysed, ...] = ()


class ChallengeVerdict(Value):
    """A challenge, and what became of it."""

    id: str
    challenge: Challenge
    state: State
    confirmed: bool
    """Whether the adversary itself says so; else it is the defender's word alone."""
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
    """Structural findings in the artefact as it was given."""
    faults_left: tuple[ArtefactFault, ...] = ()
    """Structural findings in the artefact as it stands at the end."""
    challenges: tuple[ChallengeVerdict, ...] = ()
    dropped: int = 0
    """Challenges that did not count: no evidence that can be checked."""
    dropped_challenges: tuple[Dropped, ...] = ()
    rounds: tuple[Round, ...] = ()
    revised: str | None = None
    """The whole revised artefact, when there is one."""
    diff: str = ""
    decision: str = ""
    """The last word, with its reasons."""

    def list_standing(self, gravity: Gravity | None = None) -> list[ChallengeVerdict]:
        """Challenges that nobody but the defender calls settled."""
        return [v for v in self.challenges if not v.confirmed and gravity in (None, v.challenge.severity)]


class ReviewResult(Result):
    outcome: Outcome
    rounds: int
    artefacts: tuple[ArtefactReview, ...]
    left_out: tuple[NotAnalysed, ...] = ()


async def review(given: ReviewInput, rules: ReviewRules, room: Room) -> ReviewResult:
    reviews: list[ArtefactReview] = []
    cut: SessionStopped | None = None
    for note in (*given.notes, *(f"not looked at: {spot.why}" for spot in given.left_out)):
        room.degrade(note)
    if not room.has_model("adversary"):
        room.degrade("no model sits as adversary: structural checks only (set `model`, or give --model)")
    if rules.max_rounds > MOST_ROUNDS:
        room.degrade(f"{rules.max_rounds} rounds were asked for; a review has at most {MOST_ROUNDS}")
    for one in given.artefacts:
        talk = ReviewState(one.artefact, one.artefact.text, given.around, rounds_allowed(one, rules))
        if cut is None:
            try:
                stopped = await debate(talk, one, rules, room)
            except SessionStopped as error:
                cut = error
                room.degrade(f"{cut.kind.replace('_', ' ')}: {cut}")
        if cut is not None:
            stopped = cut.kind
        reviews.append(build_review(talk, stopped, one))
    return ReviewResult(
        outcome=min((r.outcome for r in reviews), key=WORST_FIRST.index),
        rounds=max(len(r.rounds) for r in reviews),
        artefacts=tuple(reviews),
        left_out=given.left_out,
    )


async def debate(talk: ReviewState, one: Reviewed, rules: ReviewRules, room: Room) -> Stop:
    """Challenge and defence in turn, until nothing grave stands, nobody moves, or the rounds are spent."""
    if one.off:
        room.degrade(f"{one.artefact.path}: no debate, structural checks only: {one.off}")
        return "switched_off"
    if not room.has_model("adversary"):
        return "no_model"
    for number in range(1, talk.most + 1):
        room.tell(f"{one.artefact.path}: round {number} of {talk.most}")
        if not await challenge_artefact(talk, number, room):
            return "absent"
        if not talk.standing:
            return nothing_stands(talk)
        stuck = is_deadlock(talk, number, [c for c in talk.standing if c.round == number], talk.rounds[-1].convergence)
        answered = await answer(talk, number, rules, room)
        await room.gate("round", f"{one.artefact.path}: {len(talk.standing)} challenges stand after round {number}")
        if not answered:
            return "not_defended"
        if stuck:
            return "deadlock"
        if not goes_on(talk.standing, one.artefact.type):
            return "converged"
    return "max_rounds"


async def answer(talk: ReviewState, number: int, rules: ReviewRules, room: Room) -> bool:
    if not rules.defend:
        return False
    if not room.has_model("defender"):
        room.degrade("nobody sits as defender: challenges are only listed (--defend MODEL)")
        return False
    if await defend_artefact(talk, number, room):
        return True
    room.degrade(f"round {number}: no answer of the defender, so the challenges stand as they are")
    return False


def estimate_review(given: ReviewInput, rules: ReviewRules, seats: Collection[str]) -> QuestionRange:
    """A defender answers, and revises what it has to."""
    rounds = [rounds_allowed(one, rules) for one in given.artefacts if not one.off and "adversary" in seats]
    defends = rules.defend and "defender" in seats
    return QuestionRange(len(rounds), sum(rounds) * (3 if defends else 1))


def rounds_allowed(one: Reviewed, rules: ReviewRules) -> int:
    return min(one.max_rounds or rules.max_rounds, MOST_ROUNDS)


def nothing_stands(talk: ReviewState) -> Stop:
    """An adversary whose every challenge fell, or that saw only a part, has not said that there is no objection."""
    if talk.rounds[-1].dropped:
        return "nothing_checkable"
    return "partly_seen" if talk.partly_seen else "no_objections"


def build_review(talk: ReviewState, stopped: Stop, one: Reviewed) -> ArtefactReview:
    artefact, changed = one.artefact, talk.text != one.artefact.text
    faults = check(artefact, talk.around)
    verdicts = tuple(verdict_of(c, talk) for c in talk.challenges)
    return ArtefactReview(
        path=artefact.path,
        type=artefact.type,
        guessed=artefact.guessed,
        outcome=OUTCOMES[stopped],
        stop_reason=stopped,
        why=one.off if stopped == "switched_off" else "",
        faults=faults,
        faults_left=talk.faults if changed else faults,
        challenges=verdicts,
        dropped=len(talk.dropped),
        dropped_challenges=tuple(talk.dropped),
        rounds=tuple(talk.rounds),
        revised=talk.text if changed else None,
        diff=file_diff(artefact.path, artefact.text, talk.text) if changed else "",
        decision=last_word(verdicts),
    )


def verdict_of(c: Challenge, talk: ReviewState) -> ChallengeVerdict:
    """The adversary's word where it gave one; else the defender's, as far as it was carried out."""
    answer = talk.answers.get(c.id)
    if settled := talk.settled.get(c.id):
        kept = talk.text == talk.artefact.text
        state: State = "rejected" if settled.status == "rejected" else "withdrawn" if kept else "addressed"
        return ChallengeVerdict(id=c.id, challenge=c, state=state, confirmed=True, notes=settled.notes, answer=answer)
    changed = answer is not None and any(r.revised and r.round == answer.round for r in talk.rounds)
    if answer is None or (answer.answer == "addressed" and not changed):
        return ChallengeVerdict(id=c.id, challenge=c, state="unresolved", confirmed=False, answer=answer)
    return ChallengeVerdict(id=c.id, challenge=c, state=answer.answer, confirmed=False, answer=answer)


def last_word(verdicts: Sequence[ChallengeVerdict], *, saved: bool = True) -> str:
    """The defender's decision on each challenge, with its reason; nothing where no defender spoke. Not `saved`: the
    artefact itself was not changed, only a revision of it."""
    if not any(v.answer for v in verdicts):
        return ""
    words: dict[State, str] = {} if saved else {"addressed": "open: settled only in a revision that was not written"}
    return "; ".join(
        f"{v.id} ({v.challenge.severity}, {v.challenge.category}) {words.get(v.state, v.state)}"
        + (f": {v.answer.reason}" if v.answer else ": no answer")
        for v in verdicts
    )
