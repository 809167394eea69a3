"""Code, broken in the ways files break: cut off, shuffled, nested, blown up, spliced, full of junk. All from a seed."""

import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from random import Random

from benchmarks.kept import ROOT, has_data, read_rows
from moot.core.types import Language
from moot.scan.engine.rules import EXAMPLES

LARGEST = 300_000
"""Characters of the largest file that is made."""
FILES: dict[Language, str] = {"python": "f.py", "javascript": "f.js", "typescript": "f.ts", "go": "f.go"}
CORPORA: dict[Language, str] = {
    "python": "code-python.jsonl.gz",
    "javascript": "code-javascript.jsonl.gz",
    "typescript": "code-javascript.jsonl.gz",  # all of it is TypeScript too
    "go": "code-go.jsonl.gz",
}
SHAPES: dict[Language, tuple[str, ...]] = {
    "python": (
        "def f(x):\n", "class A:\n", "if x:\n", "for a in b:\n", "while x:\n", "with a as b:\n", "try:\n", "match x:\n",
        "lambda ", "async def f():\n", 'f"{', '"""', "\\\n", "@", ":=", "**", "yield ", "await ", "from . import *\n",
    ),
    "javascript": (
        "function f(x) {", "class A {", "if (x) {", "for (const a of b) {", "while (x) {", "x => ", "async () => {",
        "`${", "/*", "//", "?.", "...", "=>", "switch (x) { case 1:", "try {", "await ", "yield ", "<div>", "/[",
    ),
    "typescript": (
        "function f(x: string): void {", "class A<T> {", "interface A {", "type A = ", "x as any", "enum E {", "<T>(",
        "`${", "/*", "?.", "...", "=>", "namespace N {", "declare ", "abstract ", "readonly ", "keyof ", "x!: ", "@a()",
    ),
    "go": (
        "func f(x string) {\n", "type A struct {\n", "if x {\n", "for a := range b {\n", "go func() {\n",
        "switch x {\ncase 1:\n",
        "defer func() {", "select {\ncase <-c:\n", "`", "/*", ":=", "<-", "chan ", "map[string]", "interface{", "...",
        "[]", "*", "&",
    ),
}  # fmt: skip
BRACKETS = ("(", "[", "{", ")", "]", "}", "<", ">", "((", "[{", "({", "()", "[]", "{}")
NESTS = (
    ("(", ")"),
    ("[", "]"),
    ("{", "}"),
    ("f(", ")"),
    ("x[", "]"),
    ("{a: ", "}"),
    ("-", ""),
    ("!", ""),
    ("x.", "y"),
    ("1 + ", "1"),
)
JUNK = "\u202e\u2066\u200b\ufeff\u0301\0\x1b\r\x0b\u2028é漢字𝕏🙂\ud800\udfff'\"`\\"
TOKEN = re.compile(r"\w+|[^\w\s]")

Mutation = Callable[[Random, str, Language], str]


def _truncate(rng: Random, text: str, language: Language) -> str:
    """At any byte, so also inside a character."""
    data = text.encode("utf-8", "replace")
    return data[: rng.randint(0, len(data))].decode("utf-8", "replace")


def _drop_lines(rng: Random, text: str, language: Language) -> str:
    lines = text.splitlines(keepends=True)
    at = rng.randrange(len(lines) + 1)
    return "".join(lines[:at] + lines[at + rng.randint(1, 5) :])


def _repeat_lines(rng: Random, text: str, language: Language) -> str:
    lines = text.splitlines(keepends=True)
    at = rng.randrange(len(lines) + 1)
    piece = lines[at : at + rng.randint(1, 12)]
    return "".join(lines[:at] + piece * rng.choice((2, 3, 10, 40)) + lines[at:])


def _swap_lines(rng: Random, text: str, language: Language) -> str:
    lines = text.splitlines(keepends=True)
    for _ in range(rng.randint(1, 6)):
        if len(lines) > 1:
            one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
            lines[one], lines[other] = lines[other], lines[one]
    return "".join(lines)


