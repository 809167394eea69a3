"""`local:weights.gguf`: weights in a file, run in this process."""

from collections.abc import Mapping

from moot.core.errors import UsageError
from moot.core.ports import Model
from moot.edge.models.provider import ModelOpening, Provider


class LocalProvider(Provider):
    name = "local"
    example = "local:weights.gguf"
    extra = "local"

    def open(self, opening: ModelOpening) -> Model:
        from moot.edge.models.local import LocalModel, find_weights

        weights = find_weights(opening.model)
        return LocalModel(opening.name, weights, timeout=opening.timeout, temperature=opening.temperature)

    def describe(self, env: Mapping[str, str]) -> str:
        from moot.edge.models.local import INSTALL, is_installed

        if not is_installed():
            raise UsageError(f"not installed: {INSTALL}")
        return "weights in a GGUF file"


PROVIDER = LocalProvider()
