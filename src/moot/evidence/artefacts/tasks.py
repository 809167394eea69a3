"""The tasks of a plan, in XML or markdown."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from moot.text.markdown import Page, PageLine, labels

FIELDS = ("files", "action", "verify", "done")
SAME = {
    "file": "files", "files_modified": "files", "actions": "action", "steps": "action", "what": "action",
    "do": "action", "verification": "verify", "verify_with": "verify", "test": "verify", "tests": "verify",
    "check": "verify", "done_when": "done", "acceptance": "done", "acceptance_criteria": "done",
    "depends": "depends_on", "depends_on": "depends_on", "dependencies": "depends_on", "needs": "depends_on",
    "name": "name", "id": "id", "type": "type",
}  # fmt: skip
LABELS = frozenset(SAME) | frozenset(FIELDS)
OPEN = re.compile(r"<task(?P<attributes>[^<>]*)>", re.IGNORECASE)
CLOSE = re.compile(r"</task\s*>", re.IGNORECASE)
TAG = re.compile(r"<(?P<name>[a-z][\w-]*)(?:\s[^<>]*)?>", re.IGNORECASE)
MOST_ELEMENTS = 100
ATTRIBUTE = re.compile(r"([\w-]+)\s*=\s*[\"']([^\"']*)[\"']")
TASK = re.compile(r"task\s+(?P<id>[\w.]+)\s*(?:[:.)–—-]+\s*(?P<name>.*))?$", re.IGNORECASE)
NUMBER = re.compile(r"\d+(?:\.\d+)*")


@dataclass(frozen=True)
class PlanTask:
    id: str
    name: str
    line: int
    fields: dict[str, str] = field(default_factory=dict)
    depends_on: tuple[str, ...] = ()
    checkpoint: bool = False
    """A stop for a person; its fields differ from those of a task."""
    closed: bool = True


def tasks_in(doc: Page) -> list[PlanTask]:
    """XML tasks in the text, or in its code blocks if there are none outside; else tasks under headings."""
    outside = "\n".join("" if line.code else line.text for line in doc.lines)
    inside = "\n".join(line.text if line.code else "" for line in doc.lines)
    first = doc.lines[0].number if doc.lines else 1
    return _xml(outside, first) or _xml(inside, first) or _read_headed_tasks(doc)


def _xml(text: str, first: int) -> list[PlanTask]:
    found: list[PlanTask] = []
    line, counted = first, 0
    opens = list(OPEN.finditer(text))
    for at, begin in enumerate(opens):
        limit = opens[at + 1].start() if at + 1 < len(opens) else len(text)
        end = CLOSE.search(text, begin.end(), limit)
        body = text[begin.end() : end.start() if end else limit]
        attributes = {key.lower(): value for key, value in ATTRIBUTE.findall(begin["attributes"])}
        given = {**{_same(k): v for k, v in attributes.items()}, **_elements(body)}
        line, counted = line + text.count("\n", counted, begin.start()), begin.start()
        found.append(_task(given, str(at + 1), line, closed=end is not None))
    return found


def _elements(body: str) -> dict[str, str]:
    """Name -> text of each direct child element; unclosed ones are ignored."""
    found: dict[str, str] = {}
    at = 0
    for _ in range(MOST_ELEMENTS):
        tag = TAG.search(body, at)
        if tag is None:
            break
        end = re.compile(f"</{re.escape(tag['name'])}\\s*>", re.IGNORECASE).search(body, tag.end())
        if end:
            found.setdefault(_same(tag["name"]), body[tag.end() : end.start()].strip())
        at = end.end() if end else tag.end()
    return found


def _read_headed_tasks(doc: Page) -> list[PlanTask]:
    found: list[PlanTask] = []
    for heading in doc.headings:
        match = TASK.match(heading.text)
        if not match:
            continue
        given = {_same(label.name): label.value for label in labels(_flatten_headings(doc.below(heading)), LABELS)}
        given.setdefault("name", (match["name"] or "").strip())
        found.append(_task({**given, "id": match["id"]}, match["id"], heading.line, closed=True))
    return found


def _flatten_headings(lines: Sequence[PageLine]) -> list[PageLine]:
    """`#### Files` with text below it is a label too."""
    return [
        PageLine(line.number, f"**{line.text.strip('# ').rstrip(': ')}:**", line.section) if line.heading else line
        for line in lines
    ]


def _task(given: dict[str, str], number: str, line: int, *, closed: bool) -> PlanTask:
    needs = NUMBER.findall(given.get("depends_on", ""))
    return PlanTask(
        id=next(iter(NUMBER.findall(given.get("id", ""))), number),
        name=given.get("name", ""),
        line=line,
        fields={name: given[name] for name in FIELDS if name in given},
        depends_on=tuple(dict.fromkeys(needs)),
        checkpoint=given.get("type", "").lower().startswith("checkpoint"),
        closed=closed,
    )


def _same(name: str) -> str:
    key = name.lower().replace("-", "_").replace(" ", "_")
    return SAME.get(key, key)