def _swap_tokens(rng: Random, text: str, language: Language) -> str:
    found = list(TOKEN.finditer(text))
    for _ in range(rng.randint(1, 8)):
        if len(found) < 2:
            break
        one, other = sorted(rng.sample(range(len(found)), 2))
        first, last = found[one], found[other]
        if last.end() <= len(text):
            between = text[first.end() : last.start()]
            text = text[: first.start()] + last.group() + between + first.group() + text[last.end() :]
    return text


def _storm(rng: Random, text: str, language: Language) -> str:
    at = rng.randint(0, len(text))
    storm = "".join(rng.choice(BRACKETS) for _ in range(rng.choice((1, 2, 5, 40, 300))))
    return text[:at] + storm + text[at:]


def _shape(rng: Random, text: str, language: Language) -> str:
    at = rng.randint(0, len(text))
    return text[:at] + rng.choice(SHAPES[language]) * rng.choice((1, 1, 1, 3, 60, 400)) + text[at:]


def _nest(rng: Random, text: str, language: Language) -> str:
    at = rng.randint(0, len(text))
    opened, closed = rng.choice(NESTS)
    depth = rng.choice((5, 50, 500, 3000))
    return text[:at] + opened * depth + "x" + closed * depth + text[at:]


def _long_line(rng: Random, text: str, language: Language) -> str:
    if rng.random() < 0.3:
        return text.replace("\n", rng.choice((" ", ";", "")))
    at = rng.randint(0, len(text))
    return (
        text[:at] + rng.choice(("x", "x,", "x+", '"a"+', "x.y", "x()", " ", "9")) * rng.randint(500, 20_000) + text[at:]
    )


def _junk(rng: Random, text: str, language: Language) -> str:
    at = rng.randint(0, len(text))
    return text[:at] + "".join(rng.choice(JUNK) for _ in range(rng.randint(1, 40))) + text[at:]


def _splice(rng: Random, text: str, language: Language) -> str:
    other = rng.choice(seeds(language))
    return text[: rng.randint(0, len(text))] + other[rng.randint(0, len(other)) :]


def _blow_up(rng: Random, text: str, language: Language) -> str:
    """A block again and again, sometimes under names of its own, up to the largest file."""
    at = rng.randint(0, len(text))
    block = text[at : at + rng.randint(1, 4000)] or "x\n"
    times = rng.choice((10, 50, LARGEST)) if rng.random() < 0.3 else 10
    times = min(times, max(LARGEST - len(text), 0) // len(block))
    if rng.random() < 0.5:
        return text[:at] + block * times + text[at:]
    pieces = (re.sub(r"\b([a-z]\w+)\(", rf"\g<1>{number}(", block) for number in range(times))
    return text[:at] + "".join(pieces) + text[at:]


MUTATIONS: tuple[Mutation, ...] = (
    _truncate, _truncate, _drop_lines, _repeat_lines, _swap_lines, _swap_tokens, _swap_tokens, _storm, _shape, _nest,
    _long_line, _junk, _splice, _splice, _blow_up,
)  # fmt: skip


def mutated(seed: int, language: Language, index: int) -> str:
    """The `index`-th broken file of this seed: the same on every machine that has the same data."""
    rng = Random(f"{seed} {language} {index}")
    text = rng.choice(seeds(language))
    for _ in range(rng.randint(1, 4)):
        text = rng.choice(MUTATIONS)(rng, text, language)[:LARGEST]
    return text.encode("utf-8", "replace").decode("utf-8")


@cache
def seeds(language: Language) -> Sequence[str]:
    """The rules' own examples, our examples, and the labelled files where there are any."""
    known: Language = "javascript" if language == "typescript" else language
    texts = [text for example in EXAMPLES[known] for text in (example.fires, example.silent)]
    suffix = Path(FILES[language]).suffix
    texts += [path.read_text(encoding="utf-8") for path in sorted((ROOT / "examples").rglob(f"*{suffix}"))]
    if has_data(CORPORA[language]):
        texts += [str(text) for row in read_rows(CORPORA[language]) for text in row["files"].values()]
    return tuple(texts)
