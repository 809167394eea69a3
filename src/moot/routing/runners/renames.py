"""Programs under another name: an alias, copy or link that the same command line makes."""

from posixpath import basename

from moot.routing.patterns import Lazy
from moot.routing.script import Command, UnreadableScript, Word
from moot.routing.shell import parse

PROGRAM = Lazy(r"(?:/usr)?(?:/local)?/s?bin/[\w.+-]+")


def resolve_renames(commands: tuple[Command, ...]) -> list[Command]:
    """The commands that use such a name, with the real name."""
    meant: dict[str, tuple[Word, ...]] = {}
    found = []
    for command in commands:
        if not command.words:
            continue
        name, texts = basename(command.words[0].text), [word.text for word in command.words[1:]]
        if name in meant:
            found.append(command._replace(words=(*meant[name], *command.words[1:])))
        if name == "alias":
            meant.update((key, _words(body)) for key, _, body in (text.partition("=") for text in texts) if body)
        elif name in ("cp", "ln", "install", "mv") and len(texts) > 1 and PROGRAM.fullmatch(texts[-2]):
            meant[basename(texts[-1])] = (Word(texts[-2]),)
    return found


def _words(body: str) -> tuple[Word, ...]:
    try:
        return parse(body)[-1].words
    except (UnreadableScript, IndexError):
        return (Word(body),)
