"""Extracts a task's requirements clause by clause, and finds those without a test."""

import re
from collections.abc import Sequence
from functools import lru_cache

from moot.evidence.trials.examples import examples_in

MOST = 8
LONGEST = 160
SENTENCE = re.compile(r"(?<=[.;!?])\s+|\n\s*(?:[-*•]|\d+[.)])\s+|\n+")
CLAUSE = re.compile(r"[,;]\s+(?:and\s+|or\s+|but\s+)?")
HEAD = re.compile(r"^.*?\w\([^()]*\)`?\s*(?:->\s*[\w\[\], .|]+)?:\s*")
"""`Write slug(title):`, before what it should do."""
CODE = re.compile(r"\s*(?:def|class|import|from|return|assert|@|>>>|\.\.\.|#|```)")
SIGNS: tuple[tuple[str, str], ...] = (
    (
        r"empty|blank (?:line|string|text|input)s?",
        r"""\[\s*\]|\{\s*\}|(?<!['"\w])(?:''|"")(?!['"])|\(\)\s*[,)]|set\(\)""",
    ),
    (r"accent\w*|diacritics?|umlauts?|unicode|non-?ascii", r"[^\x00-\x7f]|\\u[0-9a-f]|\\x[89a-f]|\\N\{"),
    (r"negative", r"(?<![\w)\]])-\s*\d"),
    (r"zeros?", r"(?<![\w.])0(?![\w.])"),
    (r"(?:upper|lower)[- ]?cased?|capitals?|case[- ]?insensitiv\w*", r"""['"][^'"]*[A-Z]"""),
    (r"white ?space|spaces?|tabs?|newlines?", r"""['"][^'"]*(?: |\\t|\\n)"""),
    (r"punctuation|special characters?|symbols?", r"""['"][^'"]*[^\w\s'"\\]"""),
    (r"digits?", r"""['"][^'"]*\d"""),
    (r"duplicates?|repeated|distinct|unique", r"""(?<!\w)(['"]?\w+['"]?)\s*,(?:[^()]*,)?\s*\1(?!\w)"""),
    (
        r"raises?|exceptions?|invalid|malformed|rejects?|rejected",
        r"[Rr]aises|Error|Exception|\bNone\b|\bFalse\b|throws",
    ),
    (r"None|null|nil", r"\bNone\b|\bnull\b|\bnil\b"),
    (r"hyphens?|dash(?:es)?", "-"),
    (r"underscores?", "_"),
    (r"floats?|decimals?|fractions?", r"\d\.\d"),
)
"""Words of a requirement, and what a test for it contains."""


@lru_cache(maxsize=64)
def requirements_in(text: str) -> tuple[str, ...]:
    """The clauses that demand something, without examples, code and the function's name."""
    found = dict[str, None]()
    for sentence in SENTENCE.split(text[:20_000]):
        if not CODE.match(sentence) and not examples_in(sentence):
            found |= dict.fromkeys(_clauses(HEAD.sub("", sentence.strip().strip("\"'`*").strip())))
        if len(found) >= MOST:
            break
    return tuple(found)[:MOST]


def _clauses(sentence: str) -> list[str]:
    """Split at commas, unless they separate a list of words."""
    parts = [" ".join(part.split()).strip(" .:;!?\"'`*-") for part in CLAUSE.split(sentence)]
    whole = " ".join(sentence.split()).strip(" .:;!?\"'`*-")
    chosen = parts if all(map(_says_something, parts)) else [whole]
    return [part for part in chosen if _says_something(part) and len(part) <= LONGEST]


def _says_something(part: str) -> bool:
    return len(re.findall(r"[A-Za-z]{3,}", part)) > 1 or bool(signs_of(part))


def signs_of(requirement: str) -> list[str]:
    """What a test for this requirement must contain, as far as its words tell."""
    return [sign for words, sign in SIGNS if re.search(rf"(?<!\w)(?:{words})(?!\w)", requirement, re.IGNORECASE)]


def has_test(requirement: str, tests: Sequence[str]) -> bool | None:
    """Whether a test contains everything the requirement's words call for; None if they call for nothing visible in a
    test."""
    signs = signs_of(requirement)
    return any(all(re.search(sign, test) for sign in signs) for test in tests) if signs else None


def test_texts(source: str) -> list[str]:
    """The tests of a file, split where a line begins a test."""
    return re.split(r"\n(?=\s*(?:async )?(?:def test|func Test|test\(|it\())", source)


def find_untouched(text: str, tests: Sequence[str]) -> tuple[str, ...]:
    """Requirements without a test; only those whose words say what such a test would contain."""
    return tuple(each for each in requirements_in(text) if has_test(each, tests) is False)
