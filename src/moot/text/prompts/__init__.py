"""Prompts are files with named blanks; a blank left open, or a value without a blank, is an error."""

import re
from functools import lru_cache
from importlib.resources import files

BLANK = re.compile(r"\{\{(\w+)\}\}")


@lru_cache(maxsize=64)
def template(name: str) -> str:
    return files(__name__).joinpath(f"{name}.md").read_text(encoding="utf-8").strip()


def prompt(name: str, **values: str) -> str:
    """The prompt `name` with its blanks filled, in one pass: blanks inside the values are just text."""
    text = template(name)
    blanks = set(BLANK.findall(text))
    if blanks != values.keys():
        raise ValueError(f"prompt {name!r} has the blanks {sorted(blanks)}, but was given {sorted(values)}")
    return BLANK.sub(lambda blank: values[blank[1]], text)
