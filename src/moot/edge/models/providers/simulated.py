"""`simulated:accuracy=0.6,correlation=0.3,sycophancy=0.2,seed=1`: an agent that draws its answers, to test votes."""

from collections.abc import Mapping

from moot.core.ports import Model
from moot.edge.models.provider import ModelOpening, Provider


class SimulatedProvider(Provider):
    name = "simulated"
    example = "simulated:accuracy=0.6,correlation=0.3"

    def open(self, opening: ModelOpening) -> Model:
        from moot.edge.models.simulated import SimulatedModel, parse_population

        return SimulatedModel(opening.name, parse_population(opening.model))

    def describe(self, env: Mapping[str, str]) -> str:
        return "answers drawn with a given accuracy, for simulated questions only"


PROVIDER = SimulatedProvider()
