"""Report: what a person sees of a result, as a few kinds of blocks. Renderers turn it into terminal text, markdown and
HTML, so no protocol prints and no surface knows a protocol's fields."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Annotated, Literal, get_args

from pydantic import Field

from moot.core.errors import CutKind
from moot.core.types import SUFFIXES, Result, Severity, Spend, Value

COUNTED = "flaw|challenge|question|draft|point|test|repair|finding|proposal|reviewer"
ONE = re.compile(rf"(?<![\d.,])1 ((?:breaking )?(?:{COUNTED}))s\b( stand\b)?")
Tone = Literal["", "good", "bad", "warning", "faint"]
FALLBACK_WORDS = ("absent", "stand in", "echoes")


class Headline(Value):
    """The verdict in one line, always shown with its caveats."""

    kind: Literal["headline"] = "headline"
    verdict: str
    """The outcome, as in the JSON result."""
    text: str
    caveats: tuple[str, ...] = ()
    """Most serious first."""
    tone: Tone = ""

    @property
    def line(self) -> str:
        if not self.caveats or (len(self.caveats) == 1 and self.text.startswith(self.caveats[0])):
            return self.text  # how the session was cut short is a caveat, and the verdict begins with it
        many = "caveat" if len(self.caveats) == 1 else f"{len(self.caveats)} caveats, first"
        return f"{self.text}; {many}: {self.caveats[0]}"


class Paragraph(Value):
    kind: Literal["paragraph"] = "paragraph"
    title: str = ""
    text: str = ""


class Bullets(Value):
    kind: Literal["bullets"] = "bullets"
    title: str = ""
    entries: tuple[str, ...]


class Cell(Value):
    text: str
    tone: Tone | Severity = ""


class Grid(Value):
    """A table, or a matrix whose first column names the row."""

    kind: Literal["grid"] = "grid"
    title: str = ""
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


class Listing(Value):
    """Verbatim text: code, a diff, a prompt, a reply."""

    kind: Literal["listing"] = "listing"
    title: str = ""
    language: str = "text"
    """A programming language, `diff`, `json` or `text`."""
    text: str


class Figures(Value):
    """Name and value: calls, tokens, cost, time."""

    kind: Literal["figures"] = "figures"
    title: str = ""
    entries: tuple[tuple[str, str], ...]


GIVE_A_MODEL = "give -m PROVIDER:MODEL, or set MOOT_MODEL or `model` in moot.toml (`moot models` lists what you have)"
NO_MODEL_CALLED = "no model was called; to add one: -m PROVIDER:MODEL (`moot models` lists what you have)"
NO_MODEL_ANSWERED = "no model had answered when the session was stopped"
Block = Annotated[Headline | Paragraph | Bullets | Grid | Listing | Figures, Field(discriminator="kind")]


class Report(Value):
    """The first block is the headline."""

    blocks: tuple[Block, ...]

    @property
    def headline(self) -> Headline:
        first = self.blocks[0]
        assert isinstance(first, Headline), "a report begins with its verdict"
        return first


class ReportSection(Value):
    title: str
    blocks: tuple[Block, ...]


class ReportDocument(Value):
    title: str
    lead: str
    sections: tuple[ReportSection, ...]


# --- shared by the reports of several protocols


def order_caveats(degraded: Sequence[str]) -> tuple[str, ...]:
    """Fallbacks first; what a second reply repaired comes last."""

    def gravity(note: str) -> int:
        if note.endswith("asked again"):
            return 2
        return 0 if any(word in note for word in FALLBACK_WORDS) else 1

    return tuple(sorted(degraded, key=gravity))


def list_items(title: str, entries: Sequence[str]) -> Iterator[Block]:
    """Bullets, or nothing without entries."""
    if entries:
        yield Bullets(title=title, entries=tuple(entries))


def make_row(*cells: str | Cell) -> tuple[Cell, ...]:
    return tuple(cell if isinstance(cell, Cell) else Cell(text=cell) for cell in cells)


def count_things(number: int, thing: str) -> str:
    """`1 call`, `2 calls`."""
    return f"{number} {thing}{'' if number == 1 else 's'}"


def format_wait(milliseconds: float) -> str:
    """`420 ms`, `69.6 s`."""
    return f"{milliseconds:g} ms" if milliseconds < 1000 else f"{milliseconds / 1000:.1f} s"


def correct_counts(recorded: str) -> str:
    """Recorded sentences say `1 flaws`, and a replay compares them: only what is shown is corrected."""
    return ONE.sub(lambda found: f"1 {found[1]}{' stands' if found[2] else ''}", recorded)


def language_of(path: str) -> str:
    return SUFFIXES.get(PurePosixPath(path).suffix.lower(), "text")


def list_spending(usage: Mapping[str, Spend]) -> list[tuple[str, str]]:
    """By model; an unknown price is shown as unknown."""
    lines = []
    for model, spend in usage.items():
        price = "price unknown" if spend.usd is None else f"${spend.usd:.4f}"
        tokens = f"{spend.input_tokens} tokens in, {spend.output_tokens} out"
        lines.append((model, f"{count_things(spend.calls, 'call')}, {tokens}, {price}"))
    return lines


def list_figures(result: Result, length: str, *more: tuple[str, str]) -> Figures:
    """Spending and duration. Failed models are listed too: they were called."""
    spent = list_spending(result.usage)
    if result.calls_failed:
        failed = f"{result.calls_failed} (refused, failed or timed out)"
        spent.append(("failed calls", failed if spent else f"{failed}; no model answered"))
    none = NO_MODEL_ANSWERED if getattr(result, "outcome", "") in get_args(CutKind) else NO_MODEL_CALLED
    branch = [("branch", f"{result.branch} (a commit for each version)")] if result.branch else []
    session = ("session", ", ".join(filter(None, (result.session_id, length, f"{result.duration:.1f} s"))))
    return Figures(entries=(*more, *(spent or [("models", none)]), *branch, session))
