"""Secrets compared with an operator that stops at the first difference, in Python and Go."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from moot.core import secret_patterns as patterns
from moot.core.types import Language
from moot.scan.rule import Rule, RuleMatch
from moot.scan.syntax import Source

SECRET = re.compile(patterns.COMPARED)
MADE_HERE = re.compile(patterns.COMPARED_WHERE_MADE)
"""In a file that computes such codes, shorter names are enough."""
COMPUTED = re.compile(r"(?i)\bhmac\b.*digest\(\)$|^hmac\.new\(")
MAKES_CODE = re.compile(
    r"\bhmac\.(?:New|new|digest)\(|\b(?:argon2|scrypt|pbkdf2)\.(?:ID)?Key\(|\bhashlib\.(?:scrypt|pbkdf2_hmac)\(|"
    + patterns.READ_VARIABLE
)
"""Calls whose result is a code or a secret, whatever it is called here."""
EQUALS = re.compile(r"^(?:bytes\.(?:Equal|Compare)|reflect\.DeepEqual|strings\.(?:Compare|EqualFold)|slices\.Equal)$")
NO_CODE = re.compile(r"^\s*(?:len|bool|int|hmac\.(?:Equal|compare_digest)|subtle\.|secrets\.compare)\b")
ABOUT_SECRETS = tuple(
    b"hmac hashlib crypto/ request http secrets jwt x/crypto gin-gonic labstack fiber grpc environ api_key "
    b"apikey".split()
)
"""Files without any of these compare other signatures and tokens, such as those of a parser."""
VALUES = ("identifier", "attribute", "subscript", "call", "selector_expression", "index_expression", "call_expression")
FIX = {
    "python": "Use hmac.compare_digest.",
    "go": "Use hmac.Equal or subtle.ConstantTimeCompare.",
}


STAND_IN = re.compile(r"(?:^|_)(?:PLACEHOLDER|DEFAULT|SENTINEL|DUMMY|EMPTY|UNSET|MISSING|NOT_GIVEN)(?:_|$)")
"""Constants that stand for no secret at all."""


TYPES = re.compile(r"^(?:typing\.|t\.)?(?:Optional|Union|Annotated|Literal|[Tt]ype|[Ll]ist)\[")
"""`hint == Optional[Token]` compares types."""
MARK = re.compile(r"(?:^|_)(?:SIGNATURE|MAGIC)(?:_|$)")
LITERALS = re.compile(rb"(?m)^([A-Z][A-Z\d_]*)[ \t]*=[ \t]*[bB]?[\"']")


def make_timing_rule(language: Language) -> Rule:
    return Rule(
        f"{language}-timing", "auth", "low", 208,
        "Timing attack: a secret is compared in non-constant time",
        "The time the answer takes tells how much of a guess was right.",
        FIX[language], 0.4,
    )  # fmt: skip


ASKED = re.compile(
    r"(?i)(?:header|cookie|metadata|authorization)\w*(?:\.\w+\(|\(|\[)\s*['\"][\w-]*(?:token|secret|signature|api-?key|auth(?:orization)?"
    r"|password|passwd|hmac|digest)['\"]\s*(?:,\s*['\"]{2}\s*)?[)\]]$|\bauthorization\.password$"
)
"""A secret that a request brings, read from it."""
BASIC = re.compile(r"\.BasicAuth\(\)$")


def find_compared(source: Source) -> Iterator[RuleMatch]:
    lowered = source.data.lower()
    if not any(word in lowered for word in ABOUT_SECRETS):
        return
    asked = _list_asked(source)
    rule = make_timing_rule(source.language)
    codes, marks = _list_codes(source), _list_marks(source)
    yield from (RuleMatch(rule, node) for node in _find_equal_calls(source, codes))
    for node in source.nodes("comparison_operator", "binary_expression"):
        if len(node.children) != 3 or source.text(node.children[1]) not in ("==", "!="):
            continue
        left, right = node.children[0], node.children[2]
        if not (_is_value(left) and _is_value(right)):
            continue
        sent = ASKED.search(source.text(left)) or ASKED.search(source.text(right))
        if _last(source, left) == _last(source, right) and not sent:
            continue  # `self.secret == other.secret` compares two trusted values
        if _is_condition(source, node) or any(STAND_IN.search(_last(source, side)) for side in (left, right)):
            continue
        if any(source.text(side) in marks or TYPES.search(source.text(side)) for side in (left, right)):
            continue
        if any(_is_secret_side(source, side, codes, asked) for side in (left, right)):
            yield RuleMatch(rule, node)


def _is_secret_side(
    source: Source, side: Node, codes: frozenset[tuple[str, str]], asked: frozenset[tuple[str, str]]
) -> bool:
    text = source.text(side)
    sent = ASKED.search(text) is not None or (source.scope(side).name, text) in asked
    return sent or _secret(source, side) or _is_code(source, side, codes)


def _list_asked(source: Source) -> frozenset[tuple[str, str]]:
    """(function, variable) for what holds a secret that a request brought."""
    found: set[tuple[str, str]] = set()
    for node in source.nodes("short_var_declaration", "assignment", "assignment_statement"):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None or right.end_byte - right.start_byte > 300:
            continue
        text, names = source.text(right), re.findall(r"\w+", source.text(left))
        if ASKED.search(text) and names:
            found.add((source.scope(node).name, names[0]))
        elif BASIC.search(text) and len(names) > 1:
            found.add((source.scope(node).name, names[1]))
    return frozenset(found)


def _list_marks(source: Source) -> frozenset[str]:
    """`data[:12] == PP_SIGNATURE`, a literal of the file: the first bytes of a format are no secret."""
    named = (name.decode() for name in LITERALS.findall(source.data))
    return frozenset(name for name in named if MARK.search(name))


def _list_codes(source: Source) -> frozenset[tuple[str, str]]:
    """(function, variable) for what holds a computed code, or something made of one."""
    if not MAKES_CODE.search(source.data.decode("utf-8", "replace")):
        return frozenset()
    found: dict[str, set[str]] = {}
    for node in source.nodes("short_var_declaration", "assignment", "assignment_statement"):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            continue
        scope, text = source.scope(node).name, source.text(right)
        made = found.setdefault(scope, set())
        if not NO_CODE.match(text) and (MAKES_CODE.search(text) or made & set(re.findall(r"\b\w+\b", text))):
            made.add(re.match(r"\w*", source.text(left))[0])  # type: ignore[index]
    return frozenset((scope, name) for scope, names in found.items() for name in names)


def _is_code(source: Source, node: Node, codes: frozenset[tuple[str, str]]) -> bool:
    """The variable itself, a cut of it, or the sum of what it stands for."""
    text = source.text(node)
    name = re.match(r"\w+", text)
    rest = re.fullmatch(r"\w+(?:\[[^\]]*\]|\.Sum\(nil\)|\.(?:hex)?digest\(\))?", text)
    return name is not None and rest is not None and (source.scope(node).name, name[0]) in codes


def _find_equal_calls(source: Source, codes: frozenset[tuple[str, str]]) -> Iterator[Node]:
    """`bytes.Equal(mac.Sum(nil), tag)`"""
    for node in source.nodes("call_expression") if codes and source.language == "go" else ():
        function, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        equals = function is not None and EQUALS.match(source.text(function)) is not None
        if equals and given is not None and any(_is_code(source, each, codes) for each in given.named_children):
            yield node


def _is_condition(source: Source, node: Node) -> bool:
    """`select(tokens).where(tokens.c.digest == wanted)`: the database compares, as it does for `WHERE`."""
    call = node.parent.parent if node.parent is not None and node.parent.type == "argument_list" else None
    function = call.child_by_field_name("function") if call is not None else None
    return function is not None and source.text(function).endswith((".where", ".filter", ".having"))


def _is_value(node: Node) -> bool:
    return node.type in VALUES and node.end_byte - node.start_byte < 300


def _secret(source: Source, node: Node) -> bool:
    text = source.text(node)
    if node.type in ("call", "call_expression"):
        return bool(COMPUTED.search(text))
    last = _last(source, node)
    return bool(SECRET.search(last)) or (bool(MADE_HERE.search(last)) and b"hmac." in source.data)


def _last(source: Source, node: Node) -> str:
    found = re.findall(r"\w+", source.text(node))
    return found[-1] if found else ""
