"""A shell script as values: words with their quotes taken off, commands, redirections."""

from typing import NamedTuple

HOLE = "\0"
"""Stands in a word for what only the running shell would know."""


class UnreadableScript(Exception):
    """The text is no shell script we understand; the message says where it stopped making sense."""


class Word(NamedTuple):
    text: str
    glob: bool = False
    quoted: bool = False
    spelled: bool = False
    """Written in escapes such as `\\x72` that hide it from readers."""
    names: tuple[str, ...] = ()
    """Variables in it."""

    @property
    def known(self) -> bool:
        return HOLE not in self.text


class Document:
    """A here-document; its text comes after the line that begins it."""

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
    """What stands before it in the pipe, the nearest last."""
    folder: str = ""
    """Where it runs, seen from where the script began; empty for there."""
