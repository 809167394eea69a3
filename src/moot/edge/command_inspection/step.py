"""A program about to run, with what is needed to follow it."""

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from moot.edge.command_inspection.parser import render_words
from moot.routing.script import Command, Word

if TYPE_CHECKING:
    from moot.edge.command_inspection.inspector import Look


class CommandStep(NamedTuple):
    look: "Look"
    name: str
    words: tuple[Word, ...]
    command: Command
    folder: Path | None
    depth: int

    @property
    def said(self) -> str:
        return render_words(self.words)

    @property
    def args(self) -> tuple[Word, ...]:
        return self.words[1:]

    @property
    def texts(self) -> list[str]:
        return [word.text for word in self.words[1:]]

    def carry(self, words: tuple[Word, ...], folder: Path | None) -> None:
        if words:
            self.look.run(words, self.command, folder, self.depth + 1)

    def script(self, word: Word, kind: str, arguments: list[str] | None = None) -> None:
        path = self.look.find(self.said, word, self.folder)
        if path is not None:
            self.look.run_script(self.said, path, kind, self.folder, self.depth, arguments or [])
