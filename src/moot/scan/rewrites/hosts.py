"""Rewrites of incomplete checks of an address: a dot before the host, a slash behind it, escaped dots in a pattern."""

import re

from tree_sitter import Node

from moot.scan.calls import read_call
from moot.scan.change import Change, RewriteRefused, replace_node, require_node
from moot.scan.edits import Edit
from moot.scan.javascript.rewrites.module import function as js_function
from moot.scan.python.rewrites.module import function, member
from moot.scan.rules.hosts import (
    AT_END,
    AT_START,
    HOST,
    LOOSE_DOT,
    METHODS,
    SENDS,
    WITHIN,
    HostCheck,
    is_open_list,
    is_open_path,
    is_open_site,
    list_hosts,
    list_wanted,
    read_constant_host,
    read_host_check,
    read_last_word,
    read_membership,
)
from moot.scan.strings import STRINGS, constant_text, contents, quotes
from moot.scan.syntax import Source, inside

HOST_NAME = re.compile(r"(?i)^(?:host(?:name)?|domain)$")
"""Names of values that hold a host alone; `netloc` and JavaScript's `host` have a port as well."""
PARSED = re.compile(r"(?:\w+\.)*(?:urlparse|urlsplit)\([\w.\[\]'\"()]*\)|(?:\w+\.)*new URL\([\w.]*\)")
BEFORE_DOT = re.compile(r"[\w)*+]")
WHOLE_ADDRESS = re.compile(r"(?i)(?:^|_|[a-z])(?:ur[li]|href|link|redirect(?:_?to)?|target|return_?to)$|(?:^|_)next$")
"""Names of values that hold a whole address, not a host."""
ON_HOST = '''
def is_on_host(address, host):
    """Whether the address leads to the host, or to one below it."""
    text = str(address).strip().replace("\\\\", "/")
    parts = urlsplit(text if "//" in text else f"//{text}")
    if parts.scheme not in ("", "http", "https") or (not parts.scheme and "@" in parts.netloc):
        return False
    places = (parts.hostname or "", parts.netloc.rpartition("@")[2].lower())
    return any(f".{place}".endswith("." + host.lower().lstrip(".")) for place in places)
'''
SCRIPT_ON_HOST = """// Whether the address leads to the host, or to one below it.
const isOnHost = ({given}) => {{
  try {{
    const text = String(address).trim();
    const there = new URL(text.includes("//") || text.startsWith("/") ? text : `http://${{text}}`, "http://localhost");
    const safe = /^https?:$/.test(there.protocol) && (text.includes("//") || !there.username);
    return safe && [there.hostname, there.host].some((place) => `.${{place}}`.endsWith(`.${{host.toLowerCase()}}`));
  }} catch {{
    return false;
  }}
}};"""
SAME_ORIGIN = """const isSameOrigin = ({given}) => {{
  try {{
    return new URL(address).origin === new URL(site).origin;
  }} catch {{
    return false;
  }}
}};"""
UNKNOWN_HOSTS = "whether other hosts, such as those below this one, are meant is nowhere in the code"
DOT, SLASH = "the host must be this one or one below it", "the host ends where the text does: a path must follow"
ESCAPED = "the dots of the host match dots only"


MAY_HAVE_PORT = re.compile(r"(?i)(?:host|server|endpoint|base|remote)$")


def check_host(source: Source, node: Node) -> Change:
    check = _read_check(source, node)
    if check is None:
        return _escape_dots(source, node)
    statement = source.statement(node)
    if statement is not None and statement.start_byte == check.subject.start_byte and source.language != "python":
        raise RewriteRefused("the line would begin with a parenthesis, which continues the one before")
    if check.how == AT_START:
        if is_open_path(source, check, check.wanted):
            return _stay_here(source, check)
        if is_open_site(source, check):
            return _compare_origins(source, check)
        return _end_hosts(source, check) if is_open_list(source, check) else _end_host(source, check)
    if (change := _ask_host(source, check) or _ask_listed(source, check)) is not None:
        return change
    kept = read_constant_host(source, check.wanted)
    if kept is not None and check.how == AT_END and source.language in ("javascript", "typescript"):
        new = f'("." + {_read_host(source, check)}).endsWith("." + {source.text(check.wanted)})'
        return Change((replace_node(check.node, new),), DOT)
    text = constant_text(source, check.wanted) if check.wanted.type in STRINGS else None
    if text is None or "\\" in text:
        raise RewriteRefused(UNKNOWN_HOSTS)
    host = HOST.fullmatch(text)
    if host is None or host["scheme"] or host["end"] or host["dot"] == "@":
        raise RewriteRefused(UNKNOWN_HOSTS)
    opening, closing = quotes(source, check.wanted)
    return Change(
        (replace_node(check.node, _write_ending(source, check, f"{opening}.{text.lstrip('.')}{closing}")),), DOT
    )


