"""What a condition proves about outside values: allow-lists, character checks, containment in a folder."""

import re

from moot.scan.flow.fold import UNKNOWN
from moot.scan.flow.values import ALL, NO_FACTS, Facts, Taints, Val
from moot.scan.syntax import words

Proofs = frozenset[tuple[str, str]]
NONE_PROVED: Proofs = frozenset()
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
    (";", ("shell",)),
    ("://", ("redirect", "ssrf")),
    ("(", ("ldap",)),
)
VALIDATOR = re.compile(
    r"(?i)(?:^|[._])(?:is_?)?(?:valid|validate\w*|verif\w*|check\w*|allow\w*|permit\w*|safe\w*|sanit\w*|trusted\w*|"
    r"whitelist\w*|has_permission\w*|legal)|is_?(?:\w+_)?(?:valid|safe|allowed|trusted|local|public|permitted)|"
    r"(?:valid|safe|allowed)(?:_\w+)?$|url_has_allowed"
)


def about(taints: Taints, *kinds: str) -> Proofs:
    return frozenset((taint.origin, kind) for taint in taints for kind in kinds)


def when_true(taints: Taints, *kinds: str) -> Facts:
    return Facts(true=about(taints, *kinds)) if taints else NO_FACTS


def turned(facts: Facts) -> Facts:
    return Facts(facts.false, facts.true) if facts is not NO_FACTS else facts


def conjunction(left: Facts, right: Facts) -> Facts:
    return Facts(left.true | right.true, left.false & right.false)


def disjunction(left: Facts, right: Facts) -> Facts:
    return Facts(left.true & right.true, left.false | right.false)


def comparison(op: str, left: Val, right: Val, inside: Taints) -> Facts:
    """`inside` is what the right side holds, for `in`."""
    if op in ("not in", "!=", "is not", "<>"):
        return turned(comparison({"not in": "in", "is not": "is"}.get(op, "=="), left, right, inside))
    if op == "in":
        return _membership(left, right, inside)
    if op in ("==", "is"):
        facts = NO_FACTS
        if left.taints and not right.taints and right.const is not None:
            facts = when_true(left.taints, *_equal_kinds(left))
        elif right.taints and not left.taints and left.const is not None:
            facts = when_true(right.taints, *_equal_kinds(right))
        if _is_common_path(left) or _is_common_path(right):
            facts = Facts(facts.true | about((*left.taints, *right.taints), "path"), facts.false)
        return facts
    return NO_FACTS


def _equal_kinds(value: Val) -> tuple[str, ...]:
    """The host of an address being right says nothing about files."""
    return ("redirect", "ssrf") if "host" in value.marks else (ALL,)


def _is_common_path(value: Val) -> bool:
    return "common" in value.marks


def _membership(left: Val, right: Val, inside: Taints) -> Facts:
    if right.taints and right.name.endswith(".parents") and not left.taints:
        return when_true(right.taints, "path")
    if right.taints or inside:
        if isinstance(left.const, str) and right.taints:
            kinds = [kind for text, found in FORBIDDEN if text == left.const for kind in found]
            if ".." in left.const:
                kinds.append("path")
            return Facts(false=about(right.taints, *kinds)) if kinds else NO_FACTS
        return NO_FACTS
    if left.taints and not (isinstance(right.const, str) and len(right.const) > 200):
        return when_true(left.taints, *_equal_kinds(left))
    return NO_FACTS


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
    if text in ("'", '"'):
        return when_true(receiver.taints, f"{'opens' if name == 'startswith' else 'closes'}{text}")
    if name == "startswith":
        if "normal" in receiver.marks and not edge.taints:
            return when_true(receiver.taints, "path")
        if isinstance(text, str) and re.match(r"https?://[^/]+/", text):
            return when_true(receiver.taints, "redirect", "ssrf")
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
    whole = how == "fullmatch"
    if how == "search" and not text.startswith(("^", "\\A")):
        return _search(text, taints)
    return when_true(taints, ALL) if is_strict(text, whole) else NO_FACTS


def _search(text: str, taints: Taints) -> Facts:
    """`if re.search(r"[^a-z]", x): refuse`"""
    if re.fullmatch(r"\[\^[^\]<>'\"`;|&$()]*\][+*]?", text):
        return Facts(false=about(taints, ALL))
    return NO_FACTS


def of_validator(name: str, taints: Taints) -> Facts:
    """A function we cannot see whose name says that it tells good from bad."""
    last = name.rpartition(".")[2]
    if last == "is_text":
        return of_type("str", taints)
    return when_true(taints, ALL) if taints and VALIDATOR.search(last) else NO_FACTS


def of_type(kind: str, taints: Taints) -> Facts:
    """Text holds no operators of a query object, and a number holds nothing at all."""
    kinds = {"str": ("nosql",), "int": (ALL,), "float": (ALL,), "bool": (ALL,)}.get(kind, ())
    return when_true(taints, *kinds) if kinds else NO_FACTS


def is_of(origin: str, other: str) -> bool:
    """Whether a value is that other one, or a part of it: what is proved of the whole holds for its parts."""
    return origin == other or origin.startswith(f"{other}|")


def proven(taints: Taints, proved: Proofs) -> Taints:
    """What is left of taints once what was proved is taken into account."""
    if not taints or not proved:
        return taints
    result = []
    for taint in taints:
        kinds = frozenset(kind for origin, kind in proved if is_of(taint.origin, origin))
        if ALL not in kinds:
            result.append(taint if kinds <= taint.ended else taint._replace(ended=taint.ended | kinds))
    return tuple(result)


def is_literal(taint_kinds: frozenset[str]) -> bool:
    """Starts and ends with a quote and has none inside: a plain text literal, whatever reads it."""
    return any({f"opens{quote}", f"closes{quote}", f"without{quote}"} <= taint_kinds for quote in "'\"")


def known(value: Val) -> bool:
    return value.const is not UNKNOWN
