"""Calls and values in the words of each language: read from tasks and replies, and written back.

Values become plain data, so that calls can be varied and results compared in one way. Imports core and scan. Read
notation.py first.
"""

from functools import cache

from moot.core.types import Language
from moot.evidence.trials.notations.go import GoNotation
from moot.evidence.trials.notations.javascript import JavaScriptNotation, TypeScriptNotation
from moot.evidence.trials.notations.notation import Notation
from moot.evidence.trials.notations.python import PythonNotation


@cache
def notation_of(language: Language) -> Notation:
    known: dict[Language, Notation] = {
        "python": PythonNotation(),
        "javascript": JavaScriptNotation(),
        "typescript": TypeScriptNotation(),
        "go": GoNotation(),
    }
    return known[language]


def read_foreign_value(text: str) -> object:
    """A value written by JavaScript or Go, whichever it is; raises `ValueError`."""
    try:
        return notation_of("javascript").read_value(text)
    except ValueError:
        return notation_of("go").read_value(text)
