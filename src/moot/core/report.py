"""Report: what a person is shown of a result, as a few kinds of blocks. Renderers turn it into terminal text, markdown
and HTML, so that no protocol prints and no surface knows a protocol's fields."""

from typing import Annotated, Literal

from pydantic import Field

from moot.core.types import Language, Severity, Value

Tone = Literal["", "good", "bad", "warning", "faint"]


class Headline(Value):
    """The verdict in one line. Its caveats are shown with it, never apart from it."""

    kind: Literal["headline"] = "headline"
    verdict: str
    """The outcome, as in the JSON result."""
    text: str
    caveats: tuple[str, ...] = ()
    tone: Tone = ""


class Paragraph(Value):
    kind: Literal["paragraph"] = "paragraph"
    text: str


class Bullets(Value):
    kind: Literal["bullets"] = "bullets"
    title: str
    entries: tuple[str, ...]


class Cell(Value):
    text: str
    tone: Tone | Severity = ""


class Grid(Value):
    """A table; the same for matrices, whose first column names the row."""

    kind: Literal["grid"] = "grid"
    title: str = ""
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


class Listing(Value):
    """Code as it is."""

    kind: Literal["listing"] = "listing"
    title: str = ""
    language: Language | Literal["text", "diff"] = "text"
    text: str


class Figures(Value):
    """Name and value: calls, tokens, cost, time."""

    kind: Literal["figures"] = "figures"
    title: str = ""
    entries: tuple[tuple[str, str], ...]


Block = Annotated[Headline | Paragraph | Bullets | Grid | Listing | Figures, Field(discriminator="kind")]


class Report(Value):
    """The first block is the headline."""

    blocks: tuple[Block, ...]
