"""Labelled text in a reply: `LABEL: value`, `**Label:** value`, headings, bullets, `---` between items or none."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from pydantic import BaseModel

from moot.core.errors import ParseError
from moot.text.replies.fences import FILE, Block
from moot.text.replies.fit import NOTHING, Raw
from moot.text.replies.jsonish import JsonPiece, decode_json
from moot.text.replies.labels import ENTRY, LONGEST, ORDINAL, RULE, Label, ReplyLine, heading_of, label_of
from moot.text.replies.shape import MANY, Slot, list_required, only_list, slot_for, slots
from moot.text.replies.tables import expand_tables

NAMED = re.compile(
    r"\s*+(?:(?:[-*+•]|\d{1,3}[.)]|#{1,6})\s++)?[*`\"'_]{0,3}(?P<name>[\w.-]{1,60})[*`\"'_]{0,3}(?:\s*\([^()]{0,60}\))?"
    r"[*`\"'_]{0,3}\s*(?:[:=：][*`_]{0,3}|\s[-–—]{1,2}\s|[-=]>|$)"
)
NUMBER = re.compile(r"^\d{1,3}[.)]\s*")


@dataclass
class Section:
    slot: Slot
    rank: int
    lines: list[ReplyLine] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    """Their line numbers in the reply."""


def lines_of(text: str, blocks: Sequence[Block], json: set[int]) -> list[ReplyLine]:
    opaque = json.union(*(range(block.start, block.end + 1) for block in blocks))
    return [ReplyLine(line, n in opaque) for n, line in enumerate(text.split("\n"))]


def json_lines(text: str, pieces: Sequence[JsonPiece]) -> set[int]:
    """The lines occupied by JSON, except one where it begins after other words."""
    taken: set[int] = set()
    number = at = 0
    for piece in pieces:
        number += text.count("\n", at, piece.start)
        first = number + bool(text[text.rfind("\n", 0, piece.start) + 1 : piece.start].strip())
        number, at = number + text.count("\n", piece.start, piece.end), piece.end
        taken.update(range(first, number + 1))
    return taken


def sections(lines: Sequence[ReplyLine], shape: type[BaseModel]) -> list[Section]:
    found: list[Section] = []
    for number, line in enumerate(lines):
        current = found[-1] if found else None
        label = None if line.opaque else label_of(line.text)
        slot = _find_opened_slot(label, shape, current) if label else None
        if label and slot:
            rest = f"# {label.rest}" if label.rest and label.numbered else label.rest  # "Vulnerability 1: …"
            found.append(Section(slot, slot.labels.index(label.key), [ReplyLine(rest)], [number]))
        elif current:
            current.lines.append(line)
            current.numbers.append(number)
    return found


def without_blocks(parts: Sequence[Section], blocks: Sequence[Block]) -> list[Section]:
    """The sections without standalone code blocks. Text after such a block does not belong to the field above it,
    unless that field is still empty."""
    code = {number for block in blocks for number in range(block.start, block.end + 1)}
    return [_clear_code(part, code) for part in parts] if code else list(parts)


def _clear_code(part: Section, code: set[int]) -> Section:
    cleared, said = Section(part.slot, part.rank), False
    for line, number in zip(part.lines, part.numbers, strict=True):
        if number in code and said:
            break
        names_block = number + 1 in code and FILE.match(line.text[:LONGEST]) is not None
        if number not in code and not (names_block and cleared.lines):
            cleared.lines.append(line)
            cleared.numbers.append(number)
            said = said or bool(line.text.strip())
    return cleared


def _find_opened_slot(label: Label, shape: type[BaseModel], current: Section | None) -> Slot | None:
    """The section this label begins, unless the label belongs to an item of the current section."""
    inside = slot_for(label.key, current.slot.shape) if current else None
    return None if inside else slot_for(label.key, shape)


def read_labelled(lines: Sequence[ReplyLine], found: Sequence[Section], shape: type[BaseModel]) -> Raw:
    """The content under the labels of the shape; empty if there are none."""
    raw: Raw = {}
    for slot in slots(shape):
        own = [section for section in found if section.slot is slot and slot.kind != "code"]
        if own:
            raw[slot.name] = _join_sections(own)
    bare, first = only_list(shape), found[0].numbers[0] if found else len(lines)
    if bare and bare.name not in raw:
        if items := _bare_items(lines[:first], bare) or (_bare_items(lines, bare) if found else []):
            raw[bare.name] = items
    elif bare and _is_nothing(raw[bare.name]) and _bare_items(lines, bare):
        raise ParseError(f"the reply both lists {bare.name} and says there are none")
    return raw


def _join_sections(own: Sequence[Section]) -> object:
    """Combine the sections of one slot: the better label wins, and two different answers are an error."""
    slot, bodies = own[0].slot, [_body(section) for section in own]
    if slot.kind == "items":
        return _join_items(bodies, slot)
    ranked = [(section.rank, body) for section, body in zip(own, bodies, strict=True) if body != ""] or [(0, "")]
    answers = [body for rank, body in ranked if rank == min(ranked, key=lambda t: t[0])[0]]
    if slot.kind == "mapping" and all(isinstance(answer, dict) for answer in answers):
        return {name: text for answer in answers if isinstance(answer, dict) for name, text in answer.items()}
    if any(answer != answers[0] for answer in answers):
        raise ParseError(f"the reply holds different answers for {slot.name}; give one")
    return answers[0]


def _join_items(answers: Sequence[object], slot: Slot) -> object:
    """Items from several sections. Prose above them is ignored; an answer that denies them is an error."""
    lists = [answer for answer in answers if answer and not isinstance(answer, str)]
    nothing = [answer for answer in answers if _is_nothing(answer)]
    unclear = [answer for answer in answers if isinstance(answer, str) and answer and answer not in nothing]
    if nothing and lists:
        raise ParseError(f"the reply both lists {slot.name} and says there are none")
    if len(lists) < 2:
        return next(iter([*lists, *unclear, *nothing]), "")
    return [item for answer in lists for item in (answer if isinstance(answer, list) else [answer])]


def _is_nothing(answer: object) -> bool:
    return answer == [] or (isinstance(answer, str) and bool(NOTHING.fullmatch(answer)))


def _body(section: Section) -> object:
    slot, text = section.slot, words(section.lines)
    if slot.kind not in MANY:
        if slot.kind == "text":
            return text
        return next((line.text.strip() for line in section.lines if line.text.strip()), "")
    if not text or NOTHING.fullmatch(text):
        return text
    if (value := decode_json(text)) is not None:
        return value
    if slot.kind == "mapping":
        return read_named(section.lines) or text
    if slot.shape is None:
        return text
    items = items_of(section.lines, slot.shape)
    if slot.kind == "item":
        return items[0] if len(items) == 1 else text
    return items or text  # unreadable items are not an empty list


def _bare_items(lines: Sequence[ReplyLine], slot: Slot) -> list[Raw]:
    """Items without a label of their own; without one complete item it is just prose."""
    items = items_of(lines, slot.shape) if slot.shape else []
    return items if slot.shape and any(list_required(slot.shape) <= item.keys() for item in items) else []


def read_named(lines: Sequence[ReplyLine]) -> dict[str, str]:
    """`name: text` lines, or headings with text below them. If the first name contains a digit, as ids do, a line that
    begins with any other word continues the text."""
    parts: dict[str, list[ReplyLine]] = {}
    current = ""
    for line in lines:
        found = None if line.opaque else NAMED.match(line.text[:200])
        alike = found and (not parts or _has_digit(found["name"]) or not _has_digit(next(iter(parts))))
        if found and alike and (found.end() < len(line.text.rstrip()) or _has_digit(found["name"])):
            current = found["name"]
            parts.setdefault(current, []).append(ReplyLine(line.text[found.end() :].strip()))
        elif current and (line.opaque or not NOTHING.fullmatch(line.text)):  # "NONE" after the last of them
            parts[current].append(line)
    return {name: words(said) for name, said in parts.items()}


def _has_digit(text: str) -> bool:
    return any(c.isdigit() for c in text)


def items_of(lines: Sequence[ReplyLine], shape: type[BaseModel]) -> list[Raw]:
    reader = _ItemReader(shape)
    for line in expand_tables(lines, shape):
        reader.take(line)
    return reader.finish()


class _ItemReader:
    """Groups labelled lines into items: a rule, a heading, an entry's number or a repeated label begins the next
    one."""

    def __init__(self, shape: type[BaseModel]) -> None:
        self.shape = shape
        self.required = list_required(shape)
        self.titled = next((slot.name for slot in slots(shape) if slot.title), "")
        self.items: list[Raw] = []
        self.parts: dict[str, list[ReplyLine]] = {}
        """Label -> content; two labels of one field are resolved when the item ends."""
        self.filled: set[str] = set()
        self.title, self.is_entry = "", False
        self.bullet = ""
        """The bullet of this item's first line; another one like it begins the next item."""
        self.current: str | None = None

    def take(self, line: ReplyLine) -> None:
        if line.opaque or not line.text or line.text.isspace():
            self._continue(line)
        elif RULE.fullmatch(line.text):
            self._end()
        elif (label := label_of(line.text)) and (slot := slot_for(label.key, self.shape)):
            if label.key in self.parts or (slot.title and slot.name in self.filled and len(self.filled) > 1):
                self._end()
            self.current = label.key
            self.parts[label.key] = []
            self._continue(ReplyLine(label.rest))
        elif (title := self._title(line.text)) is not None:
            self._end()
            self.title, self.is_entry = title
            self.bullet = _bullet(line.text)
        else:
            self._continue(line)

    def finish(self) -> list[Raw]:
        self._end()
        return self.items

    def _title(self, text: str) -> tuple[str, bool] | None:
        """A heading or the first line of an entry, and whether it is an item even without a label below it. Inside an
        incomplete item, both are content."""
        full = self.current is None or self.required <= self.filled | ({self.titled} if self.title else set())
        entry = ENTRY.match(text)
        if full and (heading := heading_of(text)):
            return NUMBER.sub("", heading), bool(entry or ORDINAL.search(heading))
        if entry and (self.current is None or (full and _bullet(text) in ("1", self.bullet))):
            return entry["title"].strip(" :*_"), True
        return None

    def _continue(self, line: ReplyLine) -> None:
        if self.current is not None:
            self.parts[self.current].append(line)
            if line.text and not line.text.isspace() and (slot := slot_for(self.current, self.shape)):
                self.filled.add(slot.name)

    def _collect_item(self) -> Raw:
        best: dict[str, tuple[int, str]] = {}
        for key, lines in self.parts.items():
            slot, text = slot_for(key, self.shape), words(lines)
            if slot and text and (slot.name not in best or slot.labels.index(key) < best[slot.name][0]):
                best[slot.name] = (slot.labels.index(key), text)
        return {name: text for name, (_, text) in best.items()}

    def _end(self) -> None:
        item = self._collect_item()
        if self.titled and self.title and (item or self.is_entry):  # an entry without any label is an item too
            item.setdefault(self.titled, self.title)
        if item:
            self.items.append(item)
        self.parts, self.filled, self.current = {}, set(), None
        self.title, self.is_entry, self.bullet = "", False, ""


def _bullet(text: str) -> str:
    entry = ENTRY.match(text)
    return "" if not entry else "1" if entry["mark"][0].isdigit() else entry["indent"] + entry["mark"]


def words(lines: Sequence[ReplyLine]) -> str:
    """The text of a field, without fences and backticks around a quoted piece of code."""
    kept = [line.text for line in lines if not (line.opaque and line.text.lstrip().startswith(("```", "~~~")))]
    text = "\n".join(kept).strip()
    if len(text) > 2 and text[0] == text[-1] == "`" and "`" not in text[1:-1]:
        text = text[1:-1].strip()
    return text
