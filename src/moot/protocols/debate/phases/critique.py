"""Critique: points with evidence, and breaking tests, which count only if valid."""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from moot.core.findings import by_gravity
from moot.core.room import Ask
from moot.core.types import Value
from moot.evidence.trials.values import same_value
from moot.protocols.debate.context import DebateContext, note_attack
from moot.protocols.debate.phases.claims import ask_blind, form_of, judge_claim, parse_claims, pattern_of
from moot.protocols.debate.phases.order import order_points, render_points
from moot.protocols.debate.phases.run_candidates import run_candidates
from moot.protocols.debate.phases.validate import check_statements
from moot.protocols.debate.prompts import prompt
from moot.protocols.debate.state import (
    DebateState,
    brief,
    list_acting,
    list_seated,
    render_candidates,
    render_for_judge,
    system,
)
from moot.protocols.debate.types import Candidate, ClaimedTest, Member, Point
from moot.protocols.harden.attack import number_findings
from moot.protocols.solve.attempts import code_of
from moot.text.excerpts import name_some
from moot.text.replies import Aliases, Synonyms, Title

ATTACKERS = ("red_team", "security")
CRITICS = ("critic", *ATTACKERS)
REPLY_TOKENS = 900
STANCES = Synonyms((("against", "disagree"), ("object", "disagree"), ("support", "agree")), otherwise="disagree")
BREAKING = (
    "Then bring at most {most} tests that a candidate fails: `{pattern}`, with the exact value that the task "
    "demands. A test that does not follow from the task counts for nothing; if you know of none, give an empty list."
)


class Spot(Value):
    point: Annotated[str, Title(), Aliases("comment", "reason", "issue", "why")] = Field(
        min_length=1, description="what is right or wrong, in one sentence"
    )
    evidence: Annotated[str, Aliases("quote", "line", "code")] = Field(default="", description="the line it is about")
    candidate: Annotated[str, Aliases("letter", "solution", "proposal")] = Field(description="its letter")
    stance: Annotated[Literal["agree", "disagree"], STANCES, Aliases("verdict", "position")] = "disagree"


class CritiqueReply(Value):
    points: Annotated[tuple[Spot, ...], Aliases("critique", "critiques", "flaws")] = Field(
        default=(), json_schema_extra={"maxItems": 6}
    )
    tests: Annotated[tuple[str, ...], Aliases("breaking_tests", "counterexamples")] = Field(
        default=(), description="call == value, such as f(2) == 4", json_schema_extra={"maxItems": 5}
    )


async def critique(context: DebateContext) -> str:
    critics = list_critics(context)
    await scan_candidates(context)
    brought = list[ClaimedTest]()
    before = len(context.state.points)

    def take(member: Member, said: CritiqueReply) -> None:
        points = tuple(collect_points(member, said.points, context.state))
        context.update(points=(*context.state.points, *points))
        context.say(member, "critique", render_points(points))
        tests = parse_breaking_tests(member, said.tests, context.state)
        most = context.state.rules.breaking
        brought.extend(tests[:most])
        if len(tests) > most:
            unused = name_some([claim.call for claim in tests[most:]])
            context.room.degrade(f"{member.seat} brought {len(tests)} tests, at most {most} count; not run: {unused}")

    await context.ask_with_stand_ins("critique", critics, lambda m: ask_critique(m, context), take)
    ordered = f", ordered by {leader}" if (leader := await order_points(context)) else ""
    tests = await weigh_claims(context, brought)
    await check_statements(context)
    spoke = len(context.state.points) - before
    valid = sum(1 for claim in tests if claim.status == "agreed")
    return f"{spoke} points{ordered}, {len(tests)} breaking tests, {valid} of them valid"


def list_critics(context: DebateContext) -> list[Member]:
    """Not the test agent, which writes its tests without seeing code; it was a critic in the first edition."""
    if context.state.rules.edition == 1:
        return list_seated(context.state, context.room, *CRITICS, "test_agent")
    critics = list_seated(context.state, context.room, *CRITICS)
    return [member for member in critics if member.role != "test_agent"] or critics


async def scan_candidates(context: DebateContext) -> None:
    """With security in the team every candidate is scanned; what is found is before all who judge, and stays with the
    candidate."""
    for member in list_acting(context.state, "security"):
        open_ones = [c for c in context.state.latest() if c.code and context.state.attack_on(c) is None]
        found = 0
        for candidate in open_ones:
            scan = await context.room.scan(code_of(context.state.task, candidate.code))
            found += len(scan.findings)
            note_attack(context, candidate, number_findings(by_gravity(scan.findings), ()), "scan")
        if open_ones:
            context.note_act(member, "critique", f"{len(open_ones)} candidates scanned, {found} findings")


