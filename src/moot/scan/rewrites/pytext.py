"""Python text literals, written out."""

from collections.abc import Sequence

from moot.scan.change import Refused
from moot.scan.sql import Part
from moot.scan.strings import Hole
from moot.scan.syntax import Source


def literal(text: str) -> str:
    """A string that is the text, in double quotes where that needs no escape."""
    return f'"{text}"' if text.isprintable() and '"' not in text and "\\" not in text else repr(text)


def fstring(source: Source, parts: Sequence[Part]) -> str:
    holes = [source.text(part.node) for part in parts if isinstance(part, Hole)]
    texts = "".join(part for part in parts if isinstance(part, str))
    quote = "'" if any('"' in hole for hole in holes) or '"' in texts else '"'
    if any(quote in text or "\\" in text or "\n" in text for text in (*holes, texts)) or any("{" in h for h in holes):
        raise Refused("the value cannot be written as one f-string")
    inner = (
        part.replace("{", "{{").replace("}", "}}") if isinstance(part, str) else f"{{{source.text(part.node)}}}"
        for part in parts
    )
    return f"f{quote}{''.join(inner)}{quote}"
