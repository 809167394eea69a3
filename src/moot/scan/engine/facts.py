"""What a condition proves about untrusted values: allow-lists, character checks, containment in a folder."""

import re
from functools import lru_cache

from moot.scan.engine.fold import UNKNOWN
from moot.scan.engine.values import ALL, EACH, NO_FACTS, Facts, Taints, Val
from moot.scan.syntax import words

Proofs = frozenset[tuple[str, str]]
PLAIN_KINDS = ("shell", "sql", "xss", "code", "template", "ldap", "xpath", "header", "log", "nosql", "regex")
ON_THIS_SITE = re.compile(r"\^?\\?/(?:\(\?!\[?[/\\]+\]?\)|\[\^[/\\]+\]|\\w|\[\w)")
"""A pattern of addresses that begin with one slash, and not with two."""
NO_HYPHEN = re.compile(
    r"(?:\^|\\A)?(?:\(\?:|\()?(?:[A-Za-z]|\\w|\[(?:\w-\w|\\[wd.:/@]|[\w.:/@])+\])(?![*?]|\{[0,])(?!.*\|(?![A-Za-z]))",
    re.DOTALL,
)
"""A pattern of texts that do not begin with a hyphen: no options of a program."""
KEPT_OUT = re.compile(r"(?:\[\^[^\]<>'\"`;|&$()]*\]|\\W)[+*]?")
"""A pattern that matches everything except harmless characters."""
HOST_KINDS = ("redirect", "ssrf")
WORD_TESTS = words("isalnum isalpha isdigit isdecimal isnumeric isidentifier")
FORBIDDEN: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("..", ("path",)),
    ("/", ("path", "redirect")),
    ("\\", ()),
    ("'", ("xpath", "sql", "ldap", "without'")),
    ('"', ("xpath", "sql", "ldap", 'without"')),
    ("<", ("xss",)),
    ("\n", ("header", "log")),
    ("\r", ("header", "log")),
    (";", ()),
    ("://", ("redirect", "ssrf")),
    ("(", ("ldap",)),
)
NUMBERS = words("int float bool complex decimal.Decimal uuid.UUID")
PLAIN = NUMBERS | {"str", "bytes"}
FROM, UP_TO = "from", "up to"
PARAMETER = 0.4
"""Confidence in what an unknown caller gives."""
PART = "part"
"""The key of a piece that a text was cut into."""
VALIDATOR = re.compile(
    r"(?i)(?:^|[._])(?:is_?)?(?:valid|validate\w*|verif\w*|check\w*|allow\w*|permit\w*|safe\w*|sanit\w*|trusted\w*|"
    r"whitelist\w*|has_permission\w*|legal)|is_?(?:\w+_)?(?:valid|safe|allowed|trusted|local|public|permitted)|"
    r"(?:valid|safe|allowed)(?:_\w+)?$|url_has_allowed"
)


def about(taints: Taints, *kinds: str) -> Proofs:
    return frozenset((taint.origin, kind) for taint in taints for kind in kinds)


def when_true(taints: Taints, *kinds: str) -> Facts:
    return Facts(true=about(taints, *kinds)) if taints else NO_FACTS


def negate_facts(facts: Facts) -> Facts:
    return Facts(facts.false, facts.true) if facts is not NO_FACTS else facts


def conjunction(left: Facts, right: Facts) -> Facts:
    return Facts(_merge_ranges(left.true | right.true), common(left.false, right.false))


def disjunction(left: Facts, right: Facts) -> Facts:
    return Facts(common(left.true, right.true), _merge_ranges(left.false | right.false))


def common(left: Proofs, right: Proofs) -> Proofs:
    """The facts that both prove; a proof for all sinks includes the proof for one."""
    if not left or not right or left == right:
        return left and right
    mine = [fact for fact in left if fact in right or (fact[0], ALL) in right]
    return frozenset(mine).union(fact for fact in right if (fact[0], ALL) in left)


def _merge_ranges(proofs: Proofs) -> Proofs:
    """`>= 'a'` and `<= 'z'` together: a letter."""
    both = [(origin, ALL) for origin, kind in proofs if kind == FROM and (origin, UP_TO) in proofs]
    return proofs.union(both) if both else proofs


def _read_bound(op: str, left: Val, right: Val) -> Facts:
    """One end of a range of characters: `c >= 'a'`."""
    edge = chr(right.const) if type(right.const) is int and 0 <= right.const < 128 else right.const
    if not left.taints or not isinstance(edge, str) or len(edge) != 1 or not edge.isalnum():
        return NO_FACTS
    low, high = about(left.taints, FROM), about(left.taints, UP_TO)
    return Facts(low, high) if op in (">=", ">") else Facts(high, low)


