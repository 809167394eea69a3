"""Self-evolvement and proposal: everybody's own work, run and repaired before others judge it."""

from collections.abc import Sequence

from moot.evidence.trials.values import is_satisfied
from moot.protocols.debate.context import DebateContext
from moot.protocols.debate.phases.adaptive import spend_adaptively
from moot.protocols.debate.phases.claims import ask_blind, specify_tests
from moot.protocols.debate.phases.converge import stands_alone
from moot.protocols.debate.phases.deepen import deepen_proposals, may_deepen
from moot.protocols.debate.phases.drafts import draft_candidates, drafters
from moot.protocols.debate.phases.objections import objections
from moot.protocols.debate.phases.redraft import mend_slips, nothing_passes, redraft_in_turn
from moot.protocols.debate.phases.repair import repair_candidates
from moot.protocols.debate.phases.run_candidates import (
    alike_and_green,
    example_of,
    is_settled,
    list_unbeaten,
    run_candidates,
)
from moot.protocols.debate.phases.shape import give_shape
from moot.protocols.debate.phases.tool_acts import compile_candidates, execute_candidates
from moot.protocols.debate.state import DebateState, list_acting
from moot.protocols.debate.types import ClaimedTest, Member, Phase


async def self_evolvement(context: DebateContext) -> str:
    """Run drafts; if they disagree, derive tests from the task's words, and let authors repair."""
    if context.state.adaptive:
        return await spend_adaptively(context)
    said = await draft_and_repair(context)
    await hear_roles(context, "self_evolvement")
    return said


async def draft_and_repair(context: DebateContext) -> str:
    await give_shape(context, "self_evolvement")
    entered = await draft_candidates(context, "self_evolvement")
    await compile_candidates(context, "self_evolvement")
    if context.state.code and entered:
        await test_requirements(context, "self_evolvement")
    if not context.state.code or not entered or alike_and_green(context.state):
        return f"{entered} drafts"
    entered += await more_drafts(context)
    repairs = 0
    if nothing_passes(context.state):
        # A failing example of the task is the best evidence: use it before asking for tests.
        repairs = await mend_slips(context, "self_evolvement") or await redraft_in_turn(context, "self_evolvement")
    await test_requirements(context, "self_evolvement")
    if is_settled(context.state):
        return f"{entered} drafts, {repairs} repairs kept"
    if context.state.comparable and not context.state.specified:
        await specify_tests(context, "self_evolvement", list_testers(context))
        await run_candidates(context)
    for number in range(context.state.rules.refinements):
        # Asked the same again, a model repeats itself; vary after the first repair.
        warm = context.state.rules.temperature if number else None
        repairs += await repair_candidates(context, "self_evolvement", lambda c: bool(c.checked.failures), warm)
    return f"{entered} drafts, {len(context.state.agreed)} tests agreed on, {repairs} repairs kept"


async def test_requirements(context: DebateContext, phase: Phase) -> None:
    """If a debate would end early on few tests: seats that see no code write one for each requirement; what the best
    candidates fail is put to others without its value."""
    if has_few_tests(context.state):
        await specify_and_doubt(context, phase, list_testers(context))


async def specify_and_doubt(context: DebateContext, phase: Phase, speakers: Sequence[Member]) -> None:
    await specify_tests(context, phase, speakers)
    await run_candidates(context)
    doubts = [
        claim for claim in context.state.claims if claim.status == "alone" and is_broken_by_best(context.state, claim)
    ]
    authors = {seat for claim in doubts for seat in claim.by}
    there = [m for m in context.state.given.team if context.room.has_model(m.seat) and m.seat not in context.lost]
    await ask_blind(context, phase, doubts, [m for m in there if m.seat not in authors][:3] or there[:2])
    if doubts:
        await run_candidates(context)


def list_testers(context: DebateContext) -> list[Member]:
    """Seats that write tests without seeing code: test agents first, then those who draft."""
    own = [m for m in list_acting(context.state, "test_agent") if context.room.has_model(m.seat)]
    rest = [m for m in drafters(context) if m not in own]
    return [*own, *rest][: context.state.rules.voices]


async def hear_roles(context: DebateContext, phase: Phase) -> None:
    """What single roles do once there are candidates: tests by those who see none of them, checks and runs by tools."""
    state = context.state
    testers = [m for m in list_acting(state, "test_agent") if context.room.has_model(m.seat)]
    if testers and state.candidates and state.comparable and not state.specified:
        await specify_and_doubt(context, phase, testers)
    await compile_candidates(context, phase)
    await execute_candidates(context, phase)


def has_few_tests(state: DebateState) -> bool:
    """A code debate that could end now on fewer tests than the rules require."""
    few = max((candidate.checked.of for candidate in state.latest()), default=0) < state.rules.enough_tests
    open_yet = state.comparable and not state.specified
    return open_yet and few and bool(alike_and_green(state) or is_settled(state) or stands_alone(state))


def is_broken_by_best(state: DebateState, claim: ClaimedTest) -> bool:
    answers = [candidate.checked.answers.get(claim.call) for candidate in list_unbeaten(state)]
    return any(answer is not None and not is_satisfied(example_of(claim), answer) for answer in answers)


async def more_drafts(context: DebateContext) -> int:
    """One at a time while fewer than two pass alike; each is run before the next is requested."""
    entered = 0
    for more in range(1, context.state.rules.reserve + 1):
        if is_settled(context.state):
            break
        entered += await draft_candidates(context, "self_evolvement", more)
    return entered


async def proposal(context: DebateContext) -> str:
    """Ask members without a candidate for one; after a round, authors respond to criticism and results."""
    before = len(context.state.candidates)
    if context.state.round == 1 and may_deepen(context):
        return await deepen_proposals(context)
    if context.state.round == 1:
        await give_shape(context, "proposal")
        await draft_candidates(context, "proposal")
        await test_requirements(context, "proposal")
    else:
        await repair_candidates(context, "proposal", lambda c: bool(c.checked.failures or objections(context, c)))
    await hear_roles(context, "proposal")
    new = len([c for c in context.state.candidates[before:] if not c.dropped])
    return f"{len(context.state.latest())} proposals, {new} of them new"
