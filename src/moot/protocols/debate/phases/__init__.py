"""The eight phases of a debate: each a function from the context to one line about what it did."""

from collections.abc import Awaitable, Callable, Mapping

from moot.protocols.debate.context import DebateContext
from moot.protocols.debate.phases.adversarial import adversarial
from moot.protocols.debate.phases.clarify import dehallucination
from moot.protocols.debate.phases.converge import convergence
from moot.protocols.debate.phases.critique import critique
from moot.protocols.debate.phases.evolve import proposal, self_evolvement
from moot.protocols.debate.phases.optimize import optimization
from moot.protocols.debate.phases.refactor import refactor_leader
from moot.protocols.debate.phases.review import review
from moot.protocols.debate.types import Phase


async def optimize_and_refactor(context: DebateContext) -> str:
    said = await optimization(context)
    return "; ".join(filter(None, (said, await refactor_leader(context))))


SCRIPTS: Mapping[Phase, Callable[[DebateContext], Awaitable[str]]] = {
    "dehallucination": dehallucination,
    "self_evolvement": self_evolvement,
    "proposal": proposal,
    "critique": critique,
    "review": review,
    "optimization": optimize_and_refactor,
    "adversarial": adversarial,
    "convergence": convergence,
}