def _read_check(source: Source, node: Node) -> HostCheck | None:
    if node.type == "comparison_operator":
        return read_membership(source, node)
    call = read_call(source, node) if node.type in ("call", "call_expression") else None
    for name, how in METHODS[source.language].items() if call is not None else ():
        if call is not None and call.method == name.rpartition(".")[2]:
            return read_host_check(source, call, name, how)
    return None


def _compare_origins(source: Source, check: HostCheck) -> Change:
    """An address that begins like the site must have its origin as well."""
    subject, wanted, test = (source.text(node) for node in (check.subject, check.wanted, check.node))
    if not re.fullmatch(r"[\w.]+", subject):
        raise RewriteRefused("the address is worked out in the check")
    given = "address: string, site: string" if source.language == "typescript" else "address, site"
    helper = js_function(source, "isSameOrigin", SAME_ORIGIN.format(given=given))
    new = f"({test} && isSameOrigin({subject}, {wanted}))"
    return Change((replace_node(check.node, new), *helper), "the host is compared as a whole")


def _stay_here(source: Source, check: HostCheck) -> Change:
    """Of a path, the second character must not begin a host."""
    subject, test = source.text(check.subject), source.text(check.node)
    if not re.fullmatch(r"[\w.]+", subject):
        raise RewriteRefused("the address is worked out in the check")
    new = {
        "python": f'({test} and {subject}[1:2] not in ("/", "\\\\", "\\t", "\\r", "\\n"))',
        "go": f'({test} && (len({subject}) == 1 || !strings.ContainsRune("/\\\\\\t\\r\\n", rune({subject}[1]))))',
    }.get(source.language, f"({test} && !/^\\/[/\\\\\\s]/.test({subject}))")
    return Change((replace_node(check.node, new),), "a path that begins with another host is refused")


def _ask_listed(source: Source, check: HostCheck) -> Change | None:
    """One of several hosts, somewhere in an address or at the end of its host: the host is read and compared."""
    subject, wanted = source.text(check.subject), source.text(check.wanted)
    if not list_hosts(source, check.wanted) or not re.fullmatch(r"[\w.]+", subject):
        return None
    word = read_last_word(source, check.subject)
    if check.how == AT_END and (HOST_NAME.match(word) or word == "netloc"):
        new = f'("." + {subject}.rpartition("@")[2]).endswith("." + {wanted})'
        return Change((replace_node(check.node, new),), DOT)
    operator = read_operator(source, check.node)
    split, added = member(source, "urllib.parse", "urlsplit", check.node)
    if check.how != WITHIN or operator is None or split != "urlsplit":
        return None
    helper = function(source, "is_on_host", ON_HOST, check.node)
    test = f"is_on_host({subject}, {wanted})"
    return Change((replace_node(check.node, f"not {test}" if operator == "not" else test), *added, *helper), DOT)


def _ask_host(source: Source, check: HostCheck) -> Change | None:
    """A text somewhere in an address, or a name for its end: the host is read from the address and compared, whole or
    as one below the wanted one."""
    subject, wanted = source.text(check.subject), source.text(check.wanted)
    word = read_last_word(source, check.subject)
    plain = re.fullmatch(r"[\w.]+", subject) is not None
    host = HOST.fullmatch(constant_text(source, check.wanted) or "") if check.wanted.type in STRINGS else None
    known = host is not None and not (host["scheme"] or host["end"] or host["dot"])
    named = check.wanted.type == "identifier" and not wanted.lower().endswith("s")
    if source.language == "go" or not plain or not (known or named):
        return None
    if check.how == AT_END and named and source.language == "python" and word == "netloc":
        new = f'("." + {subject}.rpartition("@")[2]).endswith("." + {wanted}.lstrip("."))'
        return Change((replace_node(check.node, new),), DOT)
    if check.how != WITHIN or not WHOLE_ADDRESS.search(word) or read_operator(source, check.node) is None:
        return None
    if not SENDS.search(source.scope(check.node).name):
        return None  # a text that tells kinds of addresses apart may mean more than one host
    if source.language == "python":
        split, added = member(source, "urllib.parse", "urlsplit", check.node)
        if split != "urlsplit":
            return None
        helper = function(source, "is_on_host", ON_HOST, check.node)
        test = f"is_on_host({subject}, {wanted})"
        new = f"not {test}" if read_operator(source, check.node) == "not" else test
    else:
        given = "address: unknown, host: string" if source.language == "typescript" else "address, host"
        added, helper = (), js_function(source, "isOnHost", SCRIPT_ON_HOST.format(given=given))
        new = f"isOnHost({subject}, {wanted})"
    return Change((replace_node(check.node, new), *added, *helper), DOT)


def read_operator(source: Source, node: Node) -> str | None:
    """`not` for a negated membership, empty for a plain one; None if the result is a place in the text."""
    if node.type == "comparison_operator":
        return "not" if source.text(node.children[1]).startswith("not") else ""
    return "" if read_call(source, node).method == "includes" else None


