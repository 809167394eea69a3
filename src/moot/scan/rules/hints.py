"""Outside input in a function that never checks anything: a hint, not a finding."""

import re
from collections.abc import Iterator

from moot.scan.calls import calls, qualified
from moot.scan.rule import Match, Rule
from moot.scan.syntax import Source
from moot.scan.values import CHAINS, OUTSIDE

UNCHECKED = Rule(
    "no-validation", "logic_error", "low", 20,
    "Outside input is used in a function that makes no validation call.",
    "An empty, huge or malformed value reaches code that does not expect it.",
    "Check type, length and form of the value before it is used.", 0.3,
)  # fmt: skip
MENTIONED = re.compile(rb"req|ctx|input|argv|Args|event|location|document|prompt|self|URL|stdin|flag|\\bc\\.")
"""No outside data without one of these; most files need no closer look."""
CHECKING = re.compile(
    r"(?i)valid|sanitiz|sanitis|escap|clean|check|verify|allow|schema|parse|match|isdigit|isalnum|isnumeric|"
    r"isinstance|assert|strip|quote|"
    r"^(?:int|float|bool|Number|parseInt|parseFloat)$|Atoi|basename|secure_filename|safe|limit|abort|guard|"
    r"filter|joi|zod|literal_eval"
)


def unchecked(source: Source) -> Iterator[Match]:
    if not MENTIONED.search(source.data):
        return
    pattern = OUTSIDE[source.language]
    by_method = calls(source)
    reported = {source.scope(call.node) for name, found in by_method.items() if CHECKING.search(name) for call in found}
    named = [(call.node, call.name) for found in by_method.values() for call in found]
    named += [(node, qualified(source, node)) for node in source.nodes(*CHAINS)]
    entering = [node for node, name in named if pattern.search(name)]
    for node in sorted(entering, key=lambda node: node.start_byte):
        if source.scope(node) not in reported:
            reported.add(source.scope(node))
            yield Match(UNCHECKED, node)
