"""What a debate leaves for later ones: lessons from its facts, and verdicts on the lessons it was told."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from moot.core.experience import FactKind, Origin
from moot.core.types import SuiteRun, Value
from moot.evidence.lessons.cases import describe_case, describe_expected
from moot.evidence.lessons.lesson import quote_task
from moot.evidence.trials.values import is_satisfied
from moot.protocols.debate.context import DebateContext
from moot.protocols.debate.episodes import keep_episodes
from moot.protocols.debate.phases.converge import winner_of
from moot.protocols.debate.phases.run_candidates import example_of
from moot.protocols.debate.state import DebateState
from moot.protocols.debate.types import Candidate, ClaimedTest, DebateLesson
from moot.protocols.solve.script import FEWEST_WORDS, UsedLesson, Verdict, credit_lessons
from moot.text.excerpts import name_some

NAMED = 3
"""Tests that a lesson names."""


class LearntFact(Value):
    """Something that a debate found out, in words for other tasks."""

    text: str
    kind: FactKind | Literal["taught"]
    phase: str
    source: str
    """The test, the finding or the turn that shows it."""
    seat: str = ""


async def learn_from_debate(context: DebateContext, hidden: Mapping[str, SuiteRun]) -> None:
    """The last steps of a debate that came to its end."""
    state = context.state
    if state.rules.edition < 2 or not state.code:
        return
    if state.rules.lessons:
        winner = winner_of(state)
        verdict = judge_outcome(winner, hidden.get(winner.id)) if winner else "open"
        context.update(lessons_told=await credit_lessons(state.lessons, verdict, context.room))
        await keep_lessons(context, list_facts(context, winner) if winner else [])
    if state.rules.episodes:
        await keep_episodes(context)


def list_untold(state: DebateState) -> tuple[UsedLesson, ...]:
    """The lessons of a debate that was cut short before it could judge them."""
    return tuple(UsedLesson(id=lesson.id, text=lesson.text) for lesson in state.lessons if state.rules.edition >= 2)


def judge_outcome(winner: Candidate, hidden: SuiteRun | None) -> Verdict:
    """Hidden tests say most; without tests nothing is known."""
    if hidden is not None:
        return "helped" if hidden.passed else "harmed"
    if not winner.checked.of:
        return "open"
    return "helped" if winner.checked.green else "harmed"


async def keep_lessons(context: DebateContext, facts: Sequence[LearntFact]) -> None:
    """In the store, with their origin, and in the result."""
    state, models = context.state, {member.seat: member.model for member in context.state.given.team}
    for fact in facts:
        text = state.task.general(fact.text)
        if len(text.split()) < FEWEST_WORDS:
            continue
        agent = f"{fact.seat}@{models[fact.seat]}" if fact.seat in models else fact.seat
        origin = Origin(
            agent=agent,
            task=quote_task(state.task.text),
            phase=fact.phase,
            kind=fact.kind,
            source=fact.source,
        )
        if (lesson := await context.room.learn(text, origin)) is not None:
            known = DebateLesson(id=lesson.id, text=text, kind=fact.kind, phase=fact.phase, source=fact.source)
            context.update(lessons_learnt=(*context.state.lessons_learnt, known))


def list_facts(context: DebateContext, winner: Candidate) -> list[LearntFact]:
    state = context.state
    facts = [
        *find_overturned(context, winner), *find_patched(state), *find_repaired(state), *find_refuted(state)
    ]  # fmt: skip
    return list({fact.text: fact for fact in reversed(facts)}.values())[::-1]


def name_topic(state: DebateState) -> str:
    """The beginning of the task, by which similar tasks find a lesson."""
    first = state.task.text.strip().split("\n")[0]
    return quote_task(first.partition(". ")[0]).rstrip(" .:")


def find_overturned(context: DebateContext, winner: Candidate) -> Iterator[LearntFact]:
    """Tests that the majority's candidate fails and the winner passes: agreed ones of seats, then given ones."""
    state = context.state
    popular = [candidate for candidate in list_popular(state) if candidate.id != winner.id]
    for claim in state.agreed:
        if any(fails_claim(context, c, claim) for c in popular) and not fails_claim(context, winner, claim):
            source = f"{claim.id} {claim.call} == {claim.expected}"
            yield _overturned(state, describe_claim(claim), phase_of(claim), source, claim.by[0])
    for candidate in popular:
        lost = [name for name in candidate.checked.failing if name not in winner.checked.failing]
        if lost and winner.checked.of:
            cases = name_some([describe_test(name) for name in lost], NAMED)
            yield _overturned(state, cases, candidate.phase, name_some(lost, NAMED))


