"""Labelled text in a reply: `LABEL: value`, `**Label:** value`, headings, bullets, `---` between items or none."""

import re
from dataclasses import dataclass, field

from pydantic import BaseModel

from moot.replies.fences import blocks
from moot.replies.fit import NOTHING, Raw
from moot.replies.shape import Slot, label_key, slots

LABEL = re.compile(
    r"^\s*(?:>\s*)?(?P<bullet>(?:[-*+•]|\d{1,3}[.)])\s+)?(?P<hash>#{1,6}\s*)?(?:\d{1,3}[.)]\s+)?(?P<bold>[*_`]{0,3})"
    r"(?P<label>[A-Za-z][\w /#-]{0,48}?)[*_`]{0,3}\s*[:：]\s*[*_`]{0,3}\s*(?P<rest>.*?)\s*$"
)
HEADING = re.compile(
    r"^\s*(?:(?P<hash>#{1,6})\s*(?P<a>.+?)|(?P<stars>\*\*|__)(?P<b>[^*]+)(?:\*\*|__)|(?P<c>[A-Z][A-Z0-9 _]+))\s*:?\s*$"
)
NUMBERED = re.compile(r"^\s{0,3}(?:\d{1,3}[.)]|[-*+•])\s+(?P<title>\S.*)$")
RULE = re.compile(r"^\s*(?:-{3,}|\*{3,}|_{3,}|={3,})\s*$")
ORDINAL = re.compile(r"[\s_#]*\d{1,3}$")


@dataclass
class Line:
    text: str
    fenced: bool


@dataclass
class Section:
    slot: Slot
    lines: list[Line] = field(default_factory=list)


def labelled(text: str, shape: type[BaseModel]) -> Raw:
    """What stands under the labels of the shape; an empty mapping when there are none."""
    lines = _lines(text)
    raw: Raw = {}
    for section in _sections(lines, slots(shape)):
        if section.slot.kind == "code":
            continue
        said = _said(section)
        earlier = raw.get(section.slot.name)
        if isinstance(earlier, list) and isinstance(said, list):
            raw[section.slot.name] = earlier + said
        elif earlier is None or earlier == "":
            raw[section.slot.name] = said
    return raw or _only_items(lines, slots(shape))


def _lines(text: str) -> list[Line]:
    lines = text.splitlines()
    fenced = {n for block in blocks(lines) for n in range(block.start, block.end + 1)}
    return [Line(line, n in fenced) for n, line in enumerate(lines)]


def _sections(lines: list[Line], wanted: tuple[Slot, ...]) -> list[Section]:
    found: list[Section] = []
    for line in lines:
        current = found[-1] if found else None
        start = None if line.fenced else _opens(line.text, wanted, current)
        if start:
            slot, rest = start
            found.append(Section(slot, [Line(rest, False)] if rest else []))  # "Vulnerability 1: …" comes as "# …"
        elif current:
            current.lines.append(line)
    return found


def _opens(text: str, wanted: tuple[Slot, ...], current: Section | None) -> tuple[Slot, str] | None:
    """The section this line begins, unless its label belongs to an item of the section we are in."""
    labelled_line = LABEL.match(text)
    if labelled_line:
        label, rest = labelled_line["label"], labelled_line["rest"]
        key = label_key(ORDINAL.sub("", label))
        if rest and ORDINAL.search(label):
            rest = f"# {rest}"
    elif heading := HEADING.match(text):
        key, rest = label_key(ORDINAL.sub("", heading["a"] or heading["b"] or heading["c"])), ""
    else:
        return None
    inside = slots(current.slot.shape) if current and current.slot.shape else ()
    if any(key in slot.labels for slot in inside) and not (labelled_line and labelled_line["hash"]):
        return None
    slot = next((slot for slot in wanted if key in slot.labels), None)
    return (slot, rest) if slot else None


def _said(section: Section) -> object:
    if section.slot.kind == "items" and section.slot.shape:
        body = "\n".join(line.text for line in section.lines).strip()
        if not body or NOTHING.fullmatch(body):
            return body
        return _items(section.lines, section.slot.shape) or body  # unreadable items are not an empty list
    return _text(section.lines)


def _only_items(lines: list[Line], wanted: tuple[Slot, ...]) -> Raw:
    """A reply that goes straight to its items, where only one kind of item can be meant."""
    lists = [slot for slot in wanted if slot.kind == "items" and slot.required]
    if len(lists) != 1 or lists[0].shape is None:
        return {}
    required = {slot.name for slot in slots(lists[0].shape) if slot.required}
    items = [item for item in _items(lines, lists[0].shape) if required <= item.keys()]
    return {lists[0].name: items} if items else {}


def _items(lines: list[Line], shape: type[BaseModel]) -> list[Raw]:
    reader = _ItemReader(slots(shape))
    for line in lines:
        reader.take(line)
    return reader.finished()


class _ItemReader:
    """Labelled lines to items: a rule, a heading or a label seen before begins the next one."""

    def __init__(self, wanted: tuple[Slot, ...]) -> None:
        self.wanted = wanted
        self.items: list[Raw] = []
        self.parts: dict[str, list[Line]] = {}
        self.title = ""
        self.current: str | None = None

    def take(self, line: Line) -> None:
        if line.fenced:
            self._continue(line)
        elif RULE.match(line.text):
            self._end()
        elif start := self._label(line.text):
            slot, rest = start
            if slot.name in self.parts:
                self._end()
            self.current = slot.name
            self.parts[slot.name] = [Line(rest, False)]
        elif (title := self._title(line.text)) is not None:
            if self.parts:
                self._end()
            self.title, self.current = title, None
        else:
            self._continue(line)

    def finished(self) -> list[Raw]:
        self._end()
        return self.items

    def _label(self, text: str) -> tuple[Slot, str] | None:
        found = LABEL.match(text)
        if not found:
            return None
        key = label_key(ORDINAL.sub("", found["label"]))
        slot = next((slot for slot in self.wanted if key in slot.labels), None)
        return (slot, found["rest"]) if slot else None

    def _title(self, text: str) -> str | None:
        """A heading or the first line of a numbered entry; a bullet inside a field is not one."""
        if heading := HEADING.match(text):
            return ORDINAL.sub("", heading["a"] or heading["b"] or heading["c"]).strip(" :*_")
        if (entry := NUMBERED.match(text)) and (self.current is None or text.lstrip()[0].isdigit()):
            return entry["title"].strip(" :*_")
        return None

    def _continue(self, line: Line) -> None:
        if self.current is not None:
            self.parts[self.current].append(line)

    def _end(self) -> None:
        item: Raw = {name: _text(lines) for name, lines in self.parts.items()}
        titled = next((slot for slot in self.wanted if slot.title), None)
        if item and titled and self.title and not item.get(titled.name):
            item[titled.name] = self.title
        if item:
            self.items.append({name: said for name, said in item.items() if said})
        self.parts, self.title, self.current = {}, "", None


def _text(lines: list[Line]) -> str:
    """The words of a field: fences and wrapping backticks around a quoted piece of code are layout."""
    kept = [line.text for line in lines if not (line.fenced and re.match(r"^\s*(```|~~~)", line.text))]
    text = "\n".join(kept).strip()
    if len(text) > 2 and text[0] == text[-1] == "`" and "`" not in text[1:-1]:
        text = text[1:-1].strip()
    return re.sub(r"\*\*$", "", text).strip()
