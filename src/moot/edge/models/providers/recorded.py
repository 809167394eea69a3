"""`recorded:qwen`: replies that a model once gave, replayed from a pool of drafts and tests."""

from collections.abc import Mapping

from moot.core.ports import Model
from moot.edge.models.provider import ModelOpening, Provider


class RecordedProvider(Provider):
    name = "recorded"
    example = "recorded:qwen"
    in_order = True

    def open(self, opening: ModelOpening) -> Model:
        from moot.edge.models.pools import open_pool
        from moot.edge.models.recorded import RecordedModel

        return RecordedModel(opening.name, open_pool(opening.model, opening.env))

    def describe(self, env: Mapping[str, str]) -> str:
        from moot.edge.models.pools import list_pools

        return f"pools: {', '.join(list_pools(env))}, or a file"


PROVIDER = RecordedProvider()
