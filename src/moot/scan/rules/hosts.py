"""Checks of an address that let other hosts through: a part of its text, a loose pattern."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from tree_sitter import Node

from moot.core.types import Language
from moot.scan.bindings import origins
from moot.scan.calls import SourceCall, calls, read_call
from moot.scan.rule import Rule, RuleMatch
from moot.scan.strings import STRINGS, constant_text
from moot.scan.syntax import Source

ENDINGS = "com|org|net|io|dev|app|edu|gov|info|cloud|example|test|local|internal"
HOST = re.compile(rf"(?i)(?P<scheme>[a-z+]+://|//)?(?P<dot>[.@])?(?:[\w-]+\.)+(?:{ENDINGS}|co\.\w\w)(?P<end>[/:].*)?")
ADDRESS = re.compile(
    r"(?i)(?:ur[li]|href|link|origin|host(?:name)?|netloc|domain|referr?er|redirect(?:_?to)?|location|address|site"
    r"|target|src|endpoint|callback|return_?to|(?:^|_)next)$"
)
"""Names of values that hold an address. A list of them is looked up as a whole."""
TARGET = re.compile(
    r"(?i)(?:^|_)(?:next(?:_?(?:ur[li]|path|page))?|target|redirect(?:_?(?:to|ur[li]|path|target))?|back|goto|ur[li]"
    r"|return_?(?:to|ur[li]|path|address)|dest(?:ination)?|continue(?:_?to)?)$"
)
"""Names of what a visitor is sent to."""
SENDS = re.compile(
    r"(?i)redirect|next_?(?:page|path|ur[li])|return_?(?:to|ur[li]|path|target|address)|safe_?(?:ur[li]|next|return)"
    r"|after_?(?:log_?in|sign_?in)|go_?back|log_?in_?target|landing_?(?:page|path|ur[li])"
)
"""Names of functions that decide where a visitor is sent."""
OUR_SITE = re.compile(
    r"(?i)^(?:(?:site|base|app|our|own|home|public|root|allowed|trusted)_?(?:ur[li]|origin|address)?|origin|site)$"
)
"""Names of the address of a site, without what follows the host."""
OPEN_SITE = re.compile(r"`https?://\$\{[\w.]+\}`")
DOT = re.compile(r"""["'`]\.["'`]""")
KIND = re.compile(r"""['"](?!https?['"])\w{3,}['"]""")
"""A word that is no part of every address."""
REFUSES = re.compile(r"raise\b|abort\(|return\s+(?:False|None|\(?[\"'])|return\s*$|.*\b40[0-9]\b")
LETS_THROUGH = re.compile(
    r"(?i)allow|trust|safe|permit|valid|accept|approve|whitelist|partner|\b(?:our|own)_|redirect|return_?(?:to|ur[li]|addr)"
)
NEGATED = re.compile(r"\snot\s+in\s")
OTHER_START = re.compile(r"[\"'`]//|\\\\|netloc|hostname|\.[hH]ost\b")
"""In a function that also asks for `//` or a host."""
HEADER_NAME = re.compile(r"\.(?:get|Get|header|getHeader)\(\s*['\"`]([\w-]+)['\"`]\s*(?:,[^()]*)?\)$")
OUR_HOST = re.compile(r"(?i)(?:^|_|allowed|trusted|base|our|own|root|safe|valid)(?:domain|host(?:name)?)$")
LOOSE_DOT = re.compile(
    rf"(?i)(?<=[\w)])\.(?:{ENDINGS})(?![\w.-]|\\\.)|(?<=\.[*+])\.(?=[\w-]+\\?\.(?:{ENDINGS})(?![\w-]))"
)
"""The dot before the ending of a host, or before its name, matches any character."""
WITH_HOST = re.compile(rf"(?i)https?\??:(?:\\?/){{2}}[\w\\.()?-]*\\?\.(?:{ENDINGS})")
OPEN_END = re.compile(
    rf"(?i)(?:\^|\\A)?(?:\(\?:)?(?:https?|http\[s\])\??\)?:(?:\\?/){{2}}[^/$|]*\\\.(?:{ENDINGS})\)?(?:\.\*)?"
)
"""A pattern that ends with the host: anything may follow."""
OF_ADDRESSES = re.compile(r"(?i)https?\b|://|:\\/\\/|www|origin|host|domain|ur[li]\b")
WITHIN, AT_START, AT_END = "within", "at start", "at end"
SCRIPT_METHODS = {"includes": WITHIN, "indexOf": WITHIN, "startsWith": AT_START, "endsWith": AT_END}
METHODS: dict[Language, dict[str, str]] = {
    "python": {"find": WITHIN, "startswith": AT_START, "endswith": AT_END},
    "javascript": SCRIPT_METHODS,
    "typescript": SCRIPT_METHODS,
    "go": {
        "strings.Contains": WITHIN, "strings.Index": WITHIN, "strings.HasPrefix": AT_START, "strings.HasSuffix": AT_END,
    },
}  # fmt: skip
PATTERN_MAKERS = ("RegExp", "new:RegExp", "regexp.MustCompile", "regexp.Compile", "regexp.MatchString")
PATTERN_CALLS = ("re.compile", "re.match", "re.search", "re.fullmatch")
PATTERN_OPTIONS = ("allow_origin_regex", "allowed_origin_regex", "host_pattern")
"""Options of frameworks that take a pattern of the sites they trust."""
FIX = {
    "python": "Parse it with urllib.parse.urlsplit and compare its hostname, or the ending with a dot before it.",
    "javascript": "Parse it with new URL and compare its hostname, or the ending with a dot before it.",
    "go": "Parse it with url.Parse and compare Hostname(), or the ending with a dot before it.",
}


class HostCheck(NamedTuple):
    """A comparison of an address with a text."""

    node: Node
    how: str
    subject: Node
    wanted: Node


def make_host_rule(language: Language) -> Rule:
    language = "javascript" if language == "typescript" else language
    return Rule(
        f"{language}-host-check", "logic_error", "medium", 20,
        "Incomplete URL check: other hosts match it too",
        "'https://example.com.evil.net/' or 'https://evil.net/?example.com' passes the check.",
        FIX[language], 0.6,
    )  # fmt: skip


def find_weak_host_checks(source: Source) -> Iterator[RuleMatch]:
    rule = make_host_rule(source.language)
    for check in list_host_checks(source):
        if not _is_told_apart(source, check) and any(
            _is_weak(source, check, wanted) for wanted in list_wanted(check.wanted)
        ):
            yield RuleMatch(rule, check.node)
    for node, pattern in _list_patterns(source, calls(source)):
        if _is_loose(source, node, pattern):
            yield RuleMatch(rule, node)


def _is_told_apart(source: Source, check: HostCheck) -> bool:
    """The check is not the whole: what stands before the ending is looked at too, or one of our own addresses is
    searched, or it only tells two kinds of an address apart."""
    if check.how == AT_END:
        subject, wanted = re.escape(source.text(check.subject)), re.escape(source.text(check.wanted))
        body = source.text(source.scope(check.node).node)
        rest = re.search(rf"{subject}(?:\[|\.(?:slice|substring|charAt|at)\()[^\]\n]*\b{wanted}\b", body)
        return rest is not None and DOT.search(body) is not None
    return check.how == WITHIN and (_is_searched(source, check) or _names_kind(source, check))


def _is_searched(source: Source, check: HostCheck) -> bool:
    """`ours.find((url) => url.includes(host))`"""
    maker = check.node.parent
    given = maker.parent if maker is not None and maker.type == "arrow_function" else None
    call = read_call(source, given.parent) if given is not None and given.parent is not None else None
    own = source.text(check.subject) in source.scope(check.node).parameters and check.wanted.type == "identifier"
    return own and call is not None and call.method == "find"


def _names_kind(source: Source, check: HostCheck) -> bool:
    """`"emulator" in url and ".example.com" not in url`"""
    joined = check.node.parent
    if joined is None or joined.type != "boolean_operator" or not NEGATED.search(source.text(check.node)):
        return False
    others = [node for node in joined.named_children if node != check.node and node.type == "comparison_operator"]
    read = [other for node in others if (other := read_membership(source, node)) is not None]
    same = [other for other in read if source.text(other.subject) == source.text(check.subject)]
    return any(other.wanted.type in STRINGS and KIND.fullmatch(source.text(other.wanted)) for other in same)


def list_host_checks(source: Source) -> Iterator[HostCheck]:
    found = calls(source)
    for name, how in METHODS[source.language].items():
        for call in found.get(name.rpartition(".")[2], ()):
            check = read_host_check(source, call, name, how)
            if check is not None:
                yield check
    for node in source.nodes("comparison_operator") if source.language == "python" else ():
        if check := read_membership(source, node):
            yield check


def read_host_check(source: Source, call: SourceCall, name: str, how: str) -> HostCheck | None:
    if source.language == "go":
        return HostCheck(call.node, how, *call.args) if call.name == name and len(call.args) == 2 else None
    callee = call.node.child_by_field_name("function")
    base = callee.child_by_field_name("object") if callee is not None else None
    return HostCheck(call.node, how, base, call.args[0]) if base is not None and len(call.args) == 1 else None


def read_membership(source: Source, node: Node) -> HostCheck | None:
    """`"example.com" in url`"""
    operator = "".join(source.text(child) for child in node.children[1:-1])
    if len(node.named_children) != 2 or re.sub(r"\s", "", operator) not in ("in", "notin"):
        return None
    return HostCheck(node, WITHIN, node.named_children[1], node.named_children[0])


def list_wanted(wanted: Node) -> list[Node]:
    """`url.startswith(("https://a.example", "https://b.example"))`"""
    return wanted.named_children if wanted.type == "tuple" else [wanted]


def read_last_word(source: Source, node: Node) -> str:
    if node.end_byte - node.start_byte > 200 or node.type in ("array", "string", "list", "tuple", "set"):
        return ""
    text = source.text(node)
    if header := HEADER_NAME.search(text):
        return str(header[1])
    found = re.findall(r"\w+", re.sub(r"\([^()]*\)$", "", text))
    word = found[-1] if found else ""
    if word in ("toLowerCase", "trim", "toString", "ToLower", "TrimSpace", "String", "lower", "strip") and found[:-1]:
        return str(found[-2])
    return str(word)


def is_open_path(source: Source, check: HostCheck, wanted: Node) -> bool:
    """`target.startswith("/")` alone: `//evil.example` begins so too."""
    if check.how != AT_START or wanted.type not in STRINGS or constant_text(source, wanted) != "/":
        return False
    scope = source.scope(check.node)
    return _decides_target(source, check) and not OTHER_START.search(source.text(scope.node))


def _decides_target(source: Source, check: HostCheck) -> bool:
    """A function named after where it sends somebody asks about the address it was given."""
    scope = source.scope(check.node)
    name = scope.name or _read_kept_name(source, scope.node)
    return SENDS.search(name) is not None and any(TARGET.search(word) for word in _list_words(source, check.subject))


def _read_kept_name(source: Source, function: Node) -> str:
    """`f` of `const f = (x) => …`"""
    outer = function.parent
    kept = outer.child_by_field_name("name") if outer is not None and outer.type == "variable_declarator" else None
    return source.text(kept) if kept is not None else ""


def _list_words(source: Source, subject: Node) -> list[str]:
    """The name that is asked about, and the one that it was made of: `const wanted = next.trim()`."""
    made = origins(source, subject) if subject.type == "identifier" else []
    value = made[0].value if len(made) == 1 and made[0].kind == "set" else None
    first = (
        re.match(
            r"(?:String\()?([\w.]+?)\)?(?:\.(?:trim|toString|strip)\(\))?(?:\s*(?:\|\||\?\?|or)\s.*)?$",
            source.text(value),
        )
        if value is not None
        else None
    )
    return [read_last_word(source, subject), *([first[1].rpartition(".")[2]] if first else [])]


def is_open_site(source: Source, check: HostCheck) -> bool:
    """`url.startsWith(siteUrl)`: any host may follow that begins like the site's."""
    if check.how != AT_START or source.language in ("python", "go"):
        return False
    if OTHER_SITE.search(source.text(source.scope(check.node).node)):
        return False
    if check.wanted.type == "template_string":
        return (
            OPEN_SITE.fullmatch(source.text(check.wanted)) is not None
            and ADDRESS.search(read_last_word(source, check.subject)) is not None
        )
    named = check.wanted.type == "identifier" and OUR_SITE.search(source.text(check.wanted)) is not None
    return named and _decides_target(source, check)


OTHER_SITE = re.compile(r"\.origin\b|\.host(?:name)?\b|isSameOrigin")
"""In a function that compares hosts as well."""


def list_hosts(source: Source, wanted: Node) -> list[str]:
    """What a name may be that goes through a constant list: `any(host in url for host in HOSTS)`."""
    if source.language != "python" or wanted.type != "identifier":
        return []
    found = origins(source, wanted)
    listed = found[0].value if len(found) == 1 and found[0].kind == "loop" else None
    return list_constants(source, listed if found else _find_listed(source, wanted))


def _decides(source: Source, check: HostCheck) -> bool:
    """Whether it is decided here what is let through, not of which kind an address is."""
    outer: Node | None = check.node
    while outer is not None and outer.type not in ("if_statement", "function_definition", "module"):
        outer = outer.parent
    body = outer.child_by_field_name("consequence") if outer is not None and outer.type == "if_statement" else None
    refuses = body is not None and REFUSES.match(source.text(body)) is not None
    around = outer if outer is not None and outer.type == "if_statement" else check.node
    listed = next((b.value for b in origins(source, check.wanted)), None) or _find_listed(source, check.wanted)
    words = (source.scope(check.node).name, source.text(around), source.text(listed) if listed is not None else "")
    return refuses or LETS_THROUGH.search(" ".join(words)) is not None


def _find_listed(source: Source, name: Node) -> Node | None:
    """The list behind the clause of a generator, which stands after the name."""
    outer = name.parent
    while outer is not None and outer.type not in ("generator_expression", "list_comprehension"):
        outer = outer.parent
    for clause in outer.named_children if outer is not None else ():
        left = clause.child_by_field_name("left") if clause.type == "for_in_clause" else None
        if left is not None and source.text(left) == source.text(name):
            return clause.child_by_field_name("right")
    return None


def list_constants(source: Source, listed: Node | None) -> list[str]:
    """The texts of a constant list, tuple or set, or of the name of one."""
    for _ in range(3):
        if listed is not None and listed.type == "identifier":
            made = origins(source, listed)
            listed = made[0].value if len(made) == 1 and made[0].kind == "set" else None
        elif listed is not None and listed.type == "call":
            call = read_call(source, listed)
            listed = next(iter(call.args), None) if call.name in ("frozenset", "set", "tuple") else None
    if listed is None or listed.type not in ("list", "tuple", "set"):
        return []
    texts = [constant_text(source, each) for each in listed.named_children if each.type != "comment"]
    return [text for text in texts if text is not None] if None not in texts else []


def is_open_list(source: Source, check: HostCheck) -> bool:
    """`url.startswith(tuple(ADDRESSES))`, where the addresses end with a host."""
    if check.how != AT_START or check.wanted.type not in ("identifier", "call") or source.language != "python":
        return False
    texts = list_hosts(source, check.wanted) or list_constants(source, check.wanted)
    hosts = [HOST.fullmatch(text) for text in texts]
    return any(host is not None and host["scheme"] and host["end"] is None for host in hosts)


def _is_weak(source: Source, check: HostCheck, wanted: Node) -> bool:
    if is_open_path(source, check, wanted) or is_open_site(source, check):
        return True
    if not ADDRESS.search(read_last_word(source, check.subject)):
        return False
    if is_open_list(source, check):
        return True
    if (hosts := [HOST.fullmatch(text) for text in list_hosts(source, wanted)]) and _decides(source, check):
        plain = all(host is not None and not (host["scheme"] or host["end"]) for host in hosts)
        return plain and (
            check.how == WITHIN or (check.how == AT_END and not any(host and host["dot"] for host in hosts))
        )
    text = constant_text(source, wanted) if wanted.type in STRINGS else None
    if text is None and (known := read_constant_host(source, wanted)) is not None:
        return check.how == WITHIN or (check.how == AT_END and known["dot"] is None)
    if text is None:
        return check.how != AT_START and wanted.type == "identifier" and _is_our_host(source, source.text(wanted))
    host = HOST.fullmatch(text)
    if host is None:
        return False
    if check.how == AT_START:
        return host["scheme"] is not None and host["end"] is None
    return check.how == WITHIN or host["dot"] is None


def read_constant_host(source: Source, wanted: Node) -> re.Match[str] | None:
    """A host that is kept under a name."""
    made = origins(source, wanted) if wanted.type == "identifier" else []
    value = made[0].value if len(made) == 1 and made[0].kind == "set" else None
    found = HOST.fullmatch(constant_text(source, value) or "") if value is not None else None
    return found if found is not None and not (found["scheme"] or found["end"]) else None


def _is_our_host(source: Source, name: str) -> bool:
    """In Python `host` is more often an entry of `no_proxy`, which means every name that ends so."""
    bare = source.language == "python" and name.lower() in ("host", "hostname")
    return not bare and OUR_HOST.search(name) is not None


def _list_patterns(source: Source, found: dict[str, list[SourceCall]]) -> Iterator[tuple[Node, str]]:
    for node in source.nodes("regex"):
        if node.end_byte - node.start_byte < 300:
            yield node, source.text(node).strip("/")
    for name in PATTERN_CALLS if source.language == "python" else PATTERN_MAKERS:
        for call in found.get(name.rpartition(".")[2], ()):
            if call.name == name and call.args and call.args[0].type in STRINGS:
                yield call.node, constant_text(source, call.args[0]) or ""
    yield from _list_options(source)


def _list_options(source: Source) -> Iterator[tuple[Node, str]]:
    """`allow_origin_regex="https://.*"`"""
    for node in source.nodes("keyword_argument"):
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is not None and value is not None and source.text(name) in PATTERN_OPTIONS:
            yield node, constant_text(source, value) or ""


def _is_loose(source: Source, node: Node, pattern: str) -> bool:
    if source.language == "python":
        about = OF_ADDRESSES.search(pattern) or OF_ADDRESSES.search(_around(source, node))
        return about is not None and bool(
            LOOSE_DOT.search(pattern) or (OPEN_END.fullmatch(pattern) and _is_test(source, node))
        )
    if LOOSE_DOT.search(pattern):
        return True
    unanchored = ANYWHERE.fullmatch(pattern) is not None and _tests_address(source, node)
    return _is_test(source, node) and bool(WITH_HOST.match(pattern) or OPEN_END.fullmatch(pattern) or unanchored)


ANYWHERE = re.compile(r"(?:\w+\\\.)+(?:com|net|org|io|dev|app|co|de|eu|info|cloud)\$?")
"""`/example\\.com/`: it may stand anywhere in the address."""


def _tests_address(source: Source, node: Node) -> bool:
    """`/…/.test(origin)`"""
    outer = node.parent.parent if node.parent is not None else None
    given = outer.child_by_field_name("arguments") if outer is not None else None
    first = given.named_children[0] if given is not None and given.named_child_count else None
    return first is not None and ADDRESS.search(read_last_word(source, first)) is not None


def _around(source: Source, node: Node) -> str:
    """What the pattern is kept as, or compared with."""
    outer = node.parent
    if outer is not None and outer.type == "assignment":
        return source.text(outer).partition("=")[0]
    return ",".join(source.text(arg) for arg in read_call(source, node).args[1:]) if node.type == "call" else ""


def _is_test(source: Source, node: Node) -> bool:
    """`/https:…/.test(x)`, `re.match("https:…", url)`: a check, not a search for links."""
    if source.language == "go":
        return source.text(node).startswith("regexp.MatchString") or source.text(node.parent or node).endswith(
            ".MatchString"
        )
    if source.language == "python":
        call = read_call(source, node) if node.type == "call" else None
        tested = call is not None and call.method in ("match", "search") and len(call.args) > 1
        return tested and call is not None and ADDRESS.search(read_last_word(source, call.args[1])) is not None
    outer = node.parent
    return outer is not None and source.text(outer).endswith(".test")
