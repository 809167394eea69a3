"""A request in plain words: does it want an answer or an action, and what is at stake."""

import re

from moot.routing import words
from moot.routing.answer import Kind, Route, Sight, action
from moot.routing.patterns import Lazy
from moot.routing.self_protection import guard_sight
from moot.routing.waivers import waives

__all__ = ["drop_greeting", "kind_of", "request_route", "waives"]

LONGEST = 20_000
"""Characters read; nobody types more, and pasted material is not the request."""


def request_route(text: str, *, own_words: bool = False) -> Route:
    """Only the person's own prompt can waive a debate, and never one about high stakes."""
    shown = text[:LONGEST]
    if kind_of(shown) == "ANSWER":  # a question mark alone says nothing about words that it does not know
        return ASKED if opens_question(shown) and not is_polite_request(shown) else UNRECOGNISED
    sights = [*sights_of(drop_quotes(shown)), *find_guarded_files(shown), Sight("read" if only_reads(shown) else "low")]
    if sights[-1].level == "read":  # looking changes nothing, whatever the words
        sights = sights[-1:] + ([SHOWS_SECRET] if touches_secret(shown) else [])
    if len(text) > LONGEST:
        sights.append(Sight("medium", "scope", "very long text", "the request is too long to be read whole"))
    route = action(sights)
    waived = own_words and waives(shown)
    return route.waive_by_person("the person asked for no confirmation") if waived else route


ASKED = Route("ANSWER", "low", True, "a question: nothing is done")
UNRECOGNISED = Route("ANSWER", "low", True, "it names no known action", recognised=False)
SHOWS_SECRET = Sight("high", "security", "a secret", "it would show a secret")


def kind_of(text: str) -> Kind:
    opening = drop_greeting(text)
    outside = words.EXTERNAL.search(drop_code_spans(text))
    if words.PURE_QUESTION.match(opening) and not outside:
        return "ANSWER"
    if is_question(text) and not outside and not words.ACTION_GROUPS["code"].search(text):
        return "ANSWER"
    groups = [name for name, pattern in words.ACTION_GROUPS.items() if pattern.search(text)]
    return "ACTION" if outside or groups or sights_of(text) else "ANSWER"


def is_question(text: str) -> bool:
    return (opens_question(text) or text.rstrip().endswith("?")) and not is_polite_request(text)


def opens_question(text: str) -> bool:
    return words.QUESTION.match(drop_greeting(text)) is not None


def drop_greeting(text: str) -> str:
    """`could you please delete …` is `delete …`."""
    start = words.OPENING.match(text[:400])
    return text[start.end() :] if start else text


def is_polite_request(text: str) -> bool:
    """`Can you delete it?` asks for an action, not for an answer."""
    return words.POLITE.search(text) is not None


def drop_code_spans(text: str) -> str:
    """Drop short code spans: a question does not touch what it quotes."""
    return re.sub(r"(?<!`)`[^`\n]{1,200}`(?!`)", " ", text)


def drop_quotes(text: str) -> str:
    """Quoted words are mentioned, not requested."""
    return re.sub(r"(?<!\w)([\"'`])(?!\1)[^\"'`\n]{1,200}\1(?!\w)", " ''", text)


def sights_of(text: str) -> list[Sight]:
    sights = []
    for group, pattern in words.VERBS.items():
        if found := first_meant(pattern, text):
            sights.append(Sight("high", group, found, f"it asks for something {NAMED[group]}: {found!r}"))
    if found := first_free(words.SECURITY, words.HARMLESS_SECURITY, text):
        sights.append(Sight("high", "security", found, f"it touches what protects access: {found!r}"))
    if found := first_free(words.BULK, words.HARMLESS_BULK, text):
        sights.append(Sight("medium", "bulk", found, f"it reaches far: {found!r}"))
    if (found := first_free(words.VAGUE, words.HARMLESS_BULK, text)) and has_weak_hints(text):
        sights.append(Sight("medium", "scope", found, f"what exactly is to be touched is not said: {found!r}"))
    return sights


def find_guarded_files(text: str) -> list[Sight]:
    """Files of Moot or of a coding client that a request would change: `add a hook to .claude/settings.json`."""
    found = [guard_sight(m[1]) for m in words.CHANGED_FILE.finditer(text)]
    return [sight for sight in found if sight]


NAMED = {"destructive": "that cannot be undone", "deployment": "that others will get"}


def has_weak_hints(text: str) -> bool:
    """At most two kinds of hints at what to do."""
    groups = sum(1 for pattern in words.ACTION_GROUPS.values() if pattern.search(text))
    return groups + bool(words.EXTERNAL.search(text)) <= 2


def first_meant(pattern: Lazy, text: str) -> str:
    """The first verb that is really requested: not negated, not part of a name, not about a trifle."""
    for found in pattern.finditer(text):
        before, after = text[max(0, found.start() - 60) : found.start()], text[found.end() : found.end() + 200]
        if words.NEGATED.search(before) or words.OTHER_SENSE.match(found[0] + after[:80]):
            continue
        if words.SMALL_THINGS.match(after) or words.LOOKS.match(after) or re.match(r"\s*\(", after):
            continue
        if _is_only_named(before, after, found[0]):
            continue
        return " ".join(found[0].lower().split())
    return ""


def _is_only_named(before: str, after: str, word: str) -> bool:
    """`a delete button`, `the release notes`, `the bug when deleting a user`: mentioned, not requested."""
    if words.NOUN_AFTER.match(after) and not re.search(r"[.;!?]\s*$|^\s*$", before):
        return True
    if words.NOUN_AFTER.match(after):
        return word.lower() in ("release", "drop", "publish") and bool(re.match(r"[- ](?:notes?|dates?|down)", after))
    return bool(words.NOUN_BEFORE.search(before))


def first_free(pattern: Lazy, harmless: Lazy, text: str) -> str:
    """The first match outside of every harmless phrase."""
    spans = [m.span() for m in harmless.finditer(text)]
    for found in pattern.finditer(text):
        if not any(start <= found.start() and found.end() <= end for start, end in spans):
            return found[0].lower()
    return ""


def only_reads(text: str) -> bool:
    opening = drop_greeting(text)
    if not words.READING.match(opening):
        return False
    rest = opening[words.READING.match(opening).end() :]  # type: ignore[union-attr]
    clauses = re.split(r"[.;!?\n]+\s+|,\s*|\b(?:and|then|but|so that|to)\b", rest)
    return not any(words.CHANGING.match(drop_greeting(clause.strip())) for clause in clauses[1:])


def touches_secret(text: str) -> bool:
    """`show me the API key in .env` is not harmless, although it only reads. Asking where the key is used is."""
    found = words.SHOWN_SECRET.search(text)
    return found is not None and not words.WHEREABOUTS.search(text[: found.end()])
