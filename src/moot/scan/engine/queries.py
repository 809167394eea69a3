"""Whether a text is the beginning of an SQL statement."""

import re

VERBS = (
    r"(?:\(\s*+)?+(?:select\b|insert\s+into|update\s|delete\s+from|replace\s+into|drop\s|create\s"
    r"|alter\s|with\s+\w+\s+as|call\s+\w|merge\s+into|truncate\s|grant\s|exec\s|union\s|where\s|pragma\s|attach\s)"
)
STATEMENT = re.compile(rf"(?i)\s*+{VERBS}")
BELOW_REMARK = re.compile(rf"(?i)\n[^\S\n]*+{VERBS}")
"""Neither gives back what it took: a text that is all blank lines is read once, not once for each of them."""


def is_statement(text: str) -> bool:
    """Whether SQL begins here, or on a line below a remark."""
    if STATEMENT.match(text):
        return True
    return text.lstrip().startswith("--") and BELOW_REMARK.search(text) is not None