def ask_critique(member: Member, context: DebateContext) -> Ask[CritiqueReply]:
    state, room = context.state, context.room
    up = state.latest()
    most = state.rules.breaking if state.code else 0
    attacks = state.rules.edition > 1 and state.code and member.role in ATTACKERS
    text = prompt(
        "attack" if attacks else "critique",
        task=brief(state),
        candidates=render_candidates(up, state, room),
        notes=render_for_judge(state, member.seat),
        heard=context.render_heard(member),
        breaking=BREAKING.format(most=most, pattern=pattern_of(state))
        if most
        else "Bring no tests: give an empty list of them.",
        form=form_of(CritiqueReply, state),
    )
    return Ask(member.seat, "critique", state.round, system(member), text, CritiqueReply, REPLY_TOKENS)


def collect_points(member: Member, spots: Sequence[Spot], state: DebateState) -> list[Point]:
    """Points about existing candidates; a quote that matches none of its lines is not evidence."""
    found = []
    for spot in spots:
        letter = find_candidate(spot.candidate, state.latest())
        if letter is None:
            continue
        body = state.candidate(letter).code or state.candidate(letter).text
        quoted = spot.evidence.strip().strip("`")
        evidence = quoted if quoted and quoted in body else ""
        point = Point(
            seat=member.seat,
            round=state.round,
            candidate=letter,
            stance=spot.stance,
            point=spot.point,
            evidence=evidence,
        )
        found.append(point)
    return found


def find_candidate(text: str, candidates: Sequence[Candidate]) -> str | None:
    """The candidate a word means: its letter, alone or after `Candidate`."""
    word = text.strip().strip("*`\"'.:()[]").upper().removeprefix("CANDIDATE").strip(" :.-")
    return next((candidate.id for candidate in candidates if candidate.id == word), None)


def parse_breaking_tests(member: Member, lines: Sequence[str], state: DebateState) -> list[ClaimedTest]:
    if not state.comparable:
        return []
    found = parse_claims(lines, state)
    return [ClaimedTest(id="", call=e.call, expected=e.expected, by=(member.seat,), origin="breaking") for e in found]


async def weigh_claims(context: DebateContext, brought: Sequence[ClaimedTest]) -> list[ClaimedTest]:
    """Run breaking tests, and put their calls to seats that did not write them, which must find the value
    themselves."""
    before = context.state.agreed
    new = enter_claims(context, brought)
    if context.state.agreed != before:
        await run_candidates(context)
    open_ones = [claim for claim in context.state.claims if claim.id in new and claim.status == "alone"]
    if open_ones:
        await run_candidates(context)
        disputed = [claim for claim in open_ones if divides_candidates(context.state, claim)]
        authors = {seat for claim in disputed for seat in claim.by}
        others = list_seated(context.state, context.room, "validator", "test_agent", "judge", "proposer")
        there = [m for m in others if m.seat not in context.lost]
        blind = [m for m in there if m.seat not in authors][:3] or there[:2]
        await ask_blind(context, "critique", disputed, blind)
        await run_candidates(context)
    return [claim for claim in context.state.claims if claim.id in new]


def enter_claims(context: DebateContext, brought: Sequence[ClaimedTest]) -> set[str]:
    """Add new claims, each call once; a seat that repeats another's claim supports it."""
    state = context.state
    examples = {example.call: example for example in state.examples}
    claims = {claim.call: claim for claim in state.claims}
    new = set[str]()
    for claim in brought:
        old = claims.get(claim.call)
        if claim.call in examples:
            continue
        if old is None:
            name = f"T{len(claims) + 1}"
            claims[claim.call] = claim.model_copy(update={"id": name, "why": "only one seat says so"})
            new.add(name)
        elif same_value(old.expected, claim.expected) and claim.by[0] not in old.by:
            # Critics may have read each other; tests written without seeing code need no further asking.
            both = old.model_copy(update={"by": (*old.by, *claim.by)})
            claims[claim.call] = judge_claim(both) if old.origin == "specification" else both
    context.update(claims=tuple(claims.values()))
    return new


def divides_candidates(state: DebateState, claim: ClaimedTest) -> bool:
    """Whether the candidates answer this call differently: only then is the right answer worth asking for."""
    answers = [candidate.checked.answers.get(claim.call) for candidate in state.latest()]
    return len({answer.mark for answer in answers if answer is not None}) > 1
