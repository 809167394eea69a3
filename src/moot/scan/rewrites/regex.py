"""Rewrites a regular expression with many ways to match to one with a single way, and compares the two by running them.

The rewrites are well-known equalities of repetitions. None is trusted: each result must find the same as the old
expression in every short text over letters that stand for all others, or in many longer ones if there are many letters.
"""

import itertools
import random
import re
import string
from collections.abc import Iterator

from moot.scan.change import RewriteRefused
from moot.scan.regex_growth import anchor_pattern, measure_growth

ATOM = r"(?:\\[^bB0-9kpPuxAZz]|\[\^?\]?(?:\\.|[^\]\\])*\]|[^\\\[\](){}|*+?^$])"
GROUP = re.compile(r"(?<!\\)\((?P<kind>\?:)?(?P<body>(?:\\.|\[(?:\\.|[^\]\\])*\]|[^()\\\[])*)\)(?P<outer>[+*])(?![?+])")
ALONE = re.compile(rf"(?P<y>{ATOM})(?P<inner>[+*])")
FIRST = re.compile(rf"(?P<y>{ATOM})\+(?P<s>{ATOM})(?P<often>[?*])")
LAST = re.compile(rf"(?P<s>{ATOM})(?P<often>[?*])(?P<y>{ATOM})\+")
BOTH = re.compile(rf"(?P<s>{ATOM})\*(?P<y>{ATOM})\+(?P=s)\*")
LISTED = re.compile(rf"(?P<y>{ATOM})\+(?P<s>{ATOM})\*(?P<c>{ATOM})\?(?P=s)\*")
CHOICE = re.compile(rf"(?:{ATOM})\+?(?:\|(?:{ATOM})\+?)+")
TWICE = re.compile(rf"(?P<y>{ATOM})\*(?P=y)(?P<again>[*+])|(?P<z>{ATOM})\+(?P=z)\*")
POOL = string.printable.strip() + " \n\té"
COUNT = re.compile(r"(?<!\\)\{[\d,]*\}")
MAX_TEXTS, LONGEST, ROUNDS = 10_000, 12, 6


def make_linear(pattern: str, *, javascript: bool, groups: bool, whole: bool = False) -> str:
    """An expression that finds the same without the blow-up; `groups` says whether what its groups hold is used,
    `whole` that it must match all of a text."""
    current = pattern
    for _ in range(ROUNDS):
        if measure_growth(anchor_pattern(current, whole), javascript=javascript) == "linear":
            break
        current = next(iter(_candidates(current)), current)
    if current == pattern or measure_growth(anchor_pattern(current, whole), javascript=javascript) != "linear":
        raise RewriteRefused("a pattern that matches the same texts in less time has to be thought out")
    if not finds_the_same(pattern, current, groups=groups):
        raise RewriteRefused("the faster pattern would not find the same")
    return current


def _candidates(pattern: str) -> Iterator[str]:
    for found in TWICE.finditer(pattern):
        atom = found["y"] or found["z"]
        often = "+" if found["z"] or found["again"] == "+" else "*"
        yield f"{pattern[: found.start()]}{atom}{often}{pattern[found.end() :]}"
    for found in GROUP.finditer(pattern):
        new = _write_group(found["body"], found["outer"])
        if new is not None:
            yield f"{pattern[: found.start()]}({found['kind'] or ''}{new}){pattern[found.end() :]}"


def _write_group(body: str, outer: str) -> str | None:
    """What stands for `(body)+` or `(body)*`."""
    if found := ALONE.fullmatch(body):
        return f"{found['y']}{'+' if outer == found['inner'] == '+' else '*'}"
    new: str | None = None
    if found := FIRST.fullmatch(body):
        y, s = found["y"], found["s"]
        new = f"{y}+(?:{s}{y}+)*{s}?" if found["often"] == "?" else f"{y}(?:{y}|{s})*"
    elif found := LAST.fullmatch(body):
        y, s = found["y"], found["s"]
        new = f"{s}{found['often']}{y}+(?:{s}{'+' if found['often'] == '*' else ''}{y}+)*"
    elif found := BOTH.fullmatch(body):
        y, s = found["y"], found["s"]
        new = f"{s}*{y}(?:{y}|{s})*"
    elif found := LISTED.fullmatch(body):
        y, s, c = found["y"], found["s"], found["c"]
        between = f"(?:{s}+(?:{c}{s}*)?|{c}{s}*)"
        new = f"{y}+(?:{between}{y}+)*{between}?"
    elif CHOICE.fullmatch(body) and (letters := _join_classes(body)) is not None:
        return f"[{letters}]{outer}"
    return new if new is None or outer == "+" else f"(?:{new})?"


def _join_classes(body: str) -> str | None:
    atoms = re.findall(ATOM, re.sub(rf"({ATOM})\+", r"\1", body).replace("|", ""))
    if any(atom.startswith("[^") or atom in (".", "^") for atom in atoms):
        return None
    inner = [atom[1:-1] if atom.startswith("[") else f"\\{atom}" if atom in "-]^" else atom for atom in atoms]
    return "".join(dict.fromkeys(inner))


def finds_the_same(old: str, new: str, *, groups: bool) -> bool:
    """On every text of a few letters: one letter of each kind that the expressions tell apart."""
    try:
        one, two = re.compile(old), re.compile(new)
        written = COUNT.sub("", old + new)
        tests = [re.compile(atom) for atom in sorted(set(re.findall(ATOM, written)))]
    except re.error:
        return False
    kinds: dict[tuple[bool, ...], str] = {}
    for letter in POOL:
        kinds.setdefault(tuple(test.fullmatch(letter) is not None for test in tests), letter)
    if one.groups != two.groups:
        return False
    texts = _list_texts(list(kinds.values()))
    return all(_read(one, text, groups) == _read(two, text, groups) for text in texts)


def _list_texts(letters: list[str]) -> Iterator[str]:
    longest = 1
    while len(letters) ** (longest + 1) <= MAX_TEXTS:
        longest += 1
    for length in range(longest + 1):
        yield from ("".join(each) for each in itertools.product(letters, repeat=length))
    drawn = random.Random(len(letters))  # the same texts in every run
    for length in range(longest + 1, LONGEST):
        yield from ("".join(drawn.choices(letters, k=length)) for _ in range(MAX_TEXTS // LONGEST))


def _read(pattern: re.Pattern[str], text: str, groups: bool) -> tuple[object, ...]:
    found = pattern.search(text)
    if found is None:
        return ()
    return (found.span(), *(found.groups() if groups else ()), pattern.fullmatch(text) is not None)
