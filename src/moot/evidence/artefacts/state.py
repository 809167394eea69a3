"""STATE.md: one line for each review under Accumulated Context / Decisions, however often it is written."""

import re

from moot.text.markdown import headings_in, read_blocks

SESSION = "<!-- moot review {} -->"
CONTEXT, DECISIONS = "Accumulated Context", "Decisions"
COMMENT = re.compile(r"<!--|-->")


def with_decision(text: str, key: str, decision: str) -> str:
    """The page with this review's decision; an earlier one of the same review is replaced."""
    end = "\r\n" if "\r\n" in text else "\n"
    lines = text.replace("\r\n", "\n").split("\n")
    mark = SESSION.format(key)
    entry = f"- {COMMENT.sub('', ' '.join(decision.split()))} {mark}"
    there = next((n for n, line in enumerate(lines) if mark in line), None)
    if there is not None:
        lines[there] = entry
        return end.join(lines)
    return end.join(_insert_entry(lines, entry))


def _insert_entry(lines: list[str], entry: str) -> list[str]:
    headings = _headings(lines)
    context = next((h for h in headings if h[2].lower() == CONTEXT.lower()), None)
    if context is None:
        tail = lines[:-1] if lines and not lines[-1] else lines
        return [*tail, "", f"## {CONTEXT}", "", f"### {DECISIONS}", "", entry, ""]
    inside = [h for h in headings if h[0] > context[0]]
    end = next((h[0] for h in inside if h[1] <= context[1]), len(lines))
    decisions = next((h for h in inside if h[0] < end and h[2].lower().startswith(DECISIONS.lower())), None)
    if decisions is None:
        at = context[0] + 1
        return [*lines[:at], "", "#" * (context[1] + 1) + f" {DECISIONS}", "", entry, *lines[at:]]
    stop = next((h[0] for h in inside if h[0] > decisions[0]), len(lines))
    last = max((n for n in range(decisions[0] + 1, stop) if lines[n].strip()), default=decisions[0])
    gap = [""] if last == decisions[0] else []
    return [*lines[: last + 1], *gap, entry, *lines[last + 1 :]]


def _headings(lines: list[str]) -> list[tuple[int, int, str]]:
    found = headings_in(read_blocks("\n".join(lines)), lines)
    return [(heading.line - 1, heading.level, heading.text) for heading in found]
