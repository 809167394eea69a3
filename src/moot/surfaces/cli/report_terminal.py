"""Renders reports and documents for a terminal: colours for a person, plain text for a pipe."""

from typing import TYPE_CHECKING, assert_never

from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from moot.core.report import Block, Bullets, Figures, Grid, Headline, Listing, Paragraph, Report, ReportDocument
from moot.surfaces.cli.screen import out, plain
from moot.text.controls import clean
from moot.text.render import fence_text

if TYPE_CHECKING:
    from rich.console import Console

STYLES = {
    "": "", "good": "green", "bad": "red", "warning": "yellow", "faint": "dim",
    "critical": "bold red", "high": "red", "medium": "yellow", "low": "dim",
}  # fmt: skip
MARK = "  - "
NARROW = 16
"""Columns up to this width are not wrapped, unless there is no room."""
LEAST = 10
"""What a wider column needs at least to be read."""


def show_report(report: Report) -> None:
    console = out()
    for place, block in enumerate(report.blocks):
        if place:
            console.print()
        _show(block, console)


def show_document(document: ReportDocument) -> None:
    """Prompts, replies and code are fenced, so that they cannot pass for parts of the document."""
    console = out()
    console.print(_bold(f"# {document.title}"))
    console.print(plain(document.lead))
    for section in document.sections:
        console.print()
        console.print(_bold(f"## {section.title}"))
        for block in section.blocks:
            console.print()
            _show(block, console, fence=True)


def _show(block: Block, console: "Console", *, fence: bool = False) -> None:
    if isinstance(block, Headline):
        return _show_headline(block, console)
    if block.title:
        console.print(_bold(block.title))
    match block:
        case Paragraph():
            if block.text:
                console.print(plain(block.text))
        case Bullets():
            _show_list(block.entries, console)
        case Grid():
            _show_grid(block, console)
        case Listing():
            _show_listing(block, console, fence=fence)
        case Figures():
            for name, value in block.entries:
                console.print(plain(f"{name}: {value}"))
        case _:
            assert_never(block)


def _show_headline(block: Headline, console: "Console") -> None:
    line = plain(block.line)
    if block.text.startswith(block.verdict):
        line.stylize(f"bold {STYLES[block.tone]}", 0, len(block.verdict))
    console.print(line)
    if len(block.caveats) > 1:
        console.print(_bold("Caveats:"))
        _show_list(block.caveats, console)


def _show_list(entries: tuple[str, ...], console: "Console") -> None:
    for entry in entries:
        lines = [plain(line) for line in entry.strip("\n").split("\n")]
        if console.is_terminal and console.width > len(MARK) + NARROW:
            lines = [part for line in lines for part in line.wrap(console, console.width - len(MARK))]
        for place, line in enumerate(lines):
            console.print(plain(" " * len(MARK) if place else MARK) + line)


def _show_listing(block: Listing, console: "Console", *, fence: bool) -> None:
    text = block.text.rstrip("\r\n")
    if fence:
        console.print(plain(fence_text(text, block.language)), soft_wrap=True)
    elif block.language == "text":
        console.print(plain("\n".join(f"  {line}" for line in text.split("\n"))))
    elif console.is_terminal:
        code = Syntax("", block.language, theme="ansi_dark", background_color="default").highlight(clean(text))
        code.rstrip()
        console.print(code, soft_wrap=True)  # drawn as a block, rich cuts lines that are longer than the terminal
    else:
        console.print(plain(text))


def _show_grid(grid: Grid, console: "Console") -> None:
    if console.is_terminal and _least_width(grid) > console.width:
        return _show_records(grid, console)
    console.print(_table(grid, console.width))


def _measure_columns(grid: Grid) -> list[int]:
    return [max(map(len, (name, *(row[n].text for row in grid.rows)))) for n, name in enumerate(grid.columns)]


def _least_width(grid: Grid) -> int:
    return sum(2 + (size if size <= NARROW else LEAST) for size in _measure_columns(grid)) - 2


def _show_records(grid: Grid, console: "Console") -> None:
    """A line for each cell, on a terminal too narrow for the table."""
    for row in grid.rows:
        for place, (name, cell) in enumerate(zip(grid.columns, row, strict=True)):
            if cell.text or not place:
                label = plain(f"  {clean(name)}: ") if place else plain("")
                console.print(label + Text(clean(cell.text), style=STYLES[cell.tone]))


def _table(grid: Grid, width: int) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    widest = _measure_columns(grid)
    narrow = [size + 1 for size in widest if size <= NARROW]
    room = sum(narrow) <= (width if len(narrow) == len(widest) else width // 2)
    for name, size in zip(grid.columns, widest, strict=True):
        table.add_column(Text(clean(name)), overflow="fold", no_wrap=room and size <= NARROW)
    for row in grid.rows:
        table.add_row(*(Text(clean(cell.text), style=STYLES[cell.tone]) for cell in row))
    return table


def _bold(text: str) -> Text:
    line = plain(text)
    line.stylize("bold")
    return line
