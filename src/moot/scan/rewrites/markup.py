"""Where in a page escaping makes a value harmless."""

import re

from tree_sitter import Node

from moot.scan.change import RewriteRefused
from moot.scan.rewrites.choices import name_function
from moot.scan.syntax import Source

NAMES = re.compile(r"(?i)html|svg|markup|body|page|content|fragment|render|template|escape|quote|json")
"""Names of values that are markup or already escaped: escaping again would show them wrong."""
FRAME = re.compile(r"(?is)<html\b.*<body\b")
"""The beginning of a whole page."""
COMMON = re.compile(r"(?i)_?(?:render|layout|page|template|frame|wrap|view|base)(?:_?(?:page|layout|template|html))?")
"""Names of functions that make any page; `render_greeting` makes one."""
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


def leave_frame(source: Source, value: Node, before: str) -> None:
    """Raises if the value is a parameter of a function that makes the frame of a page: its callers may give markup."""
    common = COMMON.fullmatch(name_function(source, value)) is not None
    if common and FRAME.search(before) and source.text(value) in source.scope(value).parameters:
        raise RewriteRefused("the function is the frame of a page, and its callers may give markup to put into it")
