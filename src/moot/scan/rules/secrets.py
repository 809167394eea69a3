"""Hard-coded passwords, keys and tokens, in any language."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from moot.core import secret_patterns as patterns
from moot.core.types import Language
from moot.scan.rule import Rule, RuleMatch
from moot.scan.strings import STRINGS, constant_text
from moot.scan.syntax import Source, nth
from moot.text.secrets.shapes import MASK, by_form, entropy, is_alphabet

PASSWORD_NAME = re.compile(patterns.CODE_PASSWORD)
KEY_NAME = re.compile(patterns.CODE_KEY)
PLAIN_KEY_NAME = re.compile(patterns.CODE_PLAIN_KEY)
SECRET_WORD = re.compile(patterns.CODE_WORD)
NOT_RANDOM = re.compile(patterns.NOT_RANDOM)
ADDRESS = re.compile(patterns.ADDRESS_ALONE)
PLACEHOLDER = re.compile(patterns.CODE_STAND_IN)
MASKED_NAME = re.compile(patterns.MASKED_NAME)
KNOWN_MASKS = re.compile(patterns.FORM_MASK)
PRIVATE_KEY = re.compile(patterns.PRIVATE_KEY_BEGIN)
KEY_BODY = re.compile(
    patterns.PRIVATE_KEY_BEGIN + r"""(?:\\[nr]|[\s'"`+,()\\rbuf])*(?:[A-Za-z0-9+/=]{6}|\.\.\.|…|\*\*|Proc-Type)"""
)
PLAIN_WORDS = re.compile(patterns.PLAIN_WORDS)
ASSIGNMENTS = {
    "assignment": ("left", "right"),
    "keyword_argument": ("name", "value"),
    "default_parameter": ("name", "value"),
    "typed_default_parameter": ("name", "value"),
    "pair": ("key", "value"),
    "variable_declarator": ("name", "value"),
    "assignment_expression": ("left", "right"),
    "field_definition": ("property", "value"),
    "public_field_definition": ("name", "value"),
    "short_var_declaration": ("left", "right"),
    "assignment_statement": ("left", "right"),
    "var_spec": ("name", "value"),
    "const_spec": ("name", "value"),
}
WORD = re.compile(r"\w+")
DENSE = re.compile(r"[A-Za-z0-9_+/=]{10,}")
NO_SECRET = re.compile(
    r"^[:@]?[*•x]+$|\(\?[:=!P<]|\[\^|\\[wdsWDS]|^[A-Z]+(?:_[A-Z]+)+$"
    rf"|{patterns.NAMES_A_SECRET}"
)
"""Stars, a regular expression, the name of a constant, words that name a secret."""
GROUP = re.compile(r"\(\?[:=!P<]")
"""Of a regular expression."""
EDGES = "#@$%&*!?.:;,<>()[]{}|~^`'\"+-=_"
COMPARISONS = ("comparison_operator", "binary_expression")


def secret_rule(language: Language) -> Rule:
    prefix = "javascript" if language == "typescript" else language
    return Rule(
        f"{prefix}-hardcoded-secret", "auth", "high", 798,
        "Hardcoded secret: a password, key or token is in the source",
        "Whoever sees the source, a build or a backup can log in with it.",
        "Read it from the environment or a secret store, and change the one that was exposed.", 0.7,
    )  # fmt: skip


LOGIN = re.compile(
    r"(?:postgres(?:ql)?|mysql|mariadb|mongodb(?:\+srv)?|rediss?|amqps?|mssql|sqlserver|ldaps?|s?ftp|smtps?)://"
    r"[^/\s:@'\"`]+:([^/\s:@$%{<'\"`]{8,})@"
)


def find_hardcoded(source: Source) -> Iterator[RuleMatch]:
    rule = secret_rule(source.language)
    seen: set[int] = set()
    for node, name, value in _find_named_values(source):
        text = constant_text(source, value)
        if text is not None and _is_secret(_last_name(source.text(name)), text):
            seen.add(value.start_byte)
            yield RuleMatch(rule, node)
    whole = source.data.decode("utf-8", "replace")
    formed, addressed = has_form(whole), LOGIN.search(whole) is not None
    for node in source.nodes(*STRINGS) if formed or addressed else ():
        text = source.text(node)
        told = formed and has_form(text) and not _is_marker(source, node)
        if node.start_byte not in seen and (told or (addressed and _is_login(text))):
            yield RuleMatch(rule, node)


def _is_login(text: str) -> bool:
    """The address of a database with a user and a password in it."""
    found = LOGIN.match(text.strip("'\"`"))
    return found is not None and not PLACEHOLDER.search(found[1]) and not MASK.search(text)


def _is_marker(source: Source, node: Node) -> bool:
    """The first line of a private key without one behind it, as a program that reads keys looks for it."""
    text = source.text(node)
    if not PRIVATE_KEY.search(text) or KNOWN_MASKS.search(text) or any(by_form(PRIVATE_KEY.sub("", text))):
        return False
    return KEY_BODY.search(source.slice(node.start_byte, node.end_byte + 200)) is None


def has_form(text: str) -> bool:
    """Whether a part of this text looks like a secret. Without a digit it may be a name: `sk-fading-circle`."""
    if PRIVATE_KEY.search(text) or KNOWN_MASKS.search(text):
        return True
    return any(_is_dense(text[found.start : found.end]) for found in by_form(text))


def _is_dense(text: str) -> bool:
    """Not only words with dashes between them, as in the name of a kind of certificate."""
    return any(c.isdigit() for c in text) and DENSE.search(text) is not None


def _find_named_values(source: Source) -> Iterator[tuple[Node, Node, Node]]:
    for kind, (left, right) in ASSIGNMENTS.items():
        for node in source.nodes(kind):
            name, value = node.child_by_field_name(left), node.child_by_field_name(right)
            if name is not None and value is not None and name.end_byte - name.start_byte < 200:
                yield node, name, _only(value)
    for node in source.nodes("keyed_element"):
        name, value = nth(node, 0), nth(node, 1)
        if name is not None and value is not None and name.end_byte - name.start_byte < 200:
            yield node, name, _only(value)
    for node in source.nodes(*COMPARISONS):
        yield from _find_compared(source, node)


def _find_compared(source: Source, node: Node) -> Iterator[tuple[Node, Node, Node]]:
    """`password == "hunter2"`."""
    if node.named_child_count != 2 or len(node.children) != 3 or source.text(node.children[1]) not in ("==", "==="):
        return
    left, right = node.named_children
    if left.type in STRINGS:
        left, right = right, left
    if right.type in STRINGS and left.end_byte - left.start_byte < 200 and left.type not in ("call", "call_expression"):
        yield node, left, right


def _only(value: Node) -> Node:
    while value.type in ("expression_list", "literal_element") and value.named_child_count == 1:
        inner = nth(value, 0)
        if inner is None:
            break
        value = inner
    return value


def _last_name(text: str) -> str:
    """`PASSWORD` of `self.config["PASSWORD"]`."""
    words = WORD.findall(text)
    return words[-1] if words else ""


def _is_secret(name: str, text: str) -> bool:
    if is_alphabet(text):
        return False
    if not MASK.search(text) and (ADDRESS.search(text) or (SECRET_WORD.search(name) and _is_random(text))):
        return True
    if MASK.search(text):
        # Sessions mask secrets before they scan: a mask counts as one.
        return bool(PASSWORD_NAME.search(name) or KEY_NAME.search(name) or MASKED_NAME.search(name))
    if not 4 <= len(text) <= 400 or re.search(r"\s", text.strip()) or PLACEHOLDER.search(text):
        return False
    if re.match(r"(?:https?:/|/|\./|\w+://[^:@]*$)", text) or text.lower() == name.lower() or NO_SECRET.search(text):
        return False
    if PASSWORD_NAME.search(name):
        return not re.search(r"[(){}\[\]<>]", text) or entropy(text) > 3
    if KEY_NAME.search(name):
        return _looks_random(text)
    plain = PLAIN_KEY_NAME.search(name) is not None and len(text) >= 32 and text.isalnum()
    return plain and _looks_random(text) and entropy(text) > 4.2


def _is_random(text: str) -> bool:
    """A random-looking mix of letters and digits, not words or a path."""
    bare = re.sub(r"(?i)^bearer:?\s+", "", text)
    if GROUP.search(bare):
        return False
    return (
        16 <= len(bare) <= 400 and not NOT_RANDOM.search(bare) and entropy(bare) > 3.0 and any(map(str.isdigit, bare))
    )


def _looks_random(text: str) -> bool:
    mixed = bool(re.search(r"\d", text)) and bool(re.search(r"[A-Za-z]", text))
    # `#bygroup`, `<name>`: a word with the marks of some language around it is no key.
    words = PLAIN_WORDS.fullmatch(text.strip(EDGES)) is not None
    if words and len(re.split(r"[-_. :]", text.strip(EDGES))) > 2:
        return False
    return len(text) >= 8 and (mixed or not words or entropy(text) > 3.6) and entropy(text) > 2.2
