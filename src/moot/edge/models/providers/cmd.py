"""`cmd:claude -p`: a command that takes the prompt on stdin and answers on stdout."""

import shutil
from collections.abc import Mapping

from moot.core.ports import Model
from moot.edge.models.provider import ModelOpening, Provider

COMMANDS = ("claude", "codex", "gemini", "llm")


class CommandProvider(Provider):
    name = "cmd"
    example = "cmd:claude -p"

    def open(self, opening: ModelOpening) -> Model:
        from moot.edge.models.command import CommandModel, split_command

        words = split_command(opening.model, opening.env)
        return CommandModel(opening.name, words, opening.env, timeout=opening.timeout)

    def describe(self, env: Mapping[str, str]) -> str:
        found = [command for command in COMMANDS if shutil.which(command, path=env.get("PATH"))]
        return f"on PATH: {', '.join(found)}" if found else "any command that answers on stdout"


PROVIDER = CommandProvider()