def comparison(op: str, left: Val, right: Val, inside: Taints) -> Facts:
    """`inside` is what the right side contains, for `in`."""
    if op in ("not in", "!=", "is not", "<>"):
        return negate_facts(comparison({"not in": "in", "is not": "is"}.get(op, "=="), left, right, inside))
    if op == "in":
        return _membership(left, right, inside)
    if op in ("==", "is"):
        facts = _equality(left, right)
        if _is_common_path(left) or _is_common_path(right):
            facts = Facts(facts.true | about((*left.taints, *right.taints), "path"), facts.false)
        return facts
    if op in ("<", "<=", ">", ">="):
        return _read_bound(op, left, right)
    return NO_FACTS


def _equality(left: Val, right: Val) -> Facts:
    if ".." in (left.const, right.const):
        # One folder of a path: in a loop over all of them, none leads up.
        pieces = tuple(taint for taint in (*left.taints, *right.taints) if f"|{PART}" in taint.origin)
        known = left if left.taints else right
        if "relative" in known.marks:
            # The first folder on the way from one path to the other.
            return Facts(false=frozenset((taint.origin.partition(f"|{PART}")[0], "path") for taint in known.taints))
        return Facts(about(known.taints, *_equal_kinds(known)), about(pieces, "path"))
    if left.taints and not right.taints and right.const is not None:
        return when_true(left.taints, *_equal_kinds(left))
    if right.taints and not left.taints and left.const is not None:
        return when_true(right.taints, *_equal_kinds(right))
    if "host" in left.marks and "host" in right.marks:
        # The URL points to the host that was checked.
        return when_true((*left.taints, *right.taints), *HOST_KINDS)
    if "normal" in left.marks & right.marks and not {"folder"} & (left.marks | right.marks):
        # `full == base`: it is the folder itself.
        named = {taint.origin for taint in right.taints}
        return when_true(tuple(taint for taint in left.taints if taint.origin not in named), "path")
    if {"normal", "folder"} <= left.marks | right.marks and "normal" in left.marks & right.marks:
        # A resolved path lies in this folder, whoever names the folder.
        part, folder = (left, right) if "folder" in left.marks else (right, left)
        named = {taint.origin for taint in folder.taints}
        return when_true(tuple(taint for taint in part.taints if taint.origin not in named), "path")
    cleaned = _find_cleaned(left, right)
    return Facts(true=cleaned) if cleaned else NO_FACTS


def _find_cleaned(left: Val, right: Val) -> Proofs:
    """`basename(name) == name`: what the one cannot harm any more, the other cannot either."""
    ended = {taint.origin: taint.ended for taint in left.taints}
    pairs = [(taint.origin, ended[taint.origin] ^ taint.ended) for taint in right.taints if taint.origin in ended]
    return frozenset((origin, kind) for origin, kinds in pairs for kind in kinds if not kind.startswith("+"))


def _equal_kinds(value: Val) -> tuple[str, ...]:
    """A correct host says nothing about file paths."""
    return HOST_KINDS if "host" in value.marks or all(ALL in taint.ended for taint in value.taints) else (ALL,)


def _is_common_path(value: Val) -> bool:
    return "common" in value.marks


def not_prototype(op: str, taints: Taints, facts: Facts) -> Facts:
    """`key === "__proto__"`, `BAD.includes(key)`: any other key is an ordinary property."""
    more = Facts(false=about(taints, "prototype"))
    if op in ("!=", "not in", "is not"):
        more = negate_facts(more)
    return Facts(facts.true | more.true, facts.false | more.false)


def _membership(left: Val, right: Val, inside: Taints) -> Facts:
    if right.taints and right.name.endswith(".parents"):
        # The folder may come from the caller too: the part appended to it stays inside.
        folder = {taint.origin for taint in left.taints}
        return when_true(tuple(taint for taint in right.taints if taint.origin not in folder), "path")
    if right.taints or inside:
        if isinstance(left.const, str) and right.taints:
            kinds = [kind for text, found in FORBIDDEN if text == left.const for kind in found]
            if ".." in left.const:
                kinds.append("path")
            # `".." in name.split("/")` says of the name what it says of its pieces.
            origins = {taint.origin.removesuffix(f"|{PART}") for taint in right.taints}
            return Facts(false=frozenset((o, kind) for o in origins for kind in kinds)) if kinds else NO_FACTS
        return when_true(left.taints, *_equal_kinds(left)) if _is_list_of_caller(left, right) else NO_FACTS
    if left.taints and not (isinstance(right.const, str) and len(right.const) > 200):
        return when_true(left.taints, *_equal_kinds(left))
    return NO_FACTS


