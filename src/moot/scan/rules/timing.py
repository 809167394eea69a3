"""Secrets compared with an operator that stops at the first difference, in Python and Go."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from moot.core import secret_patterns as patterns
from moot.core.types import Language
from moot.scan.rule import Rule, RuleMatch
from moot.scan.syntax import Source

SECRET = re.compile(patterns.COMPARED)
MADE_HERE = re.compile(patterns.COMPARED_WHERE_MADE)
"""In a file that computes such codes, shorter names are enough."""
COMPUTED = re.compile(r"(?i)\bhmac\b.*digest\(\)$|^hmac\.new\(")
ABOUT_SECRETS = re.compile(rb"(?i)hmac|hashlib|crypto/|request|http|secrets|jwt")
"""Files without any of these compare other signatures and tokens, such as those of a parser."""
VALUES = ("identifier", "attribute", "subscript", "call", "selector_expression", "index_expression", "call_expression")
FIX = {
    "python": "Use hmac.compare_digest.",
    "go": "Use hmac.Equal or subtle.ConstantTimeCompare.",
}


def make_timing_rule(language: Language) -> Rule:
    return Rule(
        f"{language}-timing", "auth", "low", 208,
        "Timing attack: a secret is compared in non-constant time",
        "The time the answer takes tells how much of a guess was right.",
        FIX[language], 0.4,
    )  # fmt: skip


def find_compared(source: Source) -> Iterator[RuleMatch]:
    if not ABOUT_SECRETS.search(source.data):
        return
    rule = make_timing_rule(source.language)
    for node in source.nodes("comparison_operator", "binary_expression"):
        if len(node.children) != 3 or source.text(node.children[1]) not in ("==", "!="):
            continue
        left, right = node.children[0], node.children[2]
        if not (_is_value(left) and _is_value(right)) or _last(source, left) == _last(source, right):
            continue  # `self.secret == other.secret` compares two trusted values
        if _secret(source, left) or _secret(source, right):
            yield RuleMatch(rule, node)


def _is_value(node: Node) -> bool:
    return node.type in VALUES and node.end_byte - node.start_byte < 300


def _secret(source: Source, node: Node) -> bool:
    text = source.text(node)
    if node.type in ("call", "call_expression"):
        return bool(COMPUTED.search(text))
    last = _last(source, node)
    return bool(SECRET.search(last)) or (b"hmac." in source.data and bool(MADE_HERE.search(last)))


def _last(source: Source, node: Node) -> str:
    found = re.findall(r"\w+", source.text(node))
    return found[-1] if found else ""
