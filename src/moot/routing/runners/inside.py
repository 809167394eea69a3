"""How a command that stands inside another one is judged."""

from collections.abc import Callable
from typing import NamedTuple

from moot.routing.answer import Sight
from moot.routing.script import Command, Word

Judge = Callable[[str], list[Sight]]
"""Judges a text as a shell would read it."""


class Inside(NamedTuple):
    text: Judge
    words: Callable[[tuple[Word, ...]], list[Sight]]
    """Judges a command that is in words already."""
    command: Command
    """The command around it: what feeds it, and where it runs."""