def _is_list_of_caller(left: Val, right: Val) -> bool:
    """`host in allowed_hosts`, where the function is given both: its caller says what is allowed."""
    named = judges(right.name.rpartition(".")[2]) or right.name.endswith(("s", "list", "set"))
    mine = {taint.origin for taint in left.taints}
    others = [taint for taint in right.taints if taint.origin not in mine and taint.strength <= PARAMETER]
    return named and bool(others) and len(others) == len(right.taints)


def of_method(name: str, receiver: Val, args: list[Val]) -> Facts:
    """`x.isalnum()`, `x.startswith(base)`, `path.is_relative_to(base)`"""
    if not receiver.taints:
        return NO_FACTS
    if name in WORD_TESTS:
        return when_true(receiver.taints, ALL)
    if name == "is_relative_to":
        return when_true(receiver.taints, "path")
    if name in ("startswith", "endswith") and args:
        return _edge(name, receiver, args[0])
    return NO_FACTS


def _edge(name: str, receiver: Val, edge: Val) -> Facts:
    text = edge.const
    if name == "endswith" and "host" in receiver.marks and not edge.taints:
        # `.example.com` is a subdomain. Without the dot, anybody can register a match.
        below = text is UNKNOWN or (isinstance(text, str) and text.startswith("."))
        return when_true(receiver.taints, *HOST_KINDS) if below else NO_FACTS
    if text in ("'", '"'):
        return when_true(receiver.taints, f"{'opens' if name == 'startswith' else 'closes'}{text}")
    if name == "startswith":
        if "normal" in receiver.marks:
            # The folder may come from the caller: the part appended to it stays inside.
            folder = {taint.origin for taint in edge.taints}
            return when_true(tuple(taint for taint in receiver.taints if taint.origin not in folder), "path")
        if "relative" in receiver.marks and text in ("..", "../"):
            return Facts(false=about(receiver.taints, "path"))
        if isinstance(text, str) and re.match(r"https?://[^/]+/", text):
            return when_true(receiver.taints, "redirect", "ssrf", "option")
        if text == "-":
            return Facts(false=about(receiver.taints, "option"))
        if isinstance(text, str) and text[:1].isalpha():
            return when_true(receiver.taints, "option")
        if isinstance(text, str) and text in ("/", "..", "//", "\\", "http://", "https://", "."):
            return Facts(false=about(receiver.taints, *{"//": ("redirect",)}.get(text, ())))
    return NO_FACTS


def is_strict(pattern: str, whole: bool) -> bool:
    """Whether a regular expression lets only harmless characters through."""
    if not whole and not pattern.rstrip(")").endswith(("$", "\\Z")):
        return False
    body = re.sub(r"\\.", lambda found: "~" if found[0] in (r"\S", r"\D", r"\W") else "", pattern)
    outside = re.sub(r"\[[^\]]*\]", "", body)
    classes = re.findall(r"\[([^\]]*)\]", body)
    return "." not in outside and "~" not in body and not any(_is_wide(members) for members in classes)


def _is_wide(members: str) -> bool:
    return members.startswith("^") or any(char in members for char in "<>'\"`;|&$()")


def of_pattern(pattern: Val, how: str, subject: Val, taints: Taints) -> Facts:
    text = pattern.const
    if isinstance(text, bytes):
        text = text.decode("latin-1")
    if not isinstance(text, str) or how not in ("match", "fullmatch", "search"):
        return NO_FACTS
    if "__proto__" in text:
        return Facts(false=about(taints, "prototype"))
    if ON_THIS_SITE.match(text.removeprefix("^") if how == "search" and text.startswith("^") else text):
        return when_true(taints, "redirect")
    whole = how == "fullmatch"
    if how == "search" and not text.startswith(("^", "\\A")):
        return _search(text, taints)
    kinds = find_allowed_kinds(text) if is_strict(text, whole) else ()
    return when_true(taints, *kinds, *(("option",) if NO_HYPHEN.match(text) else ()))


