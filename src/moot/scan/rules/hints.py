"""Untrusted input in a function that checks nothing: a hint, not a finding."""

import re
from collections.abc import Iterator
from itertools import islice

from moot.scan.calls import calls, qualify_name
from moot.scan.rule import Rule, RuleMatch
from moot.scan.syntax import Source

OUTSIDE_PYTHON = re.compile(
    r"^(?:flask\.|self\.|bottle\.|django\.http\.)?(?:request|req)\."
    r"(?:args|form|values|json|data|files|cookies|headers|query_string|path|url|full_path|GET|POST|body|params|query|"
    r"query_params|path_params|get_json|get_data|match_info|META|COOKIES|FILES|stream|environ|referrer|user_agent)\b|"
    r"^(?:input|raw_input|sys\.argv|sys\.stdin\..*|os\.environ\.QUERY_STRING|self\.get_argument|self\.rfile\..*)$"
)
OUTSIDE_JAVASCRIPT = re.compile(
    r"^(?:this\.)?(?:req|request|ctx|ctx\.request|ctx\.req|event|context\.req)\."
    r"(?:query|params|body|headers|cookies|url|originalUrl|param|file|files|queryStringParameters|"
    r"pathParameters|path|get)\b|"
    r"^(?:window\.|document\.)?(?:location\.(?:hash|search|href)|document\.(?:URL|cookie|referrer)|URL|referrer)\b|"
    r"^process\.argv\b|^(?:window\.)?prompt$"
)
OUTSIDE_GO = re.compile(
    r"^(?:r|req|request|ctx\.Request|c\.Request)\.(?:URL\.Query\(?\)?|URL\.RawQuery|URL\.Path|FormValue|PostFormValue|"
    r"Form|PostForm|Body|Header|Cookie|Host|RequestURI|PathValue|Referer|UserAgent|MultipartForm)\b|"
    r"^(?:c|ctx)\.(?:Query|Param|PostForm|FormValue|QueryParam|DefaultQuery|GetHeader|Params)\b|^os\.Args$|"
    r"^(?:r|req)\.URL\.Query\b|^flag\.Arg$"
)
OUTSIDE = {
    "python": OUTSIDE_PYTHON,
    "javascript": OUTSIDE_JAVASCRIPT,
    "typescript": OUTSIDE_JAVASCRIPT,
    "go": OUTSIDE_GO,
}
CHAINS = ("attribute", "member_expression", "selector_expression")
UNCHECKED = Rule(
    "no-validation", "logic_error", "low", 20,
    "Missing validation: user input is used in a function that validates nothing",
    "An empty, huge or malformed value reaches code that does not expect it.",
    "Check type, length and form of the value before it is used.", 0.3,
)  # fmt: skip
MENTIONED = re.compile(rb"[rR]eq|ctx|input|argv|Args|event|location|document|prompt|self|URL|stdin|flag|\bc\.")
"""Files without any of these contain no untrusted data."""
MAX_CHAINS = 30_000
"""Member chains examined per file: each is part of the next, and no finding depends on it."""
CHECKING = re.compile(
    r"(?i)valid|sanitiz|sanitis|escap|clean|check|verify|allow|schema|parse|match|isdigit|isalnum|isnumeric|"
    r"isinstance|assert|strip|quote|"
    r"^(?:int|float|bool|Number|parseInt|parseFloat)$|Atoi|basename|secure_filename|safe|limit|abort|guard|"
    r"filter|joi|zod|literal_eval"
)


def find_unchecked(source: Source) -> Iterator[RuleMatch]:
    if not MENTIONED.search(source.data):
        return
    pattern = OUTSIDE[source.language]
    by_method = calls(source)
    reported = {source.scope(call.node) for name, found in by_method.items() if CHECKING.search(name) for call in found}
    named = [(call.node, call.name) for found in by_method.values() for call in found]
    named += [(node, qualify_name(source, node)) for node in islice(source.nodes(*CHAINS), MAX_CHAINS)]
    entering = [node for node, name in named if pattern.search(name)]
    for node in sorted(entering, key=lambda node: node.start_byte):
        if source.scope(node) not in reported:
            reported.add(source.scope(node))
            yield RuleMatch(UNCHECKED, node)
