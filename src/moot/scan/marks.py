"""A built string as a sequence of characters and holes with source positions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from moot.scan.change import RewriteRefused
from moot.scan.edits import Edit
from moot.scan.strings import Built, StringHole, Text, quotes
from moot.scan.syntax import Source

ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "'": "'", '"': '"', "\\": "\\", "`": "`", "\n": ""}


@dataclass(frozen=True, eq=False)
class Mark:
    """One decoded character, or a hole. `plain` is its spelling once the string is no template."""

    text: str
    start: int
    end: int
    plain: str | None = None
    hole: StringHole | None = None


def marks(source: Source, built: Built) -> list[Mark]:
    if not built.exact:
        raise RewriteRefused("the text is put together in several steps")
    _same_quotes(source, built)
    found: list[Mark] = []
    template = _template_kind(source, built)
    for index, piece in enumerate(built.pieces):
        if isinstance(piece, Text):
            found.extend(_characters(source, piece, template))
        else:
            found.append(_gap(built, index, piece))
    return found


def list_marks(source: Source, built: Built) -> Iterator[Mark]:
    """The characters of a text as they are written, for edits inside its tokens; a value ends where its node does."""
    template = _template_kind(source, built)
    for piece in built.pieces:
        if isinstance(piece, Text):
            yield from _characters(source, piece, template)
        else:
            yield Mark("", piece.node.start_byte, piece.node.end_byte, hole=piece)


def _template_kind(source: Source, built: Built) -> str:
    if not built.cuts:
        return ""
    return "%" if any(hole.spec.startswith("%") for hole in built.holes) else "{"


def _same_quotes(source: Source, built: Built) -> None:
    """Tokens joined across a hole become one token, so they need the same quotes."""
    texts = [piece for piece in built.pieces if isinstance(piece, Text)]
    if any(hole.start < 0 for hole in built.holes):
        openings = {plain_opening(quotes(source, text.string)[0]) for text in texts}
        if len(openings) > 1:
            raise RewriteRefused("the parts are quoted in different ways")
    if source.language == "python" and any("b" in quotes(source, t.string)[0].lower() for t in texts):
        raise RewriteRefused("it is a bytes string")


def plain_opening(opening: str) -> str:
    """The opening of a Python string without its `f`."""
    return opening.replace("f", "").replace("F", "")


def _gap(built: Built, index: int, hole: StringHole) -> Mark:
    if hole.start >= 0:
        return Mark("", hole.start, hole.end, hole=hole)
    before = built.pieces[index - 1] if index else None
    after = built.pieces[index + 1] if index + 1 < len(built.pieces) else None
    if not isinstance(before, Text) or isinstance(after, StringHole):
        raise RewriteRefused("values follow each other with no text between")
    # A hole at the end includes its string's closing quote; a replacement restores it.
    return Mark("", before.end, after.start if after is not None else hole.node.end_byte, hole=hole)


def _characters(source: Source, piece: Text, template: str) -> Iterator[Mark]:
    opening = quotes(source, piece.string)[0]
    raw = "r" in opening.lower() or (source.language == "go" and opening == "`")
    doubled = (
        "{}" if "f" in opening.lower() and source.language == "python" else {"%": "%", "{": "{}"}.get(template, "")
    )
    text, at, index = source.slice(piece.start, piece.end), piece.start, 0
    while index < len(text):
        char = text[index]
        pair = text[index : index + 2]
        if char == "\\" and not raw and len(pair) == 2:
            taken, mark = pair, ESCAPES.get(pair[1], "\ufffd")
        elif len(pair) == 2 and pair[0] == pair[1] and char in doubled:
            taken, mark = pair, char
        else:
            taken, mark = char, char
        end = at + len(taken.encode())
        yield Mark(mark, at, end, char if taken == pair and char in doubled else None)
        at, index = end, index + len(taken)


def unescape_marks(found: Sequence[Mark], kept: set[int]) -> Iterator[Edit]:
    """Unescapes `{{` and `%%` outside the spans that are replaced anyway."""
    for index, mark in enumerate(found):
        if mark.plain is not None and index in kept:
            yield Edit(mark.start, mark.end, mark.plain)


def prefix_edits(source: Source, built: Built, kept: Sequence[StringHole] = ()) -> Iterator[Edit]:
    """Removes the `f` of f-strings, but of those that still hold one of the kept values."""
    seen = {text.string.start_byte for text in _list_holders(built, kept)}
    for text in (piece for piece in built.pieces if isinstance(piece, Text)):
        opening = quotes(source, text.string)[0]
        start = text.string.start_byte
        if source.language == "python" and start not in seen and plain_opening(opening) != opening:
            seen.add(start)
            yield Edit(start, start + len(opening), plain_opening(opening))


def _list_holders(built: Built, kept: Sequence[StringHole]) -> Iterator[Text]:
    for text in (piece for piece in built.pieces if isinstance(piece, Text)):
        if any(text.string.start_byte <= hole.start < text.string.end_byte for hole in kept):
            yield text
