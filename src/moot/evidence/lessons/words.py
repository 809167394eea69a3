"""The topic of a piece of advice, and its polarity."""

import re
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

WORD = re.compile(r"[a-z0-9]+(?:[-_'][a-z0-9]+)*")
NAME_PART = re.compile(r"[^\W_]+")
HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
CLAUSE = re.compile(r"[.,;:!?\n]|\b(?:but|because|since|when|unless|until)\b")
AGAINST = re.compile(
    r"\b(?:never|do(?:es)? not|don't|doesn't|must not|mustn't|should not|shouldn't|cannot|can't|need not|avoid|stop|"
    r"refrain from|no need to|not necessary to|it is wrong to|forget about|without)\b"
)
REMINDER = re.compile(r"\b(?:never|do not|don't)\s+(?:ever\s+)?(?:forget|omit|skip|neglect|fail)\b(?:\s+to\b)?")
RATHER = re.compile(r"\b(?:instead of|rather than|in place of|as opposed to)\b")
SUFFIXES = (
    *("ization", "isation", "izing", "ising", "ations", "ation", "ingly", "edly", "ings", "ing", "ies", "ied", "ely"),
    *("ers", "er", "ed", "es", "ly", "s"),
)


@dataclass(frozen=True)
class Gist:
    """Stems that a text recommends, and stems that it advises against."""

    good: frozenset[str]
    bad: frozenset[str]

    @property
    def words(self) -> frozenset[str]:
        return self.good | self.bad


@lru_cache(maxsize=4096)
def gist(text: str) -> Gist:
    good: set[str] = set()
    bad: set[str] = set()
    for clause in CLAUSE.split(REMINDER.sub("", text.lower().replace("’", "'"))):
        turn = AGAINST.search(clause) or RATHER.search(clause)
        begin = turn.start() if turn else len(clause)
        good |= stems(clause[:begin])
        bad |= stems(clause[begin:])
    return Gist(frozenset(good), frozenset(bad - good))


def stems(text: str) -> set[str]:
    return {stem(word) for word in WORD.findall(text) if word not in stopwords() and len(word) > 1} - {""}


def list_terms(text: str) -> list[str]:
    """The stems of a text in their order, names of code split into their words: what a search compares."""
    words = NAME_PART.findall(HUMP.sub(" ", text).lower())
    return [stem(word) for word in words if len(word) > 1 and word not in stopwords()]


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    known = thesaurus()
    if word in known:
        return known[word]
    for suffix in SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            short = word[: -len(suffix)]
            for form in (short, f"{short}e", f"{short}y"):
                if form in known:
                    return known[form]
            return short
    return word


@lru_cache(maxsize=1)
def thesaurus() -> dict[str, str]:
    known: dict[str, str] = {}
    for line in files(__package__).joinpath("thesaurus.txt").read_text(encoding="utf-8").splitlines():
        head, colon, rest = line.partition(":")
        if colon and not line.startswith("#"):
            known.setdefault(head, head)
            for word in rest.split():
                known.setdefault(word, head)
    return known


@lru_cache(maxsize=1)
def stopwords() -> frozenset[str]:
    return frozenset(files(__package__).joinpath("stopwords.txt").read_text(encoding="utf-8").split())
