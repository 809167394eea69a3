"""How a command inside another one is judged."""

from collections.abc import Callable
from typing import NamedTuple

from moot.routing.answer import Sight
from moot.routing.script import Command, Word

Judge = Callable[[str], list[Sight]]
"""Judges a text as a shell would parse it."""


class Inside(NamedTuple):
    text: Judge
    words: Callable[[tuple[Word, ...]], list[Sight]]
    """Judges a command that is already split into words."""
    command: Command
    """The enclosing command: its input and its folder."""
