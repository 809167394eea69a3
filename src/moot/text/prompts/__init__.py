"""Prompts are files with named blanks; a blank left open, or a value without a blank, is an error.

A protocol keeps its own beside its script: `prompts/*.md`, with `prompt = Prompts(__name__).fill` in
`prompts/__init__.py`. The files here are those of no protocol: what a seat is told of its tools.
"""

import re
from functools import lru_cache
from importlib.resources import files

BLANK = re.compile(r"\{\{(\w+)\}\}")


class Prompts:
    """The prompts of one package: its files `*.md`."""

    def __init__(self, package: str) -> None:
        self._package = package

    def fill(self, name: str, /, **values: str) -> str:
        """The prompt `name` with its blanks filled, in one pass: blanks inside the values are just text."""
        text = read_template(self._package, name)
        blanks = set(BLANK.findall(text))
        if blanks != values.keys():
            raise ValueError(f"prompt {name!r} has the blanks {sorted(blanks)}, but was given {sorted(values)}")
        return BLANK.sub(lambda blank: values[blank[1]], text)


@lru_cache(maxsize=128)
def read_template(package: str, name: str) -> str:
    return files(package).joinpath(f"{name}.md").read_text(encoding="utf-8").strip()
