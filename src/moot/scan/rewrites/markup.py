"""Where in a page escaping makes a value harmless."""

import re

NAMES = re.compile(r"(?i)html|markup|body|page|content|fragment|render|template|escape|quote|json")
"""Names of values that are markup or already escaped: escaping again would show them wrong."""
UNCLOSED = re.compile(r"(?is)<(script|style)\b(?:(?!</\1).)*$|<!--(?:(?!-->).)*$")
TAG = re.compile(r"<[a-zA-Z/!][^<>]*$")
ATTRIBUTE = re.compile(r"""(?i)\s(?!on|href|src|action|formaction|style|data|srcdoc)[\w-]+=\\?(["'])[^"'<>]*$""")


def is_text_place(before: str) -> bool:
    """Not in a script, tag, URL or event handler; `before` is the page up to the value."""
    return not UNCLOSED.search(before) and (not TAG.search(before) or bool(ATTRIBUTE.search(before)))
