"""The eight phases of a debate, each one function from the sitting to one line of what it did."""

from collections.abc import Awaitable, Callable, Mapping

from moot.protocols.debated import Phase
from moot.protocols.phases.adversarial import adversarial
from moot.protocols.phases.clarify import dehallucination
from moot.protocols.phases.converge import convergence
from moot.protocols.phases.critique import critique
from moot.protocols.phases.evolve import proposal, self_evolvement
from moot.protocols.phases.optimize import optimization
from moot.protocols.phases.review import review
from moot.protocols.phases.sitting import Sitting

SCRIPTS: Mapping[Phase, Callable[[Sitting], Awaitable[str]]] = {
    "dehallucination": dehallucination,
    "self_evolvement": self_evolvement,
    "proposal": proposal,
    "critique": critique,
    "review": review,
    "optimization": optimization,
    "adversarial": adversarial,
    "convergence": convergence,
}
