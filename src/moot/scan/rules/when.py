"""Conditions a call rule can be made of."""

import re

from tree_sitter import Node

from moot.scan.calls import Call
from moot.scan.rule import Condition
from moot.scan.strings import build, constant_text, unwrapped
from moot.scan.syntax import Source
from moot.scan.values import constant, outside, words_around

SQL = re.compile(
    r"(?is)\b(?:select\b.+?\bfrom|select\s+[\w'\"(*]|insert\s+(?:ignore\s+)?into|update\s+\S+\s+set|"
    r"update\s+\ufffc|delete\s+from|replace\s+into|"
    r"create\s+(?:table|database|user|index|view)|alter\s+(?:table|user|role)|drop\s+(?:table|database|user|"
    r"index|view)|truncate\s+table|where\s+\S|"
    r"order\s+by|grant\s+\w+|exec\s+\w|call\s+\w+\s*\(|pragma\s+\w|\bmerge\s+into|attach\s+database|vacuum\s+into)"
)
SECRET_USE = re.compile(
    r"(?i)token|passw|passwd|secret|\botp|_otp|otp_|nonce|salt|session_?id|sess_id|sessid|csrf|api_?key|"
    r"reset_?code|cookie|remember_?me|"
    r"verif(?:y|ication)_?code|auth_?code|\bpin\b|_pin\b|pin_?code|private_?key|encryption_?key|secret_?key|"
    r"captcha|invite_?code|credential|session_key|rememberme"
)
PASSWORD = re.compile(r"(?i)passw|passwd|\bpwd|pwd$|_pw$|^pw$|\bpw_|passphrase|credential")


def always(source: Source, call: Call) -> bool:
    return True


def every(*conditions: Condition) -> Condition:
    return lambda source, call: all(condition(source, call) for condition in conditions)


def either(*conditions: Condition) -> Condition:
    return lambda source, call: any(condition(source, call) for condition in conditions)


def built_sql(index: int, *keywords: str) -> Condition:
    """The argument is an SQL text with something in it that the program text does not fix."""

    def check(source: Source, call: Call) -> bool:
        arg = call.arg(index, *keywords)
        return arg is not None and is_built_sql(source, arg)

    return check


def is_built_sql(source: Source, arg: Node) -> bool:
    built = build(source, arg)
    if not any(_open(source, hole.node, hole.spec) for hole in built.holes):
        return False
    return bool(SQL.search(built.literal(source)))


def _open(source: Source, node: Node, spec: str) -> bool:
    """A hole that can take any text: not a constant, and not shown as a number."""
    number = re.fullmatch(r"%[#0\- +]*\d*(?:\.\d+)?[dioxXeEfFgGtT]|:[\d,.]*[dfxeEgob]", spec) is not None
    return not number and not constant(source, node)


def built(index: int, *keywords: str) -> Condition:
    """The argument is put together from text and values, or is outside data itself."""

    def check(source: Source, call: Call) -> bool:
        arg = call.arg(index, *keywords)
        return arg is not None and is_built(source, arg)

    return check


def is_built(source: Source, arg: Node) -> bool:
    parts = build(source, arg)
    if len(parts.pieces) > 1 and any(_open(source, hole.node, hole.spec) for hole in parts.holes):
        return True
    return outside(source, arg) is not None


def varying(index: int, *keywords: str) -> Condition:
    """The argument is not fixed by the program text."""

    def check(source: Source, call: Call) -> bool:
        arg = call.arg(index, *keywords)
        return arg is not None and not constant(source, arg)

    return check


def from_outside(*indexes: int) -> Condition:
    def check(source: Source, call: Call) -> bool:
        args = [call.arg(index) for index in indexes] if indexes else [*call.args, *call.keywords.values()]
        return any(arg is not None and outside(source, arg) is not None for arg in args)

    return check


def option(name: str, *values: str) -> Condition:
    """A keyword argument with one of these source texts."""

    def check(source: Source, call: Call) -> bool:
        value = call.keywords.get(name)
        return value is not None and source.text(unwrapped(value)) in values

    return check


def without(name: str, *values: str) -> Condition:
    return lambda source, call: not option(name, *values)(source, call)


def text_is(index: int, pattern: str) -> Condition:
    """The argument is a string literal of this form."""
    compiled = re.compile(pattern)

    def check(source: Source, call: Call) -> bool:
        text = constant_text(source, call.arg(index))
        return text is not None and compiled.fullmatch(text) is not None

    return check


def about(pattern: re.Pattern[str]) -> Condition:
    """The names around the call tell that it is about this."""
    return lambda source, call: any(pattern.search(word) for word in words_around(source, call.node))


def not_about(pattern: re.Pattern[str]) -> Condition:
    return lambda source, call: not about(pattern)(source, call)
