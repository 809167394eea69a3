"""A shell script as values: unquoted words, commands, redirections."""

from typing import NamedTuple

HOLE = "\0"
"""Stands in a word for what only the running shell knows."""


class UnreadableScript(Exception):
    """Not a shell script we can parse; the message says where parsing failed."""


class Word(NamedTuple):
    text: str
    glob: bool = False
    quoted: bool = False
    spelled: bool = False
    """Obfuscated by escapes such as `\x72`."""
    names: tuple[str, ...] = ()

    @property
    def known(self) -> bool:
        return HOLE not in self.text


class Document:
    """A here-document; its text follows the line that begins it."""

    __slots__ = ("body", "end", "indented", "literal")

    def __init__(self, end: str, *, indented: bool, literal: bool) -> None:
        self.end, self.indented, self.literal, self.body = end, indented, literal, ""


class Redirect(NamedTuple):
    sign: str
    target: Word
    document: Document | None = None


class Command(NamedTuple):
    words: tuple[Word, ...]
    settings: tuple[tuple[str, Word], ...] = ()
    redirects: tuple[Redirect, ...] = ()
    fed_by: "tuple[Command, ...]" = ()
    """The commands before it in the pipe, nearest last."""
    folder: str = ""
    """Its folder relative to the script's; empty if the same."""
