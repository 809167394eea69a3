"""Fields of a class that end with their line: the grammar asks for a semicolon before a computed name."""

import re

UNENDED = re.compile(rb"(?m)^([ \t]*(?:static[ \t]+)?#?[A-Za-z_$][\w$]*[ \t]*\r?\n(?:[ \t]*\r?\n)*[ \t]*)[ \t](?=\[)")


def end_fields(data: bytes) -> bytes:
    """The same text with a semicolon in place of a space before `[name]`, where a lone name stands in the line above.
    Nothing moves. Elsewhere the two are one expression: whoever calls this compares what can be parsed."""
    return UNENDED.sub(rb"\1;", data)
