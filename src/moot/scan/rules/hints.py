"""Outside input in a function that never checks anything: a hint, not a finding."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from moot.scan.calls import CALLS, calls, qualified
from moot.scan.rule import Match, Rule
from moot.scan.syntax import Source
from moot.scan.values import CHAINS, OUTSIDE

UNCHECKED = Rule(
    "no-validation", "logic_error", "low", 20,
    "Outside input is used in a function that makes no validation call.",
    "An empty, huge or malformed value reaches code that does not expect it.",
    "Check type, length and form of the value before it is used.", 0.3,
)  # fmt: skip
CHECKING = re.compile(
    r"(?i)valid|sanitiz|sanitis|escap|clean|check|verify|allow|schema|parse|match|isdigit|isalnum|isnumeric|"
    r"isinstance|assert|strip|quote|"
    r"^(?:int|float|bool|Number|parseInt|parseFloat)$|Atoi|basename|secure_filename|safe|limit|abort|guard|"
    r"filter|joi|zod|literal_eval"
)


def unchecked(source: Source) -> Iterator[Match]:
    pattern = OUTSIDE[source.language]
    checked = {
        source.scope(call.node) for name, found in calls(source).items() if CHECKING.search(name) for call in found
    }
    reported = set(checked)
    for node in _candidates(source):
        scope = source.scope(node)
        if scope in reported:
            continue
        name = qualified(source, node.child_by_field_name("function") or node if node.type in CALLS else node)
        if pattern.search(name):
            reported.add(scope)
            yield Match(UNCHECKED, node)


def _candidates(source: Source) -> list[Node]:
    return sorted(source.nodes(*CHAINS, *CALLS), key=lambda node: node.start_byte)
