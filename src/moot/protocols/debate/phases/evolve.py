"""Self-evolvement and proposal: everybody's own work, run and repaired before others judge it."""

from moot.evidence.trials.values import is_satisfied
from moot.protocols.debate.context import DebateContext
from moot.protocols.debate.phases.claims import ask_blind, specify_tests
from moot.protocols.debate.phases.converge import stands_alone
from moot.protocols.debate.phases.drafts import draft_candidates, drafters
from moot.protocols.debate.phases.redraft import mend_slips, nothing_passes, redraft_in_turn
from moot.protocols.debate.phases.repair import objections, repair_candidates
from moot.protocols.debate.phases.run_candidates import (
    alike_and_green,
    example_of,
    is_settled,
    list_unbeaten,
    run_candidates,
)
from moot.protocols.debate.state import DebateState
from moot.protocols.debate.types import ClaimedTest, Phase


async def self_evolvement(sitting: DebateContext) -> str:
    """Run drafts; if they disagree, derive tests from the task's words, and let authors repair."""
    entered = await draft_candidates(sitting, "self_evolvement")
    if sitting.table.code and entered:
        await test_requirements(sitting, "self_evolvement")
    if not sitting.table.code or not entered or alike_and_green(sitting.table):
        return f"{entered} drafts"
    entered += await more_drafts(sitting)
    repairs = 0
    if nothing_passes(sitting.table):
        # A failing example of the task is the best evidence: use it before asking for tests.
        repairs = await mend_slips(sitting, "self_evolvement") or await redraft_in_turn(sitting, "self_evolvement")
    await test_requirements(sitting, "self_evolvement")
    if is_settled(sitting.table):
        return f"{entered} drafts, {repairs} repairs kept"
    if sitting.table.given.language == "python" and not sitting.table.specified:
        await specify_tests(sitting, "self_evolvement", drafters(sitting)[: sitting.table.rules.voices])
        await run_candidates(sitting)
    for number in range(sitting.table.rules.refinements):
        # Asked the same again, a model repeats itself; vary after the first repair.
        warm = sitting.table.rules.temperature if number else None
        repairs += await repair_candidates(sitting, "self_evolvement", lambda c: bool(c.checked.failures), warm)
    return f"{entered} drafts, {len(sitting.table.agreed)} tests agreed on, {repairs} repairs kept"


async def test_requirements(sitting: DebateContext, phase: Phase) -> None:
    """If a debate would end early on few tests: seats that see no code write one for each requirement; what the best
    candidates fail is put to others without its value."""
    if not has_few_tests(sitting.table):
        return
    await specify_tests(sitting, phase, drafters(sitting)[: sitting.table.rules.voices])
    await run_candidates(sitting)
    doubts = [
        claim for claim in sitting.table.claims if claim.status == "alone" and is_broken_by_best(sitting.table, claim)
    ]
    authors = {seat for claim in doubts for seat in claim.by}
    there = [m for m in sitting.table.given.team if sitting.room.has_model(m.seat) and m.seat not in sitting.lost]
    await ask_blind(sitting, phase, doubts, [m for m in there if m.seat not in authors][:3] or there[:2])
    if doubts:
        await run_candidates(sitting)


def has_few_tests(table: DebateState) -> bool:
    """A code debate that could end now on fewer tests than the rules require."""
    few = max((candidate.checked.of for candidate in table.latest()), default=0) < table.rules.enough_tests
    open_yet = table.code and table.given.language == "python" and not table.specified
    return open_yet and few and bool(alike_and_green(table) or is_settled(table) or stands_alone(table))


def is_broken_by_best(table: DebateState, claim: ClaimedTest) -> bool:
    answers = [candidate.checked.answers.get(claim.call) for candidate in list_unbeaten(table)]
    return any(answer is not None and not is_satisfied(example_of(claim), answer) for answer in answers)


async def more_drafts(sitting: DebateContext) -> int:
    """One at a time while fewer than two pass alike; each is run before the next is requested."""
    entered = 0
    for more in range(1, sitting.table.rules.reserve + 1):
        if is_settled(sitting.table):
            break
        entered += await draft_candidates(sitting, "self_evolvement", more)
    return entered


async def proposal(sitting: DebateContext) -> str:
    """Ask members without a candidate for one; after a round, authors respond to criticism and results."""
    before = len(sitting.table.candidates)
    if sitting.table.round == 1:
        await draft_candidates(sitting, "proposal")
        await test_requirements(sitting, "proposal")
    else:
        await repair_candidates(sitting, "proposal", lambda c: bool(c.checked.failures or objections(sitting, c)))
    new = len([c for c in sitting.table.candidates[before:] if not c.dropped])
    return f"{len(sitting.table.latest())} proposals, {new} of them new"
