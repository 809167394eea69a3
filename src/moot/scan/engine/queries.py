"""Recognises the start of an SQL statement."""

import re

VERBS = (
    r"(?:\(\s*+)?+(?:select\b|insert\s+into|update\s|delete\s+from|replace\s+into|drop\s|create\s"
    r"|alter\s|with\s+\w+\s+as|call\s+\w|merge\s+into|truncate\s|grant\s|exec\s|union\s|where\s|pragma\s|attach\s)"
)
STATEMENT = re.compile(rf"(?i)\s*+{VERBS}")
BELOW_REMARK = re.compile(rf"(?i)\n[^\S\n]*+{VERBS}")
"""Both patterns are possessive, so that blank lines are read once."""


def is_statement(text: str) -> bool:
    """Whether SQL starts here or on a line below a comment."""
    if STATEMENT.match(text):
        return True
    return text.lstrip().startswith("--") and BELOW_REMARK.search(text) is not None
