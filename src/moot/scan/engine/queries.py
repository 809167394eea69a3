"""Recognises SQL statements and their places."""

import re
from functools import lru_cache

VERBS = (
    r"(?:\(\s*+)?+(?:select\b|insert\s+(?:or\s+\w+\s+|ignore\s+)?into|update\s|delete\s+from|replace\s+into|drop\s|create\s"
    r"|alter\s|explain\s+(?:select|query|analyze)|show\s+(?:tables|columns|databases|index)|with\s+\w+\s+as|call\s+\w|merge\s+into|truncate\s|grant\s|exec\s|union\s|where\s|pragma\s|attach\s"
    r"|refresh\s+materialized|(?-i:COPY|ANALYZE|VACUUM|REVOKE|REINDEX|NOTIFY|LISTEN|USE|LOCK\s+TABLE|COMMENT\s+ON"
    r"|LOAD\s+DATA|SET\s+ROLE|DECLARE|DESCRIBE|UNLOAD)\s)"
)
STATEMENT = re.compile(rf"(?i)\s*+{VERBS}")
BELOW_REMARK = re.compile(rf"(?i)\n[^\S\n]*+{VERBS}")
"""Both patterns are possessive, so that blank lines are read once."""


def is_statement(text: str) -> bool:
    """Whether SQL starts here or on a line below a comment."""
    if STATEMENT.match(text):
        return True
    return text.lstrip().startswith("--") and BELOW_REMARK.search(text) is not None


CLAUSE = re.compile(r"(?i)\b(?:from|into|set|values|where)\s")
VALUE_PLACE = re.compile(
    r"(?i)(?:[=<>]|\|\||\b(?:like|ilike|in|between|values|limit|offset|then|else))\s*+\(?\s*+[%'\"]*$|['\"]%?$"
    r"|\b(?:values|in)\s*\([^()]*,\s*+['\"]?$"
)
"""Where SQL expects a value and not a name."""
PLACEHOLDER = re.compile(r"(?i)(?:[=<>(,]|\b(?:like|limit|offset|and))\s*+(?:\?|%s|%\(\w+\)s|:\w|\$\d)")
LAST = 200
"""Characters before a place that say what it is."""


def has_clause(text: str) -> bool:
    return CLAUSE.search(text) is not None


def is_value_place(before: str) -> bool:
    return _ends_before_value(before[-LAST:])


@lru_cache(4096)
def _ends_before_value(before: str) -> bool:
    return VALUE_PLACE.search(before) is not None


def has_placeholder(text: str) -> bool:
    """Whether values are bound to the statement."""
    return PLACEHOLDER.search(text) is not None
