"""Self-evolvement and proposal: everybody's own work, run and repaired before others judge it."""

from moot.protocols.phases.anew import anew, mended_slips, nothing_passes
from moot.protocols.phases.claims import specified
from moot.protocols.phases.drafts import drafted, drafters
from moot.protocols.phases.examined import alike_and_green, examined, settled
from moot.protocols.phases.mending import objections, repaired
from moot.protocols.phases.sitting import Sitting


async def self_evolvement(sitting: Sitting) -> str:
    """Drafts, run; where they do not agree, tests from the words of the task, and repairs by their own authors."""
    entered = await drafted(sitting, "self_evolvement")
    if not sitting.table.code or not entered or alike_and_green(sitting.table):
        return f"{entered} drafts"
    entered += await more_drafts(sitting)
    repairs = 0
    if nothing_passes(sitting.table):
        # An example of the task that fails is the best evidence there is: it comes before anybody thinks of tests.
        repairs = await mended_slips(sitting, "self_evolvement") or await anew(sitting, "self_evolvement")
    if settled(sitting.table):
        return f"{entered} drafts, {repairs} repairs kept"
    if sitting.table.given.language == "python":
        await specified(sitting, "self_evolvement", drafters(sitting)[: sitting.table.rules.voices])
        await examined(sitting)
    for number in range(sitting.table.rules.refinements):
        # Asked the same again, a model says the same again: after the first repair it should not.
        warm = sitting.table.rules.temperature if number else None
        repairs += await repaired(sitting, "self_evolvement", lambda c: bool(c.checked.failures), warm)
    return f"{entered} drafts, {len(sitting.table.agreed)} tests agreed on, {repairs} repairs kept"


async def more_drafts(sitting: Sitting) -> int:
    """One at a time, as long as fewer than two pass alike: each is run before the next is asked for."""
    entered = 0
    for more in range(1, sitting.table.rules.reserve + 1):
        if settled(sitting.table):
            break
        entered += await drafted(sitting, "self_evolvement", more)
    return entered


async def proposal(sitting: Sitting) -> str:
    """Who has no candidate yet is asked for one; after a round, authors answer what was said and shown of theirs."""
    before = len(sitting.table.candidates)
    if sitting.table.round == 1:
        await drafted(sitting, "proposal")
    else:
        await repaired(sitting, "proposal", lambda c: bool(c.checked.failures or objections(sitting, c)))
    new = len([c for c in sitting.table.candidates[before:] if not c.dropped])
    return f"{len(sitting.table.latest())} proposals, {new} of them new"
