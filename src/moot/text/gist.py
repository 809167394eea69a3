"""The gist of a reply: the one sentence to show as progress."""

import json
import re

LONGEST = 100
TELLING = (
    "summary", "headline", "verdict", "recommendation", "position", "claim", "objection", "answer", "description",
    "explanation", "reasoning", "reasons", "reason", "rationale", "argument", "improvement", "title", "diagnosis",
    "pattern", "concern",
)  # fmt: skip
"""Fields that summarise the reply, best first."""
SENTENCE_END = re.compile(r"(?<=[.!?])\s")
PROSE = re.compile(r"""^(?![`{}\[\]#|<\-*>=]|"\w+":)\S.*\s\S""")
FENCE = re.compile(r"^\s*```.*?^\s*```\s*$", re.DOTALL | re.MULTILINE)
OBJECT = re.compile(r"[\[{]")


def find_gist(text: str) -> str:
    """One short sentence, or nothing if the reply has none."""
    for sentence in (_gist_of_json(text), _gist_of_prose(text)):
        if sentence:
            return _shorten(sentence)
    return ""


def _gist_of_json(text: str) -> str:
    begin = OBJECT.search(text)
    if begin is None:
        return ""
    try:
        value, _ = json.JSONDecoder(strict=False).raw_decode(text, begin.start())
    except (ValueError, RecursionError):
        return ""
    return next((found for name in TELLING if (found := _find_field(value, name, 3))), "")


def _find_field(value: object, name: str, depth: int) -> str:
    """The first text with that name, outer before inner."""
    if isinstance(value, dict):
        own = value.get(name)
        if isinstance(own, str) and own.strip():
            return own
        inner = list(value.values())
    else:
        inner = value if isinstance(value, list) else []
    return next((found for each in inner if (found := _find_field(each, name, depth - 1))), "") if depth else ""


def _gist_of_prose(text: str) -> str:
    lines = (line.strip() for line in FENCE.sub("", text).splitlines())
    return next((line for line in lines if PROSE.match(line)), "")


def _shorten(text: str) -> str:
    sentence = SENTENCE_END.split(" ".join(text.split()), maxsplit=1)[0]
    return sentence if len(sentence) <= LONGEST else f"{sentence[: LONGEST - 1].rstrip()}…"
