"""Rights that a request grants itself: a header or a cookie says who its sender is."""

import re
from collections.abc import Iterator

from moot.core.types import Language
from moot.scan.rule import Rule, RuleMatch
from moot.scan.syntax import Source

SENT = re.compile(
    r"(?i)(?:\bheaders?|\bcookies?)\b\w*(?:\.get|\.Get|\.value)?\s*(?:[(\[.]\s*['\"`]?)[\w-]*"
    r"(?:is[-_]?admin|admin|role|privilege|is[-_]?staff|superuser|user[-_]?type)s?['\"`]?(?:\s*,\s*['\"][^'\"]*['\"])?[)\]]?$"
)
ABOUT = re.compile(rb"(?i)header|cookie")


def make_role_rule(language: Language) -> Rule:
    language = "javascript" if language == "typescript" else language
    return Rule(
        f"{language}-client-role", "auth", "medium", 807,
        "Untrusted decision: a header or a cookie says whether its sender may do this",
        "Who sends 'X-Role: admin' is an administrator.",
        "Take the rights from the session or from a verified token.", 0.6,
    )  # fmt: skip


def find_client_roles(source: Source) -> Iterator[RuleMatch]:
    """`request.headers.get("X-Role") == "admin"`"""
    if not ABOUT.search(source.data):
        return
    rule = make_role_rule(source.language)
    for node in source.nodes("comparison_operator", "binary_expression"):
        if len(node.children) != 3 or source.text(node.children[1]) not in ("==", "!=", "===", "!=="):
            continue
        left, right = node.children[0], node.children[2]
        written = right.type in ("string", "interpreted_string_literal", "true", "template_string")
        if written and left.end_byte - left.start_byte < 120 and SENT.search(source.text(left)):
            yield RuleMatch(rule, node)
