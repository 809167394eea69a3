"""`script:replies.yaml`: replies from a file."""

from collections.abc import Mapping
from pathlib import Path

from moot.core.ports import Model
from moot.edge.models.provider import ModelOpening, Provider


class ScriptProvider(Provider):
    name = "script"
    example = "script:replies.yaml"
    in_order = True

    def open(self, opening: ModelOpening) -> Model:
        from moot.edge.models.script import ScriptModel, read_script

        path = Path(opening.model).expanduser()
        return ScriptModel(opening.name, str(path), read_script(path))

    def describe(self, env: Mapping[str, str]) -> str:
        return "replies from a YAML file"


PROVIDER = ScriptProvider()