def find_allowed_kinds(pattern: str) -> tuple[str, ...]:
    """The sinks that text of these characters cannot harm; dots and slashes can still form a path."""
    members = "".join(re.findall(r"\[((?:\\.|[^\]\\])*)\]", pattern))
    return PLAIN_KINDS if "/" in members and "." in members else (ALL,)


def _search(text: str, taints: Taints) -> Facts:
    """`if re.search(r"[^a-z]", x): refuse`"""
    if KEPT_OUT.fullmatch(text):
        return Facts(false=about(taints, *find_allowed_kinds(text)))
    if LINE_BREAKS.fullmatch(text):
        return Facts(false=about(taints, "header", "log"))
    return NO_FACTS


LINE_BREAKS = re.compile(
    r"\[(?!\^)(?=[^\]]*(?:\\r|\r|\\s))(?=[^\]]*(?:\\n|\n|\\s))(?:\\.|[^\]\\])+\]\+?|\\s\+?|\\r\|\\n|\\n\|\\r"
)
"""`if re.search(r"[\\r\\n]", x): refuse`"""
PRIVATE = re.compile(
    r"(?i)(?:^|[._])(?:is|in)_?(?:private|loopback|link_?local|reserved|internal|multicast|unspecified|local_?(?:host|addr|ip)|unsafe|"
    r"blocked|forbidden|black_?listed|deny_?listed)"
)


@lru_cache(4096)
def _refuses(word: str) -> bool:
    return PRIVATE.search(word) is not None


@lru_cache(4096)
def judges(word: str) -> bool:
    return VALIDATOR.search(word) is not None


def of_refusal(name: str, taints: Taints) -> Facts:
    """`address.is_private`: harmless if false."""
    if not taints or not _refuses(name.rpartition(".")[2]):
        return NO_FACTS
    return Facts(false=about(taints, "ssrf"))


def of_kind(wanted: list[str], taints: Taints) -> Facts:
    """`isinstance(x, str)`: a string cannot be a query object, a number cannot do any harm."""
    if not wanted or not taints:
        return NO_FACTS
    if NUMBERS.issuperset(wanted):
        return when_true(taints, ALL)
    return when_true(taints, "nosql") if PLAIN.issuperset(wanted) else NO_FACTS


def compare_with_none(op: str, facts: Facts) -> Facts:
    """`found is not None`, `err == nil`: whether there is a value at all."""
    if op in ("!=", "is not"):
        return facts
    return negate_facts(facts) if op in ("==", "is") else NO_FACTS


def of_validator(name: str, taints: Taints) -> Facts:
    """An unknown function whose name says that it validates."""
    last = name.rpartition(".")[2]
    return when_true(taints, ALL) if taints and judges(last) else NO_FACTS


def of_all(facts: Facts) -> Facts:
    """`all(good(x) for x in xs)`"""
    return Facts(whole(facts.true), _of_others(facts.false)) if facts is not NO_FACTS else facts


def of_any(facts: Facts) -> Facts:
    """`any(host == known for known in HOSTS)`"""
    return Facts(_of_others(facts.true), whole(facts.false)) if facts is not NO_FACTS else facts


def _of_others(proofs: Proofs) -> Proofs:
    """A proof about one member says nothing about the container; proofs about other values hold."""
    return frozenset(fact for fact in proofs if f"|{EACH}" not in fact[0])


def whole(proofs: Proofs) -> Proofs:
    """What holds for every member holds for the container."""
    more = [(origin.removesuffix(f"|{EACH}"), kind) for origin, kind in proofs if origin.endswith(f"|{EACH}")]
    more += [(origin.removesuffix(f"|{PART}"), kind) for origin, kind in more if origin.endswith(f"|{PART}")]
    return proofs.union(more) if more else proofs


def is_of(origin: str, other: str) -> bool:
    """Whether a value is the other one or a part of it: what is proved of the whole holds for its parts."""
    return origin == other or origin.startswith(f"{other}|")


def apply_proofs(taints: Taints, proved: Proofs) -> Taints:
    """Removes what was proved harmless from taints."""
    if not taints or not proved:
        return taints
    result = []
    for taint in taints:
        kinds = frozenset(kind for origin, kind in proved if is_of(taint.origin, origin))
        if ALL not in kinds:
            result.append(taint if kinds <= taint.ended else taint._replace(ended=taint.ended | kinds))
    return tuple(result)


def is_literal(taint_kinds: frozenset[str]) -> bool:
    """Starts and ends with a quote and has none inside: a plain string literal in any language."""
    return any({f"opens{quote}", f"closes{quote}", f"without{quote}"} <= taint_kinds for quote in "'\"")
