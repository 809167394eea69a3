"""Whether a revised artefact is complete: nothing may get lost silently."""

import re
from collections.abc import Sequence

from moot.evidence.artefacts.checks import check, gravest, weight
from moot.evidence.artefacts.requirement_ids import ids_in
from moot.evidence.artefacts.tasks import tasks_in
from moot.evidence.artefacts.values import Artefact, Neighbour
from moot.text.markdown import Page, normalise, page

REFUSED = re.compile(
    r"\W*+(?:i['’]?m sorry|i am sorry|sorry,|i (?:cannot|can['’]?t|am unable|won['’]?t)|as an ai\b|unfortunately, i)",
    re.IGNORECASE,
)
ELIDED = re.compile(
    r"\s*+(?:[-*>#/]|<!--|\[|\()*+\s*+(?:\.{3}|…|(?:the )?(?:rest|remainder|remaining|other)\b.{0,60}"
    r"\b(?:unchanged|same|omitted|here|as before|above)"
    r"|(?:unchanged|same as (?:before|above)|as before|omitted|truncated|continued?)\b).{0,40}",
    re.IGNORECASE,
)
PLACE_HOLDER = re.compile(r"\bREDACTED_\w+")
NAMED = re.compile(r"((?:phase|task|step|plan)\s+\d+(?:\.\d+)*)\b", re.IGNORECASE)
SHORTEST = 0.7
"""A revision with a smaller share of the words was truncated, whatever it claims."""


def flaw_in_revision(before: Artefact, text: str, around: Sequence[Neighbour]) -> str:
    """Why this text may not replace the artefact; empty if it may."""
    if not text.strip():
        return "it is empty"
    if REFUSED.match(text):
        return "it is a refusal, not a document"
    old, new = page(before.text), page(text)
    if lost := find_lost_parts(old, new):
        return f"it loses {', '.join(lost[:5])}" + (f" and {len(lost) - 5} more" if len(lost) > 5 else "")
    if elided := _find_elision(old, new):
        return f"it leaves out a part: {elided!r}"
    kept, had = len(normalise(text).split()), len(normalise(before.text).split())
    if kept < had * SHORTEST:
        return f"it is cut short: {kept} of {had} words are left"
    return _worse(before, text, around)


def _worse(before: Artefact, text: str, around: Sequence[Neighbour]) -> str:
    earlier, later = check(before, around), check(before.model_copy(update={"text": text}), around)
    if weight(later) <= weight(earlier):
        return ""
    known = [(f.rule, f.what) for f in earlier]
    new = [f for f in gravest(later) if (f.rule, f.what) not in known] or gravest(later)
    return f"the checks find more wrong with it than before: line {new[0].line}: {new[0].what}"


def find_lost_parts(old: Page, new: Page) -> list[str]:
    """Front matter, headings, requirement ids, tasks and masked secrets that are missing."""
    lost = ["the front matter"] if old.front.strip() and not new.front.strip() else []
    lost += [f"the key {key!r} of the front matter" for key in old.meta if new.front.strip() and key not in new.meta]
    headings = {_key(h.text) for h in new.headings}
    lost += [f"the heading {h.text!r}" for h in old.headings if _key(h.text) not in headings]
    ids = set(ids_in(new.text))
    lost += [i for i in dict.fromkeys(ids_in(old.text)) if i not in ids]
    had, has = len(tasks_in(old)), len(tasks_in(new))
    lost += [f"{had - has} of {had} tasks"] if has < had else []
    return lost + [name for name in dict.fromkeys(PLACE_HOLDER.findall(old.text)) if name not in new.text]


def _key(heading: str) -> str:
    """A phase or task may be renamed; it keeps its number."""
    named = NAMED.match(heading)
    return normalise(named[1]) if named else normalise(heading)


def _find_elision(old: Page, new: Page) -> str:
    there = {line.text.strip() for line in old.lines}
    return next((x.text.strip() for x in new.lines if ELIDED.fullmatch(x.text) and x.text.strip() not in there), "")


def keep_line_ends(text: str, before: str) -> str:
    """Keep the file's line ends: a model does not see them."""
    text = text.replace("\r\n", "\n")
    text = text.rstrip("\n") + "\n" if before.endswith("\n") else text.rstrip("\n")
    return text.replace("\n", "\r\n") if "\r\n" in before else text
