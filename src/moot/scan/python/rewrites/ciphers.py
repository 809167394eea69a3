"""Initialisation vectors in Python."""

import ast
import re

from tree_sitter import Node

from moot.scan.change import Change, Rewrite, RewriteRefused, replace_node
from moot.scan.python.rewrites.module import module
from moot.scan.rewrites.vectors import DRAWN, find_sent_vector
from moot.scan.syntax import Source

CONSTANT = re.compile(r"b([\"']).*\1(?: \* \d+)?|bytes\(\d+\)|bytearray\(\d+\)", re.DOTALL)
SENT = r"\bVECTOR \+|\+ VECTOR\b|\breturn [^\n]*\bVECTOR\b|\.join\([\[(]\s*VECTOR\b"


def draw_iv(source: Source, node: Node) -> Change:
    value = find_sent_vector(source, node, CONSTANT, SENT)
    system, added = module(source, "os", node)
    return Change((replace_node(value, f"{system}.urandom({_read_length(source.text(value))})"), *added), DRAWN)


def _read_length(text: str) -> int:
    """As many bytes as the constant has: whoever reads the message takes that many off its start."""
    if (made := re.fullmatch(r"(?:bytes|bytearray)\((\d+)\)", text)) is not None:
        return int(made[1])
    written, _, times = text.partition(" * ") if re.search(r"[\"'] \* \d+$", text) else (text, "", "1")
    try:
        return len(ast.literal_eval(written)) * int(times)
    except (ValueError, SyntaxError):
        raise RewriteRefused("how long the vector is cannot be read") from None


REWRITES: dict[str, Rewrite] = {"python-static-iv": draw_iv}
