"""Review: scores each candidate on the rubric, from measurements first; reviewers fill in the rest."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import Field

from moot.core.room import Ask
from moot.core.types import Unit, Value
from moot.protocols.debate.context import DebateContext
from moot.protocols.debate.phases.critique import find_candidate
from moot.protocols.debate.phases.tool_acts import time_candidates
from moot.protocols.debate.prompts import prompt
from moot.protocols.debate.state import DebateState, brief, list_seated, render_candidates, render_for_judge, system
from moot.protocols.debate.types import WEIGHTS, Candidate, Criterion, Member, Score
from moot.protocols.solve.attempts import code_of
from moot.teams.planning.cognition import raise_weights
from moot.text.replies import Aliases, Title, instructions

REPLY_TOKENS = 800
MOST_REVIEWERS = 4
HEAVY = {"critical": 0.6, "high": 0.4, "medium": 0.2, "low": 0.1}


class Marks(Value):
    why: Annotated[str, Aliases("reason", "reasoning", "comment")] = Field(default="", description="in one sentence")
    candidate: Annotated[str, Title(), Aliases("letter", "solution", "proposal")] = Field(description="its letter")
    correctness: Unit | None = None
    coverage: Unit | None = None
    security: Unit | None = None
    performance: Unit | None = None
    maintainability: Unit | None = None


class ReviewReply(Value):
    scores: Annotated[tuple[Marks, ...], Aliases("candidates", "reviews", "ratings")]


async def review(context: DebateContext) -> str:
    said = dict[str, dict[str, Marks]]()

    def take(member: Member, reply: ReviewReply) -> None:
        marks = {letter: m for m in reply.scores if (letter := find_candidate(m.candidate, context.state.latest()))}
        said[member.seat] = marks
        context.say(member, "review", "\n".join(f"{letter}: {m.why}" for letter, m in marks.items() if m.why))

    speed = await time_candidates(context)
    reviewers = list_seated(context.state, context.room, "reviewer", "architect", "judge", "performance_analyzer")
    if unheard := [member.seat for member in reviewers[MOST_REVIEWERS:]]:
        context.room.degrade(f"review: at most {MOST_REVIEWERS} seats review; not asked: {', '.join(unheard)}")
    await context.ask_with_stand_ins("review", reviewers[:MOST_REVIEWERS], lambda m: ask_review(m, context), take)
    measured = {c.id: await measure(c, context) for c in context.state.latest()}
    for name in measured.keys() & speed.keys():
        measured[name]["performance"] = speed[name]
    weights = raise_weights(WEIGHTS, context.state.emphases, context.state.round)
    scores = tuple(score_candidate(c, measured[c.id], said, weights) for c in context.state.latest())
    context.update(scores=add_leader_marks(scores, said.get(context.state.leaders.get("review", ""), {})))
    best = max(scores, key=lambda score: score.total, default=None)
    return f"{len(said)} reviewers; best {best.candidate} with {best.total:.2f}" if best else "nothing to review"


def ask_review(member: Member, context: DebateContext) -> Ask[ReviewReply]:
    state = context.state
    up = state.latest()
    text = prompt(
        "review",
        task=brief(state),
        candidates=render_candidates(up, state, context.room),
        notes=render_for_judge(state, member.seat),
        heard=context.render_heard(member),
        form=instructions(ReviewReply),
    )
    return Ask(member.seat, "review", state.round, system(member), text, ReviewReply, REPLY_TOKENS)


async def measure(candidate: Candidate, context: DebateContext) -> dict[Criterion, float]:
    """Only real measurements: tests, agreed tests, the scan."""
    checked = candidate.checked
    found: dict[Criterion, float] = {}
    if checked.of:
        found["correctness"] = checked.passed / checked.of
    if checked.agreed_of:
        found["coverage"] = checked.agreed / checked.agreed_of
    if candidate.code:
        scan = await context.room.scan(code_of(context.state.task, candidate.code))
        if not scan.not_analysed:
            found["security"] = max(0.0, 1.0 - sum(HEAVY[finding.severity] for finding in scan.findings))
    return found


def score_candidate(
    candidate: Candidate,
    measured: Mapping[Criterion, float],
    said: Mapping[str, Mapping[str, Marks]],
    weights: Mapping[Criterion, float] = WEIGHTS,
) -> Score:
    """Measured parts as they are, the others as the reviewers' median; an unknown part counts 0."""
    marks = [by_letter[candidate.id] for by_letter in said.values() if candidate.id in by_letter]
    parts: dict[Criterion, float] = {}
    for part in WEIGHTS:
        given = sorted(value for mark in marks if (value := getattr(mark, part)) is not None)
        if part in measured:
            parts[part] = measured[part]
        elif given:
            parts[part] = given[(len(given) - 1) // 2]
    total = sum(weights[part] * value for part, value in parts.items())
    return Score(
        candidate=candidate.id,
        total=round(min(total, 1.0), 4),
        parts={part: round(value, 4) for part, value in parts.items()},
        measured=tuple(part for part in WEIGHTS if part in measured),
        reviewers=tuple(seat for seat, by_letter in said.items() if candidate.id in by_letter),
        weights=dict(weights) if weights != WEIGHTS else {},
    )


def add_leader_marks(scores: Sequence[Score], said: Mapping[str, Marks]) -> tuple[Score, ...]:
    """The leader's own marks beside the totals, of which they break ties."""
    means = dict[str, float]()
    for letter, marks in said.items():
        given = [value for part in WEIGHTS if (value := getattr(marks, part)) is not None]
        if given:
            means[letter] = round(sum(given) / len(given), 4)
    return tuple(score.model_copy(update={"leader": means.get(score.candidate)}) for score in scores)


def by_score(candidates: Sequence[Candidate], state: DebateState) -> list[Candidate]:
    """Best first; a hardened candidate takes its parent's place, before its equals. Of equal scores the leader's marks
    decide, then its own candidate comes first; the rest in order of entry."""
    totals = {score.candidate: score.total for score in state.scores}
    marks = {score.candidate: score.leader or 0.0 for score in state.scores}
    leader = state.leaders.get("proposal") or state.leaders.get("self_evolvement", "")

    def place(candidate: Candidate) -> tuple[float, bool, float, bool]:
        name = candidate.id if candidate.id in totals else candidate.parent
        first = not candidate.stands_for_parent
        return -totals.get(name, 0.0), first, -marks.get(name, 0.0), candidate.seat != leader

    return sorted(candidates, key=place)
