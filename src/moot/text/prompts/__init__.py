"""Prompts are files with named blanks; an unfilled blank, or a value without a blank, is an error.

A protocol keeps its own beside its script: `prompts/*.md`, with `prompt = Prompts(__name__).fill` in
`prompts/__init__.py`. The files here belong to no protocol: they explain tools to a seat.
Our own instead of a template engine: one pass, so that blanks inside values stay text.
"""

import re
from functools import lru_cache
from importlib.resources import files

BLANK = re.compile(r"\{\{(\w+)\}\}")


class Prompts:
    """The prompts of one package: its `*.md` files."""

    def __init__(self, package: str) -> None:
        self._package = package

    def fill(self, name: str, /, **values: str) -> str:
        """Fill the blanks of prompt `name` in one pass: blanks inside values stay text."""
        text = read_template(self._package, name)
        blanks = set(BLANK.findall(text))
        if blanks != values.keys():
            raise ValueError(f"prompt {name!r} has the blanks {sorted(blanks)}, but was given {sorted(values)}")
        return BLANK.sub(lambda blank: values[blank[1]], text)


@lru_cache(maxsize=128)
def read_template(package: str, name: str) -> str:
    return files(package).joinpath(f"{name}.md").read_text(encoding="utf-8").strip()
