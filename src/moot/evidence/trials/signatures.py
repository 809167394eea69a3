"""Calls made from a function's signature and doctests, so that drafts can be compared without any example."""

import ast
import re
from collections.abc import Sequence
from itertools import islice

from moot.evidence.trials.examples import examples_in

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


def calls_of_drafts(codes: Sequence[str], entry: str, limit: int = 20) -> tuple[str, ...]:
    """Calls of the function that most drafts define, from their doctests and its signature; without their values,
    which were written with the code in view."""
    name = entry or find_common_function(codes)
    if not name:
        return ()
    own = [example.call for code in codes for example in examples_in(code, name)]
    made = [call for code in codes for call in calls_from_signature(code, name)]
    return tuple(islice(dict.fromkeys((*own, *made)), limit))


def find_common_function(codes: Sequence[str]) -> str:
    """The last function that most of these codes define at top level."""
    names = [node.name for code in codes for node in _functions(code)]
    return max(reversed(names), key=names.count, default="")


def calls_from_signature(code: str, name: str) -> tuple[str, ...]:
    """A few calls with small values of each parameter's likely type, moved against each other."""
    function = next((node for node in _functions(code) if node.name == name), None)
    if function is None or function.args.kwonlyargs or function.args.vararg:
        return ()
    spots = function.args.posonlyargs + function.args.args
    needed = spots[: len(spots) - len(function.args.defaults)] or spots
    choices = [_values_of(spot) for spot in needed]
    rows = max((len(values) for values in choices), default=0)
    return tuple(
        f"{name}({', '.join(values[(row + place) % len(values)] for place, values in enumerate(choices))})"
        for row in range(rows)
    )


def _functions(code: str) -> list[ast.FunctionDef]:
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return []
    return [node for node in tree.body if isinstance(node, ast.FunctionDef)]


def _values_of(spot: ast.arg) -> tuple[str, ...]:
    if spot.annotation is not None:
        said = ast.unparse(spot.annotation)
        for pattern, kind in ANNOTATED:
            if found := pattern.search(said):
                return VALUES[kind or found[1]]
    for pattern, kind in NAMED:
        if pattern.search(spot.arg.lower()):
            return VALUES[kind]
    return tuple(value for trio in zip(INTEGERS, TEXTS, LISTS, strict=True) for value in trio)
