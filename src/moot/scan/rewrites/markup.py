"""Where in a page escaping makes a value harmless."""

import re

from moot.scan.change import RewriteRefused

NAMES = re.compile(r"(?i)html|markup|body|page|content|fragment|render|template|escape|quote|json")
"""Names of values that are markup or already escaped: escaping again would show them wrong."""
UNCLOSED = re.compile(r"(?is)<(script|style)\b(?:(?!</\1).)*$|<!--(?:(?!-->).)*$")
TAG = re.compile(r"<[a-zA-Z/!][^<>]*$")
ATTRIBUTE = re.compile(r"""(?i)\s(?!on|href|src|action|formaction|style|data=|srcdoc)[\w-]+=\\?(["'])[^"'<>]*$""")

KNOWN = re.compile(
    r"(?i)</[a-z][a-z0-9]*>|<(?:html|body|head|title|p|div|span|a|b|i|em|strong|ul|ol|li|table|tr|td|th|h[1-6]|br|hr|img|"
    r"form|input|button|label|section|main|header|footer|nav|pre|code|script|style|link|meta|!doctype)\b[^<]*>"
)


def is_text_place(before: str) -> bool:
    """Not in a script, tag, URL or event handler; `before` is the page up to the value."""
    return not UNCLOSED.search(before) and (not TAG.search(before) or bool(ATTRIBUTE.search(before)))


def require_tags(text: str) -> None:
    """Raises unless the text holds tags of HTML. `<term>` in a help text is none."""
    if not KNOWN.search(text):
        raise RewriteRefused("nothing says that the text is a page")
