"""What the grammar cannot parse yet, in words that it can."""

import re

UNENDED = re.compile(rb"(?m)^([ \t]*(?:static[ \t]+)?#?[A-Za-z_$][\w$]*[ \t]*\r?\n(?:[ \t]*\r?\n)*[ \t]*)[ \t](?=\[)")
"""A field of a class that ends with its line: the grammar asks for a semicolon before a computed name."""
TYPES_ONLY = re.compile(rb"(?m)^([ \t]*export[ \t]+)type(?=[ \t]*(?:\*|\{[^{}]{0,200}\bdefault\b))")
"""`export type * from "a"`, `export type {default as A} from "a"`: nothing of it runs."""


def fit_grammar(data: bytes) -> bytes:
    """The same text with a semicolon in place of a space before `[name]`, where a lone name stands in the line above,
    and without `type` behind `export`. Nothing moves. Elsewhere the first is another expression: whoever calls this
    compares what can be parsed."""
    return TYPES_ONLY.sub(rb"\1    ", UNENDED.sub(rb"\1;", data))
