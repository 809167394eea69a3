"""Markdown tables in a reply: each row is an item, each column labelled like a field is that field."""

import re
from collections.abc import Sequence

from pydantic import BaseModel

from moot.text.replies.labels import ReplyLine
from moot.text.replies.shape import label_key, slot_for

CELLS = re.compile(r"(?<!\\)\|")


def expand_tables(lines: Sequence[ReplyLine], shape: type[BaseModel]) -> list[ReplyLine]:
    found: list[ReplyLine] = []
    columns: list[str] = []
    for at, line in enumerate(lines):
        row = not line.opaque and line.text.count("|") > 1
        if columns and row and not _is_rule(line.text):
            found += _item(columns, _cells(line.text))
        elif columns and row:
            continue  # the rule below the header
        elif row and at + 1 < len(lines) and _is_rule(lines[at + 1].text):
            named = [slot_for(label_key(cell), shape) for cell in _cells(line.text)]
            columns = [slot.name if slot else "" for slot in named] if any(named) else []
            found += [] if columns else [line]
        else:
            found += [ReplyLine("---")] * bool(columns) + [line]
            columns = []
    return found


def _item(columns: Sequence[str], cells: Sequence[str]) -> list[ReplyLine]:
    named = [ReplyLine(f"{name}: {cell}") for name, cell in zip(columns, cells, strict=False) if name and cell]
    return [ReplyLine("---"), *named] if named else []


def _cells(text: str) -> list[str]:
    inner = text.strip().removeprefix("|")
    inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
    return [cell.replace("\\|", "|").strip() for cell in CELLS.split(inner)]


def _is_rule(text: str) -> bool:
    return text.count("-") > 2 and "|" in text and not text.strip(" |:-\t")