def _write_ending(source: Source, check: HostCheck, wanted: str) -> str:
    subject = _read_host(source, check)
    if source.language == "go":
        return f'strings.HasSuffix("."+{subject}, {wanted})'
    if source.language == "python":
        negated = check.node.type == "comparison_operator" and source.text(check.node.children[1]).startswith("not")
        test = f'("." + {subject}).endswith({wanted})'
        return f"not {test}" if negated else test
    return f'("." + {subject}).endsWith({wanted})'


def _read_host(source: Source, check: HostCheck) -> str:
    """The host alone, without user and port."""
    text, word = source.text(check.subject), read_last_word(source, check.subject)
    if "?." in text + source.slice(check.subject.end_byte, check.node.end_byte) or "\n" in text:
        raise RewriteRefused(UNKNOWN_HOSTS)
    before, _, last = text.rpartition(".")
    parsed = PARSED.fullmatch(before) is not None
    if source.language == "python":
        if parsed and last in ("netloc", "hostname"):
            return f'({before}.hostname or "")'
        if last == "netloc" or check.node.type != "call":
            raise RewriteRefused(UNKNOWN_HOSTS)
    if check.how == AT_END and HOST_NAME.match(word):
        return text
    if source.language != "go" and parsed and last in ("host", "hostname"):
        return f"{before}.hostname"
    if source.language == "go" and last == "Hostname()":
        return text
    raise RewriteRefused(UNKNOWN_HOSTS)


def _end_host(source: Source, check: HostCheck) -> Change:
    subject = source.text(check.subject)
    between = source.slice(check.subject.end_byte, check.wanted.start_byte)
    if "?." in subject + between or (source.language != "go" and check.node.type not in ("call", "call_expression")):
        raise RewriteRefused(UNKNOWN_HOSTS)
    if MAY_HAVE_PORT.search(read_last_word(source, check.subject)):
        raise RewriteRefused("a port may follow the host, and which one is nowhere in the code")
    edits = []
    for wanted in list_wanted(check.wanted):
        host = HOST.fullmatch(constant_text(source, wanted) or "") if wanted.type in STRINGS else None
        if host is None or host["end"] is not None:
            raise RewriteRefused("only some of the texts end with the host")
        _, closing = quotes(source, wanted)
        edits.append(Edit(wanted.end_byte - len(closing), wanted.end_byte - len(closing), "/"))
    added = f'{subject}+"/"' if source.language == "go" else f'({subject} + "/")'
    return Change((replace_node(check.subject, added), *edits), SLASH)


def _end_hosts(source: Source, check: HostCheck) -> Change:
    """Each address of the list ends with a slash, as the one that is looked at."""
    subject, wanted = source.text(check.subject), source.text(check.wanted)
    listed = wanted if check.wanted.type == "identifier" else source.text(read_call(source, check.wanted).args[0])
    each = f'tuple(each.rstrip("/") + "/" for each in {listed})'
    new = f'{wanted}.rstrip("/") + "/"' if list_hosts(source, check.wanted) else each
    return Change((replace_node(check.node, f'({subject} + "/").startswith({new})'),), SLASH)


def _escape_dots(source: Source, node: Node) -> Change:
    literal = _find_pattern(source, node)
    start, end = (
        (literal.start_byte + 1, source.data.rfind(b"/", 0, literal.end_byte))
        if literal.type == "regex"
        else contents(source, literal)
    )
    pattern = source.slice(start, end)
    dots = [found.start() for found in LOOSE_DOT.finditer(pattern)]
    if not dots or not pattern.isascii():
        raise RewriteRefused("what may follow the host is nowhere in the code")
    escape = "\\" if _is_raw(source, literal) else "\\\\"
    plain = [
        at
        for found in dots
        for at in range(_start_of_host(pattern, found), found + 1)
        if pattern[at] == "." and BEFORE_DOT.match(pattern[at - 1]) and pattern[at + 1 : at + 2].isalnum()
    ]
    if not plain:
        raise RewriteRefused("what stands before the dot is nowhere in the code")
    return Change(tuple(Edit(start + at, start + at, escape) for at in sorted(set(plain))), ESCAPED)


def _start_of_host(pattern: str, dot: int) -> int:
    found = re.search(r"[\w.-]*$", pattern[:dot])
    return dot if found is None else max(1, found.start())


def _is_raw(source: Source, literal: Node) -> bool:
    if literal.type == "regex" or literal.type == "raw_string_literal":
        return True
    return source.language == "python" and "r" in quotes(source, literal)[0].lower()


def _find_pattern(source: Source, node: Node) -> Node:
    if node.type == "regex":
        return node
    if node.type == "keyword_argument":
        return require_node(node.child_by_field_name("value"), "the pattern is not here")
    given = read_call(source, node).args
    if not given or given[0].type not in STRINGS or any(part.type == "interpolation" for part in inside(given[0], 50)):
        raise RewriteRefused("the pattern is not here")
    return given[0]


REWRITES = {f"{language}-host-check": check_host for language in ("python", "javascript", "go")}
