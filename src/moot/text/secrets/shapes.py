"""Whether a value is a secret worth masking: by its own form, or by its name or place.

A value masked by mistake makes a prompt less clear; a missed one is sent to a provider. So names decide, and common
placeholders are left alone.
"""

import functools
import math
import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from moot.core import secret_patterns as patterns

RARE = "_-JKzxSGA.Vd"
SIGNS: dict[str, list[tuple[str, str]]] = {}
"""By a rare letter of each: searching for one letter is fifty times faster than for a word."""
for form_name, form in patterns.FORMS.items():
    for form_sign in form.signs:
        rare = next(letter for letter in RARE if letter in form_sign)
        SIGNS.setdefault(rare, []).append((form_sign, form_name))
MASK = re.compile(patterns.MASK)
STAND_IN = re.compile(patterns.STAND_IN)
PLAIN_WORDS = re.compile(patterns.PLAIN_WORDS_OR_PATH)


class FoundSecret(NamedTuple):
    start: int
    end: int
    kind: str
    """The name it was found under."""


@functools.cache
def _pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?P<{name}>{patterns.FORMS[name].pattern})" for name in names))


def by_form(text: str) -> Iterator[FoundSecret]:
    letters = [letter for letter in SIGNS if letter in text]
    if perhaps := {name for letter in letters for sign, name in SIGNS[letter] if sign in text}:
        for match in _pattern(tuple(name for name in patterns.FORMS if name in perhaps)).finditer(text):
            yield FoundSecret(match.start(), match.end(), match.lastgroup or "SECRET")


def is_distinctive(value: str) -> bool:
    """Long or mixed enough to be unique: it is masked wherever it occurs."""
    letters, digits = any(c.isalpha() for c in value), any(c.isdigit() for c in value)
    signs = any(not c.isalnum() for c in value)
    return len(value) >= 16 or (len(value) >= 6 and letters and digits) or (len(value) >= 8 and letters and signs)


def is_secret(value: str, group: str = "password", *, phrase: bool = False) -> bool:
    """Whether a value under such a name is worth masking."""
    if len(value) < 4 or MASK.search(value) or STAND_IN.search(value) or value.lower() in patterns.COMMON:
        return False
    if is_alphabet(value):
        return False
    if re.search(r"\s", value.strip()) and not phrase:
        return False
    if re.match(r"(?:https?:/|\.{0,2}/|~/|[\w.+-]+://[^:@]*$)", value):
        return False
    if re.search(r"(?i)passw(?:or)?d", value) and not re.search(r"\d", value):
        return False  # a field's name
    if group == "password":
        return not re.search(r"[(){}\[\]<>]", value) or entropy(value) > 3
    if group == "key":
        return looks_random(value)
    if group == "token":
        mixed = re.search(r"\d", value) and re.search(r"[A-Za-z]", value)
        return bool(mixed or value.endswith("=")) and looks_random(value) and "/" not in value[:3]
    return len(value) >= 32 and value.isalnum() and looks_random(value) and entropy(value) > 4.2


def is_alphabet(value: str) -> bool:
    """The characters that something may be made of: each once, and nearly all behind the one before it."""
    steps = sum(ord(after) - ord(before) == 1 for before, after in pairwise(value))
    return len(value) >= 20 and len(set(value)) == len(value) and steps >= 0.8 * (len(value) - 1)


def looks_random(text: str) -> bool:
    text = text.strip(".,:;!?")
    mixed = bool(re.search(r"\d", text)) and bool(re.search(r"[A-Za-z]", text))
    words = PLAIN_WORDS.fullmatch(text) is not None
    return len(text) >= 6 and (
        (mixed and not words) or (len(text) >= 8 and not words) or (len(text) >= 12 and entropy(text) > 3.6)
    )


def entropy(text: str) -> float:
    return -sum(n / len(text) * math.log2(n / len(text)) for n in Counter(text).values())
