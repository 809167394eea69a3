"""Python code that reads without a limit, and checks that are not made when Python runs optimised."""

import re
from collections.abc import Iterator

from moot.scan.python.rules.flaws import ASSERTED, UNLIMITED
from moot.scan.rule import RuleMatch
from moot.scan.syntax import Source

GROWS = re.compile(r"\+=\s*(?:await\s+)?[\w.]+\.(?:recv|read)\(|\.append\(\s*(?:await\s+)?[\w.]+\.(?:recv|read)\(")
PART = re.compile(r"\.(?:recv|read)\([^()]*\)")
"""The size of one part bounds nothing."""
BOUNDS = re.compile(r"(?i)\blen\(|limit|max|size|remaining|(?<![a-z])(?:count|left)|[<>]")
TESTS = re.compile(r"(?m)^[ \t]*(?:import|from)[ \t]+(?:pytest|unittest)\b")
RIGHTS = re.compile(
    r"(?i)is_?admin|is_?authenticated|has_?perm|permission|authori[sz]ed|is_?staff|is_?superuser|is_?owner"
)


def find_unlimited(source: Source) -> Iterator[RuleMatch]:
    """`while not data.endswith(b"\\n"): data += sock.recv(1024)`"""
    if b"recv(" not in source.data and b".read(" not in source.data:
        return
    for node in source.nodes("while_statement"):
        text = source.text(node)
        if GROWS.search(text) and not BOUNDS.search(PART.sub("", text)):
            yield RuleMatch(UNLIMITED, node)


def find_asserted(source: Source) -> Iterator[RuleMatch]:
    """`assert user.is_admin`: with `-O` nobody asks."""
    asserted = list(source.nodes("assert_statement"))
    if not asserted or TESTS.search(source.data.decode("utf-8", "replace")):
        return
    for node in asserted:
        tested = source.scope(node).name.startswith("test")
        if not tested and RIGHTS.search(source.text(node.named_children[0])):
            yield RuleMatch(ASSERTED, node)
