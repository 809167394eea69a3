"""Convergence: ranked ballots with reasons among candidates that tests do not separate; dissent is kept."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any

from pydantic import AfterValidator, Field, create_model

from moot.core.room import Ask
from moot.core.types import Unit, Value
from moot.protocols.debate.context import DebateContext
from moot.protocols.debate.phases.ballots import WeighedBallot, read_voter_records, weigh_ballot
from moot.protocols.debate.phases.critique import divides_candidates
from moot.protocols.debate.phases.review import by_score
from moot.protocols.debate.phases.run_candidates import alike_and_green, list_leaders, run_candidates
from moot.protocols.debate.prompts import prompt
from moot.protocols.debate.state import DebateState, brief, render_candidates, render_for_judge, system
from moot.protocols.debate.types import Candidate, ClaimedTest, Conflict, Consensus, Member, Vote
from moot.teams.voting import RankedBallot, VoteRules, elect
from moot.text.excerpts import name_some
from moot.text.replies import Aliases, instructions

REPLY_TOKENS = 600
MOST_ASKED = 3
"""Questions to a person in one round."""
WORD = re.compile(r"\w{4,}")
LETTERS = re.compile(r"\W*(?:\d+[.):]\s*)?(?:[A-Za-z]\d*\b\W*)+")
FIRST = re.compile(r"\W*(?:\d+[.):]\s*)?([A-Za-z]\d*)\b\s*[^\w\s']")


class BallotReply(Value):
    reasons: str = ""
    ranking: tuple[str, ...] = ()
    confidence: Unit | None = None


async def convergence(context: DebateContext) -> str:
    await ask_person(context)
    up = eligible(context.state)
    weighed, reasons = list[WeighedBallot](), dict[str, str]()
    voters = [m for m in context.state.given.team if context.room.has_model(m.seat)]

    def take(member: Member, said: BallotReply) -> None:
        ranking = tuple((letter,) for letter in dict.fromkeys(said.ranking))
        weighed.append(weigh_ballot(ranking, said.confidence, member, voters, context.state))
        reasons[member.seat] = said.reasons
        context.say(member, "convergence", said.reasons)

    if len(up) > 1:
        await read_voter_records(context, voters)
        await context.in_turn("convergence", voters, lambda m: ask_ballot(m, up, context), take)
    leader = context.arrangement.leader("convergence")
    vote = count_votes(context.state, up, [each.ballot for each in weighed], reasons, len(voters), leader)
    vote = vote.model_copy(update={"weights": tuple(each.weight for each in weighed if each.weight)})
    context.update(votes=(*context.state.votes, vote))
    if not up:
        return "nothing to choose from"
    if len(up) == 1:
        return f"{up[0].id} stands alone: no other passes as much"
    how = f"by {vote.election.method}, consensus {vote.consensus.level:.2f}"
    return f"{vote.election.winner or 'nobody'} of {len(up)} {how}"


def eligible(state: DebateState) -> list[Candidate]:
    """Tests decide before votes: a candidate eliminated by tests is not on the ballot."""
    up = list_leaders(state) if state.code else list(state.latest())
    return by_score(up, state)


def list_left_out(state: DebateState, up: Sequence[Candidate]) -> dict[str, str]:
    on_it = {candidate.id for candidate in up}
    heirs = {candidate.parent: candidate.id for candidate in state.candidates if not candidate.dropped}
    best = max((candidate.checked.rank for candidate in up), default=None)
    why = dict[str, str]()
    for one in state.candidates:
        if one.id not in on_it:
            fewer = one.checked.rank != best
            tests = "passes fewer tests" if fewer else "passes as many tests, but fewer others behave like it"
            why[one.id] = one.dropped or (f"replaced by {heirs[one.id]}" if one.id in heirs else tests)
    return why


def winner_of(state: DebateState) -> Candidate | None:
    """By ballots if they were decisive, else by tests, score and order of entry."""
    if not state.latest():
        return None
    up = eligible(state)
    if vote := find_deciding_vote(state):
        return next(candidate for candidate in up if candidate.id == latest_replacement(state, vote.election.winner))
    if alike := alike_and_green(state):
        hardened = [candidate for candidate in alike if candidate.stands_for_parent]
        same = [candidate for candidate in alike if candidate.id == state.baseline.candidate]
        return (*hardened, *same, *alike)[0]
    if lacks_vote(state):
        return None
    return up[0] if up else None


def find_deciding_vote(state: DebateState) -> Vote | None:
    """The last vote whose winner, or its replacement, is still a candidate."""
    up = {candidate.id for candidate in eligible(state)}
    return next((vote for vote in reversed(state.votes) if latest_replacement(state, vote.election.winner) in up), None)


def latest_replacement(state: DebateState, name: str | None) -> str | None:
    made = next((c for c in state.candidates if c.parent == name and name and not c.dropped), None)
    return latest_replacement(state, made.id) if made else name


def lacks_vote(state: DebateState) -> bool:
    """Positions cannot be run; without a vote nothing ranks them."""
    vote = state.votes[-1] if state.votes else None
    return not state.code and vote is not None and len(vote.candidates) > 1 and not vote.ballots


def stands_alone(state: DebateState) -> bool:
    """One candidate passes every given test and agreed claim, and no other passes as much."""
    up = eligible(state) if state.code else []
    return len(up) == 1 and up[0].checked.green and not up[0].checked.failures


def ask_ballot(member: Member, up: Sequence[Candidate], context: DebateContext) -> Ask[BallotReply]:
    state = context.state
    letters = tuple(candidate.id for candidate in up)
    shape = ballot_shape(letters)
    text = prompt(
        "ballot",
        task=brief(state),
        candidates=render_candidates(up, state, context.room),
        notes=render_for_judge(state, member.seat),
        heard=context.render_heard(member),
        left_out=_not_listed(list_left_out(state, up)),
        letters=", ".join(letters),
        form=instructions(shape),
    )
    return Ask(member.seat, "convergence", state.round, system(member), text, shape, REPLY_TOKENS)


def _not_listed(why: Mapping[str, str]) -> str:
    reasons = "; ".join(f"{name} ({reason})" for name, reason in why.items())
    return f"Not on the ballot: {reasons}.\n\n" if why else ""


@lru_cache(maxsize=64)
def ballot_shape(letters: tuple[str, ...]) -> type[BallotReply]:
    """A ballot whose ranking contains only these letters, and at least one."""

    def normalise_ranking(ranking: tuple[str, ...]) -> tuple[str, ...]:
        words = [word.upper() for entry in ranking for word in find_letters(entry)]
        found = tuple(dict.fromkeys(word for word in words if word in letters))
        if not found:
            raise ValueError(f"rank these letters: {', '.join(letters)}")
        return found

    fields: dict[str, Any] = {
        "reasons": (
            Annotated[str, Aliases("reason", "reasoning", "why")],
            Field(default="", description="why, in two sentences"),
        ),
        "ranking": (
            Annotated[tuple[str, ...], AfterValidator(normalise_ranking), Aliases("vote", "ballot", "order", "ranked")],
            Field(description="a letter, the best first", json_schema_extra={"maxItems": len(letters)}),
        ),
        "confidence": (Unit | None, Field(default=None, description="from 0 to 1, how sure you are")),
    }
    return create_model("BallotReply", __base__=BallotReply, **fields)


def find_letters(entry: str) -> list[str]:
    """The letters of `A`, `2. Candidate B`, `A > B` or `A: it passes`; prose such as `I abstain` has none."""
    bare = re.sub(r"(?i)\b(?:candidate|solution|option|proposal)\b", " ", entry)
    if LETTERS.fullmatch(bare):
        return re.findall(r"[A-Za-z]\d*", bare)
    first = FIRST.match(bare)
    return [first[1]] if first else []


def count_votes(
    state: DebateState,
    up: Sequence[Candidate],
    ballots: Sequence[RankedBallot],
    reasons: dict[str, str],
    voters: int,
    leader: str,
) -> Vote:
    rules = VoteRules(method=state.rules.voting, tie_break=state.rules.tie_break, leader=leader)
    election = elect([candidate.id for candidate in up], ballots, rules)
    return Vote(
        round=state.round,
        candidates=tuple(candidate.id for candidate in up),
        left_out=list_left_out(state, up),
        ballots=tuple(ballots),
        reasons=reasons,
        election=election,
        consensus=consensus(ballots, list(reasons.values()), voters),
        conflict=conflict(state, up),
    )


def consensus(ballots: Sequence[RankedBallot], texts: Sequence[str], voters: int) -> Consensus:
    """0.4 mean confidence, 0.4 agreement of ballots, 0.2 common terms; without ballots no consensus.

    A voter without a ballot agrees with nobody: one vote of five is not a consensus.
    """
    if not ballots:
        return Consensus()
    sure = sum(ballot.sure for ballot in ballots) / voters
    firsts = [ballot.ranking[0][0] for ballot in ballots if ballot.ranking]
    agreement = max((firsts.count(first) for first in firsts), default=0) / voters
    overlap = terms_in_common(texts) * len(ballots) / voters
    level = 0.4 * sure + 0.4 * agreement + 0.2 * overlap
    return Consensus(
        level=round(level, 4), confidence=round(sure, 4), agreement=round(agreement, 4), overlap=round(overlap, 4)
    )


def terms_in_common(texts: Sequence[str]) -> float:
    sets = [set(WORD.findall(text.lower())) for text in texts]
    every = set().union(*sets) if sets else set[str]()
    if len(sets) < 2 or not every:
        return 1.0 if every else 0.0
    return sum(sum(term in one for one in sets) > 1 for term in every) / len(every)


def conflict(state: DebateState, up: Sequence[Candidate]) -> Conflict | None:
    """What they disagree about: the task's demands, the code's behaviour, or only its style."""
    if len(up) < 2:
        return None
    if len({candidate.checked.marks for candidate in up}) == 1 or not state.code:
        return "design"
    return "requirement" if find_disputed(state) else "correctness"


def find_disputed(state: DebateState) -> list[ClaimedTest]:
    """Calls on which candidates differ and seats disagree."""
    return [claim for claim in state.claims if claim.status == "disputed" and divides_candidates(state, claim)]


async def ask_person(context: DebateContext) -> None:
    """A person settles a dispute about the task's demands; without one it stays open."""
    every = find_disputed(context.state)
    open_ones = every[:MOST_ASKED]
    if not open_ones:
        return
    questions = [f"What must {claim.call} return? Seats say different things of it." for claim in open_ones]
    said = await context.room.inquire(questions)
    if any(said) and len(every) > MOST_ASKED:
        unasked = name_some([claim.call for claim in every[MOST_ASKED:]])
        context.room.degrade(f"you were asked {MOST_ASKED} of {len(every)} questions; still disputed: {unasked}")
    settled = {
        claim.id: claim.model_copy(
            update={"expected": answer, "by": ("person",), "against": (), "status": "agreed", "why": "you said so"}
        )
        for claim, answer in zip(open_ones, said, strict=True)
        if answer
    }
    if settled:
        context.update(claims=tuple(settled.get(claim.id, claim) for claim in context.state.claims))
        await run_candidates(context)