def _overturned(state: DebateState, told: str, phase: str, source: str, seat: str = "") -> LearntFact:
    text = f"Most got this case wrong, so test it first: {told}. The task was: {name_topic(state)}."
    return LearntFact(text=text, kind="overturned", phase=phase, source=source, seat=seat)


def list_popular(state: DebateState) -> list[Candidate]:
    """What more than half of the first answers were like, and what won a vote."""
    groups = state.baseline.clusters
    names = [group[0] for group in groups if len(group) * 2 > sum(map(len, groups))]
    won = [vote.election.winner for vote in state.votes if vote.election.winner]
    return [state.candidate(name) for name in dict.fromkeys([*names, *won])]


def phase_of(claim: ClaimedTest) -> str:
    return "critique" if claim.origin == "breaking" else "self_evolvement"


def describe_test(name: str) -> str:
    """A test in general words: a call by its arguments, another by its name."""
    return describe_case(name) or name.rpartition("::")[2].removeprefix("test_").replace("_", " ")


def fails_claim(context: DebateContext, candidate: Candidate, claim: ClaimedTest) -> bool:
    ran = context.ran.get(candidate.code)
    answer = ran.answers.get(claim.call) if ran else None
    return answer is not None and not is_satisfied(example_of(claim), answer)


def describe_claim(claim: ClaimedTest) -> str:
    case = describe_case(claim.call)
    text = f"{case} must give {describe_expected(claim.expected)}" if case else "an unusual case has its own result"
    return f"{claim.requirement.rstrip('.')} ({text})" if claim.requirement else text


def find_patched(state: DebateState) -> Iterator[LearntFact]:
    """Findings that a patch of the adversarial phase removed."""
    for made in state.candidates:
        before = state.attack_on(state.candidate(made.parent)) if made.phase == "adversarial" else None
        if before is None or made.dropped:
            continue
        after = state.attack_on(made)
        left = {finding.fingerprint for finding in after.findings} if after else set[str]()
        for finding in before.findings:
            if finding.fingerprint not in left:
                text = f"{finding.description.rstrip('.')}. What mends it: {finding.fix or 'see the patch'}"
                source = f"{finding.id} {finding.rule} {finding.file}:{finding.line}"
                yield LearntFact(text=text, kind="patched", phase="adversarial", source=source, seat=made.seat)


def find_repaired(state: DebateState) -> Iterator[LearntFact]:
    """Changes after which more tests passed, in their author's words."""
    for made in state.candidates:
        if not made.parent or made.dropped or made.phase == "adversarial" or not made.text:
            continue
        before, failing = state.candidate(made.parent), list_failed_tests(state, state.candidate(made.parent))
        if failing and made.checked.rank > before.checked.rank:
            cases = name_some([describe_test(name) for name in failing], NAMED)
            mended = made.text.rstrip(".")
            text = f"A version failed this case: {cases}. What mended it: {mended}. The task was: {name_topic(state)}."
            source = f"{made.id} from {before.id}: {name_some(failing, NAMED)}"
            yield LearntFact(text=text, kind="repaired", phase=made.phase, source=source, seat=made.seat)


def list_failed_tests(state: DebateState, candidate: Candidate) -> list[str]:
    claims = [claim.call for claim in state.agreed if claim.id in candidate.checked.failed]
    return [*candidate.checked.failing, *claims]


def find_refuted(state: DebateState) -> Iterator[LearntFact]:
    """Tests whose value more seats contradicted than stated."""
    for claim in state.claims:
        if len(claim.against) > len(claim.by) and claim.status == "disputed":
            advice = f"Somebody claimed that {describe_claim(claim)}, and {len(claim.against)} others refuted it"
            text = f"{advice}: work such a value out yourself. The task was: {name_topic(state)}."
            source = f"{claim.id} {claim.call} == {claim.expected}"
            yield LearntFact(text=text, kind="refuted", phase=phase_of(claim), source=source, seat=claim.by[0])
