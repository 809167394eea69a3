"""Initialisation vectors in Python."""

import re

from tree_sitter import Node

from moot.scan.change import Change, Rewrite, replace_node
from moot.scan.python.rewrites.module import module
from moot.scan.rewrites.vectors import DRAWN, find_sent_vector
from moot.scan.syntax import Source

CONSTANT = re.compile(r"b([\"']).*\1(?: \* \d+)?|bytes\(\d+\)|bytearray\(\d+\)", re.DOTALL)
SENT = r"\bVECTOR \+|\+ VECTOR\b|\breturn [^\n]*\bVECTOR\b|\.join\([\[(]\s*VECTOR\b"


def draw_iv(source: Source, node: Node) -> Change:
    value = find_sent_vector(source, node, CONSTANT, SENT)
    system, added = module(source, "os", node)
    return Change((replace_node(value, f"{system}.urandom(16)"), *added), DRAWN)


REWRITES: dict[str, Rewrite] = {"python-static-iv": draw_iv}
