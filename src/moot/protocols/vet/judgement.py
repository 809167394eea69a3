"""Rules about a position that need no model: echoes, actionable steps, different approaches."""

import difflib
import re
from typing import Literal

from moot.evidence.failures import canonical

Clear = Literal["yes", "no", "unclear"]
ALIKE = 0.9
FEWEST_WORDS = 4


def any_of(*phrases: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(phrases)})\b", re.IGNORECASE)


NOTHING = re.compile(
    r"\W*(?:none|nothing|n/?a|not applicable|no|null|-|none (?:found|identified|needed|at all)"
    r"|no (?:blind[ _]?spots?|objections?|difference|alternatives?|changes?)|there (?:is|are) (?:none|nothing))\W*",
    re.IGNORECASE,
)
DENIALS = re.compile(r"\b(?:not|no|never|without|cannot|un(?=\w{4}))|n't\b", re.IGNORECASE)


def drop_empty_words(text: str) -> str:
    """The text, or nothing if it only says there is nothing."""
    return "" if NOTHING.fullmatch(text.strip()) else text.strip()


def words(text: str) -> list[str]:
    return re.findall(r"\w+(?:'\w+)?", text.lower())


def echoes(text: str, other: str) -> bool:
    """The same sentence again. A denial is not an echo, however similar."""
    one, two = words(text), words(other)
    if not one or not two or len(DENIALS.findall(text)) != len(DENIALS.findall(other)):
        return False
    return difflib.SequenceMatcher(None, one, two, autojunk=False).ratio() >= ALIKE


VAGUE = any_of(
    r"(?:might|may|could|would|will)(?: \w+)? not work", r"(?:be|more|extra) (?:careful|cautious|caution)",
    r"think (?:again|twice|about it)", r"proceed with (?:caution|care)", "reconsider", "rethink", "evaluate the risks?",
    r"consider (?:the )?(?:risks?|alternatives|carefully|other options)", "it depends",
    r"(?:more|further) (?:thought|testing|research|analysis) (?:is|may be|might be) (?:needed|required)",
    r"do(?:n't| not) (?:do|proceed|run|execute)(?: \w+){0,2}$",
)  # fmt: skip
STEPS = any_of(
    "back ?up", "snapshot", "dump", "export", "copy", "restore", "roll ?back", "dry[- ]?run", "stag(?:e|ing)", "canary",
    "restrict", "limit", "exclude", "filter", "add", "use", "replace", "rename", "move", "archive", "set", "create",
    "make", "take", "run", "test", "verify", "check", "confirm", "list", "review", "ask", "notify", "schedule", "wait",
    "lock", "revoke", "rotate", "encrypt", "pin", "install", "apply", "deploy", "delete only", "remove only",
    "start with", "switch", "enable", "disable", "require", "ensure", "implement", "write", "keep", "store", "split",
    "batch", "monitor", "perform", "first", "instead",
)  # fmt: skip


def actionable(counter: str) -> Clear:
    """A specific, feasible step; a vague worry is not one."""
    text = drop_empty_words(counter)
    if len(words(text)) < 2 or (VAGUE.search(text) and not STEPS.search(VAGUE.sub(" ", text))):
        return "no"
    return "yes" if STEPS.search(text) and len(words(text)) >= FEWEST_WORDS else "unclear"


TRIFLE = any_of(
    "typos?", "spelling", "minor", "slight(?:ly)?", "small(?:er)? (?:change|tweak|adjustment)", "tweak(?:s|ed|ing)?",
    "same (?:approach|thing|method|command|way)", "no (?:real |big )?differen(?:ce|t)", "identical", "unchanged",
    "not (?:very |really )?different", "(?:try|run) (?:it )?again", "retry",
    "increas(?:e|ed|ing) the (?:timeout|retries|number)",
)  # fmt: skip
NEW = any_of(
    "instead", "different(?:ly)?", "new", "another", "replac(?:e|es|ed|ing)", "switch(?:es|ed|ing)?", r"rewrit\w+",
    r"redesign\w*", "alternative", "rather than", "no longer", "unlike", "previously", "library", "tool", "method",
    "mock(?:ed|s)?", "cach(?:e|ing)", r"migrat\w+", r"introduc\w+", "adds?", "first time", "not tried",
)  # fmt: skip


def substantial(diff: str, attempts: tuple[str, ...]) -> Clear:
    """A different approach, tool or method; not a trifle or an earlier attempt."""
    text = drop_empty_words(diff)
    if len(words(text)) < 2 or any(echoes(text, attempt) for attempt in attempts):
        return "no"
    if TRIFLE.search(text):
        return "unclear" if NEW.search(TRIFLE.sub(" ", text)) else "no"
    return "yes" if NEW.search(text) and len(words(text)) >= FEWEST_WORDS else "unclear"


def repeats(fix: str, attempts: tuple[str, ...]) -> bool:
    """Whether the fix contains an earlier attempt, word for word except for tense."""
    again = canonical(fix)
    tried = [canonical(attempt) for attempt in attempts]
    return any(echoes(fix, a) for a in attempts) or any(
        len(t.split()) >= FEWEST_WORDS and f" {t} " in f" {again} " for t in tried
    )


def steps(counter: str) -> tuple[str, ...]:
    """The counter as a list of changes: its lines, if several."""
    lines = [re.sub(r"^\s*(?:[-*+•]|\d{1,2}[.)])\s+", "", line).strip() for line in counter.splitlines()]
    return tuple(line for line in lines if line)
