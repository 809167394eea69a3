"""Renders a report or document as markdown. Text from models makes no heading, link, image or HTML."""

import re
from collections.abc import Iterable
from typing import assert_never

from moot.core.report import Block, Bullets, Figures, Grid, Headline, Listing, Paragraph, Report, ReportDocument
from moot.text.controls import clean
from moot.text.render import fence_text

MARKUP = re.compile(r"[\\<*]|(?<=!)\[|\](?=[(\[:])")
"""Escapes, HTML, emphasis, images and links."""
BLOCK_START = re.compile(r"^(\s*)(?=#{1,6}(?:\s|$)|>|`{3}|~{3}|[-+](?:\s|$)|\||={2,}\s*$|-{2,}\s*$)")
NUMBERED = re.compile(r"^(\s*\d{1,9})([.)])(?=\s|$)")


def render_markdown(report: Report) -> str:
    return clean(_join(report.blocks))


def render_document_markdown(document: ReportDocument) -> str:
    """For people, on a terminal too: without control characters."""
    parts = [f"# {_escape_line(document.title)}", _escape(document.lead)]
    for section in document.sections:
        parts += [f"## {_escape_line(section.title)}", _join(section.blocks)]
    return clean("\n\n".join(part for part in parts if part))


def render_block_markdown(block: Block) -> str:
    if isinstance(block, Headline):
        caveats = f"\n\nCaveats:\n\n{_list(block.caveats)}" if block.caveats else ""
        return f"**{_escape_line(block.text)}**{caveats}"
    title = f"**{_escape_line(block.title)}**" if block.title else ""
    return "\n\n".join(filter(None, (title, _body(block))))


def _join(blocks: Iterable[Block]) -> str:
    return "\n\n".join(filter(None, map(render_block_markdown, blocks)))


def _body(block: Paragraph | Bullets | Grid | Listing | Figures) -> str:
    match block:
        case Paragraph():
            return _escape(block.text)
        case Bullets():
            return _list(block.entries)
        case Grid():
            head, *rows = (_row(line) for line in (block.columns, *([c.text for c in row] for row in block.rows)))
            return "\n".join((head, f"|{' --- |' * len(block.columns)}", *rows))
        case Listing():
            return fence_text(block.text, block.language)
        case Figures():
            return _list(tuple(f"{name}: {value}" for name, value in block.entries))
        case _:
            assert_never(block)


def _list(entries: Iterable[str]) -> str:
    """Further lines of an entry are indented to stay in it."""
    return "\n".join("- " + "\n  ".join(map(_escape_line, entry.strip("\n").split("\n"))) for entry in entries)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(map(_cell, cells))} |"


def _cell(text: str) -> str:
    """In a cell nothing begins a block, but a bar ends it."""
    return "<br>".join(_escape_markup(line).replace("|", r"\|") for line in text.split("\n"))


def _escape(text: str) -> str:
    """Two trailing spaces keep a line break."""
    return "  \n".join(map(_escape_line, text.split("\n")))


def _escape_line(line: str) -> str:
    return NUMBERED.sub(r"\1\\\2", BLOCK_START.sub(r"\1\\", _escape_markup(line)))


def _escape_markup(line: str) -> str:
    return MARKUP.sub(r"\\\g<0>", " ".join(line.splitlines()))
