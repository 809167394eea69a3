"""Calls made from a function's signature and doctests, so that drafts can be compared without any example."""

import ast
import re
from collections.abc import Sequence
from itertools import islice

from moot.core.types import Language
from moot.evidence.trials.examples import examples_in
from moot.evidence.trials.notations import notation_of
from moot.evidence.trials.notations.notation import Notation, Parameter

INTEGERS = ("0", "1", "2", "-1", "7", "10")
TEXTS = ("''", "'a'", "'abc'", "'Hello World'", "'a1 b2'", "'aba'")
LISTS = ("[]", "[1]", "[3, 1, 2]", "[1, 1, 2]", "[-1, 0, 5]", "[5, 4, 4, 9]")
VALUES: dict[str, tuple[str, ...]] = {
    "int": INTEGERS,
    "float": ("0.0", "1.5", "-2.0", "10.0"),
    "bool": ("True", "False"),
    "str": TEXTS,
    "list": LISTS,
    "texts": ("[]", "['a']", "['b', 'a', 'c']", "['a', 'a']", "['ab', 'abc', '']"),
    "lists": ("[]", "[[1]]", "[[1, 2], [3, 4]]", "[[2, 1], [1, 2]]"),
    "tuple": ("()", "(1,)", "(3, 1, 2)", "(1, 1)"),
    "dict": ("{}", "{'a': 1}", "{'a': 1, 'b': 2}"),
    "set": ("set()", "{1}", "{1, 2, 3}"),
}
NAMED = (
    (re.compile(r"^(?:strings|words|names|texts)$"), "texts"),
    (re.compile(r"^(?:matrix|grid|lists|mat)$"), "lists"),
    (re.compile(r"(?:^|_)(?:s|str|string|text|word|sentence|name|txt|char|message|title|key)\d*$"), "str"),
    (re.compile(r"(?:^|_)(?:lst|list|arr|array|nums?_?list|numbers|nums|values|items|l|xs)\d*$"), "list"),
    (re.compile(r"(?:^|_)(?:d|dict|dic|dictionary|mapping)\d*$"), "dict"),
    (re.compile(r"(?:^|_)(?:tup|tuple|t)\d*$"), "tuple"),
    (re.compile(r"(?:^|_)(?:n|m|k|i|j|a|b|c|x|y|num|number|count|size|index|start|end|limit|h|w|r)\d*$"), "int"),
)
ANNOTATED = (
    (re.compile(r"[Ll]ist\[\s*[Ll]ist|Sequence\[\s*(?:Sequence|[Ll]ist)"), "lists"),
    (re.compile(r"(?:[Ll]ist|Sequence|Iterable)\[\s*str"), "texts"),
    (re.compile(r"^(?:typing\.)?(?:[Ll]ist|Sequence|Iterable)"), "list"),
    (re.compile(r"^(?:typing\.)?(?:[Dd]ict|Mapping)"), "dict"),
    (re.compile(r"^(?:typing\.)?[Tt]uple"), "tuple"),
    (re.compile(r"^(?:typing\.)?[Ss]et"), "set"),
    (re.compile(r"^(bool|int|float|str)\b"), ""),
)


TYPED = (
    (re.compile(r"number\[\]\[\]|Array<number\[\]>"), "lists"),
    (re.compile(r"string\[\]|Array<string>"), "texts"),
    (re.compile(r"number\[\]|Array<number>"), "list"),
    (re.compile(r"^Record<string,|^\{\s*\["), "dict"),
    (re.compile(r"^Set<number>"), "set"),
    (re.compile(r"^number\b"), "int"),
    (re.compile(r"^string\b"), "str"),
    (re.compile(r"^boolean\b"), "bool"),
)
"""Types of TypeScript."""
GO_TYPED = (
    (re.compile(r"^\[\]\[\]u?int\d*$"), "lists"),
    (re.compile(r"^\[\]string$"), "texts"),
    (re.compile(r"^\[\](?:u?int\d*|float\d+)$"), "list"),
    (re.compile(r"^map\[string\](?:u?int\d*|float\d+)$"), "dict"),
    (re.compile(r"^(?:u?int\d*|byte|rune)$"), "int"),
    (re.compile(r"^float\d+$"), "float"),
    (re.compile(r"^(?:string|\[\]byte)$"), "str"),
    (re.compile(r"^bool$"), "bool"),
)
TYPES: dict[Language, tuple[tuple[re.Pattern[str], str], ...]] = {
    "python": ANNOTATED, "javascript": (), "typescript": TYPED, "go": GO_TYPED
}  # fmt: skip
MIXED = tuple(value for trio in zip(INTEGERS, TEXTS, LISTS, strict=True) for value in trio)


def calls_of_drafts(
    codes: Sequence[str], entry: str, limit: int = 20, language: Language = "python"
) -> tuple[str, ...]:
    """Calls of the function that most drafts define, from their doctests and its signature; without their values,
    which were written by somebody who saw the code."""
    name = entry or find_common_function(codes, language)
    if not name:
        return ()
    own = [example.call for code in codes for example in examples_in(code, name, language=language)]
    made = [call for code in codes for call in calls_from_signature(code, name, language)]
    return tuple(islice(dict.fromkeys((*own, *made)), limit))


def find_common_function(codes: Sequence[str], language: Language = "python") -> str:
    """The last function that most of these codes define at top level."""
    names = [head.name for code in codes for head in notation_of(language).list_functions(code)]
    return max(reversed(names), key=names.count, default="")


def calls_from_signature(code: str, name: str, language: Language = "python") -> tuple[str, ...]:
    """A few calls with small values of each parameter's likely type, moved against each other. None if a parameter's
    type says that no plain value fits."""
    notation = notation_of(language)
    head = next((head for head in notation.list_functions(code) if head.name == name), None)
    if head is None or head.parameters is None:
        return ()
    choices = [_values_of(spot, notation) for spot in head.parameters]
    if not all(choices):
        return ()
    rows = max((len(values) for values in choices), default=0)
    return tuple(
        f"{name}({', '.join(values[(row + place) % len(values)] for place, values in enumerate(choices))})"
        for row in range(rows)
    )


def _values_of(spot: Parameter, notation: Notation) -> tuple[str, ...]:
    """None for a type that no plain value fits."""
    kind = _kind_of_type(spot.type, notation.language)
    if not kind and notation.language != "python" and spot.type not in ("", "any", "unknown"):
        return ()
    kind = kind or next((kind for pattern, kind in NAMED if pattern.search(spot.name.lower())), "")
    texts = VALUES[kind] if kind else MIXED
    if notation.language == "python":
        return texts
    values = [set() if text == "set()" else ast.literal_eval(text) for text in texts]
    fit = [v for v in values if not (isinstance(v, int) and v < 0 and spot.type.startswith(("uint", "byte")))]
    written = spot.type if spot.type.startswith(("[", "map[")) else ""
    return tuple(notation.write_value(value, written) for value in fit)


def _kind_of_type(written: str, language: Language) -> str:
    for pattern, kind in TYPES[language]:
        if written and (found := pattern.search(written)):
            return kind or found[1]
    return ""
