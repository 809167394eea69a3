"""A shell script as values: words with their quotes taken off, commands, redirections."""

from dataclasses import dataclass, field

HOLE = "\0"
"""Stands in a word for what only the running shell would know."""


class Unreadable(Exception):
    """The text is no shell script we understand; the message says where it stopped making sense."""


@dataclass(frozen=True, slots=True)
class Word:
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


@dataclass(slots=True)
class Document:
    """A here-document; its text comes after the line that begins it."""

    end: str
    indented: bool
    literal: bool
    body: str = ""


@dataclass(frozen=True, slots=True)
class Redirect:
    sign: str
    target: Word
    document: Document | None = None


@dataclass(frozen=True, slots=True)
class Command:
    words: tuple[Word, ...]
    settings: tuple[tuple[str, Word], ...] = ()
    redirects: tuple[Redirect, ...] = ()
    fed_by: "tuple[Command, ...]" = field(default=())
    """What stands before it in the pipe, the nearest last."""
