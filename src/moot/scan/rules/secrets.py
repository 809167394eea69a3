"""Passwords, keys and tokens written into the program text, in any language."""

import math
import re
from collections import Counter
from collections.abc import Iterator

from tree_sitter import Node

from moot.core.types import Language
from moot.scan.rule import Match, Rule
from moot.scan.strings import STRINGS, constant_text
from moot.scan.syntax import Source, nth
from moot.text.secrets.shapes import MASK, WELL_KNOWN

PASSWORD_NAME = re.compile(r"(?i)(?:^|_|\b|[a-z])(?:password|passwd|passphrase|pwd|pass)$")
KEY_NAME = re.compile(
    r"(?i)(?:secret|secret_?key|api_?key|auth_?token|access_?token|refresh_?token|private_?key|token|bearer|"
    r"access_?key|secret_?access_?key|encryption_?key|signing_?key|jwt_?key|credentials?|client_?secret)$"
)
PLAIN_KEY_NAME = re.compile(r"(?i)^(?:\w+_)?key$")
"""Keys open many things, most of them no doors: only what can hardly be a word counts."""
PLACEHOLDER = re.compile(
    r"(?i)change[-_ ]?me|example|your[-_ ]|xxx|todo|fixme|dummy|placeholder|redacted|<.*>|\{.*\}|%s|\$\{|^\*+$|"
    r"^\.+$|insert|replace|"
    r"^(?:none|null|nil|undefined|true|false|test|testing|string|str|text|hidden|default|value|env|prompt|empty|"
    r"optional|required|pass|bearer|basic)$|"
    r"environ|getenv|process\.env|^password\d?$|^(?:new|old|current|confirm|user|db)?[-_]?pass(?:word|"
    r"wd)?[-_]?(?:field|hash|input|label|param|key|confirm\w*|again|reset)?$|"
    r"^(?:api|access|auth|refresh|csrf|secret|id|session|x)?[-_]?(?:api)?[-_]?(?:token|secret|key)s?(?:[-_]\w+)?$"
)
MASKED_NAME = re.compile(r"(?i)pass|pwd|secret|token|key|credential|dsn|url|uri|auth|conn")
KNOWN_MASKS = re.compile("REDACTED_(?:" + "|".join(WELL_KNOWN) + "|URL_PASSWORD)_[0-9a-f]{6}")
KNOWN_FORMS = re.compile(
    r"AKIA[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{36}|xox[baprs]-[0-9A-Za-z-]{20,}|sk_live_[0-9a-zA-Z]{20,}|"
    r"AIza[0-9A-Za-z_-]{35}|"
    r"-----BEGIN (?:RSA |EC |OPENSSH |DSA )?PRIVATE KEY-----"
)
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
COMPARISONS = ("comparison_operator", "binary_expression")


def secret_rule(language: Language) -> Rule:
    prefix = "javascript" if language == "typescript" else language
    return Rule(
        f"{prefix}-hardcoded-secret", "auth", "high", 798,
        "A password, key or token is written into the program text.",
        "Whoever sees the source, a build or a backup can log in with it.",
        "Read it from the environment or a secret store, and change the one that was exposed.", 0.7,
    )  # fmt: skip


def hardcoded(source: Source) -> Iterator[Match]:
    rule = secret_rule(source.language)
    seen: set[int] = set()
    for node, name, value in _named_values(source):
        text = constant_text(source, value)
        if text is not None and _is_secret(_last_name(source.text(name)), text):
            seen.add(value.start_byte)
            yield Match(rule, node)
    whole = source.data.decode("utf-8", "replace")
    forms = [form for form in (KNOWN_FORMS, KNOWN_MASKS) if form.search(whole)]
    for node in source.nodes(*STRINGS) if forms else ():
        if node.start_byte not in seen and any(form.search(source.text(node)) for form in forms):
            yield Match(rule, node)


def _named_values(source: Source) -> Iterator[tuple[Node, Node, Node]]:
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
        yield from _compared(source, node)


def _compared(source: Source, node: Node) -> Iterator[tuple[Node, Node, Node]]:
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
    if MASK.search(text):
        # A session masks secrets before it scans: the mask stands for one.
        return bool(PASSWORD_NAME.search(name) or KEY_NAME.search(name) or MASKED_NAME.search(name))
    if not 4 <= len(text) <= 400 or re.search(r"\s", text.strip()) or PLACEHOLDER.search(text):
        return False
    if re.match(r"(?:https?:/|/|\./|\w+://[^:@]*$)", text) or text.lower() == name.lower():
        return False
    if PASSWORD_NAME.search(name):
        return not re.search(r"[(){}\[\]<>]", text) or _entropy(text) > 3
    if KEY_NAME.search(name):
        return _looks_random(text)
    plain = PLAIN_KEY_NAME.search(name) is not None and len(text) >= 32 and text.isalnum()
    return plain and _looks_random(text) and _entropy(text) > 4.2


def _looks_random(text: str) -> bool:
    mixed = bool(re.search(r"\d", text)) and bool(re.search(r"[A-Za-z]", text))
    words = re.fullmatch(r"[A-Za-z]+(?:[-_. :][A-Za-z]+)*", text) is not None
    return len(text) >= 8 and (mixed or not words or _entropy(text) > 3.6) and _entropy(text) > 2.2


def _entropy(text: str) -> float:
    return -sum(n / len(text) * math.log2(n / len(text)) for n in Counter(text).values())
