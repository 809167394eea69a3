"""Translates JavaScript's methods: `list.push(x)` is `append`, `list.includes(x)` is `x in list`.

The engine has one vocabulary for strings, lists and tables; only this file knows JavaScript's.
"""

import re
from collections.abc import Callable
from itertools import islice

from moot.scan.engine.ir import (
    Attr,
    Binary,
    Call,
    Choice,
    Clause,
    Compare,
    Comprehension,
    Const,
    Cut,
    Entry,
    Expr,
    Item,
    Many,
    Name,
    Opaque,
    Span,
    Star,
    Table,
    Unary,
    Wait,
)
from moot.scan.javascript.reader import CALLBACK

RENAMED = {
    "shift": "popleft", "toLowerCase": "lower", "toUpperCase": "upper", "toLocaleLowerCase": "lower",
    "toLocaleUpperCase": "upper", "trim": "strip", "trimStart": "lstrip", "trimEnd": "rstrip",
    "startsWith": "startswith", "endsWith": "endswith", "replaceAll": "replace",
}  # fmt: skip
# Tests that accept only letters, digits and the like.
STRICT_TESTS = frozenset(
    {"isAlphanumeric", "isAlpha", "isInt", "isNumeric", "isUUID", "isMongoId", "isHexadecimal", "isInteger", "isFloat"}
    | {"isSafeInteger", "isDecimal", "isIn", "isMD5", "isFinite", "isPort", "isBoolean", "isISO8601", "isIP", "isSlug"}
    | {"isFQDN", "isMACAddress", "isIPRange", "isSemVer", "isCreditCard", "isMobilePhone", "isPostalCode", "isHexColor"}
)
PROVES = "js.is_safe"
IS_TEXT = "js.is_text"
CLEANS = "js.only_harmless"
NUMBER = "js.number"
REGEX = "RegExp"
TYPEOF = "require typeof"
SIMPLE_CLASS = re.compile(r"\[((?:\\.|[^\]\\^-])+)\]\+?")
HARMLESS_CLASS = re.compile(r"\[\^((?:\\[wd.-]|[ _\-A-Za-z0-9.,@])+)\][+*]?|\\[WD]\+?")

# A pattern of all special characters, to be escaped.
ESCAPED_CLASS = re.compile(r"\(?\[(?=.*\.)(?=.*\*)(?=.*\+)(?=.*\()(?=.*\\\\).*\]\)?$", re.DOTALL)

Told = Expr | None
Known = Callable[[Span, str], Expr]
"""Makes an engine name that no variable of the program can shadow."""


def translate_call(call: Call, known: Known) -> Expr:
    """The translated call, or the call itself."""
    if isinstance(call.func, Name):
        return _function(call, call.func.id, known) or call
    if not isinstance(call.func, Attr):
        return call
    name, base = call.func.name, call.func.base
    if isinstance(base, Name) and base.id in GLOBALS:
        found = GLOBALS[base.id](call, name, known)
        return found if found is not None else call
    if name in RENAMED:
        return call._replace(func=Attr(call.func.at, base, RENAMED[name]))
    if name in STRICT_TESTS and call.args:
        return Call(call.at, known(call.at, PROVES), call.args[:1])
    method = METHODS.get(name)
    found = method(call, base, known) if method is not None else None
    return found if found is not None else call


def is_function(value: Expr) -> bool:
    return isinstance(value, Name) and value.id.startswith(CALLBACK)


def _element(call: Call, base: Expr) -> Expr:
    return Item(call.at, base, Opaque(call.at))


# Functions and the methods of built-in objects.


def _function(call: Call, name: str, known: Known) -> Told:
    if name == "promisify" and len(call.args) == 1:
        return call.args[0]
    if name == "isNaN" and call.args:
        return Unary(call.at, "not", Call(call.at, known(call.at, PROVES), call.args[:1]))
    if name == "isFinite" and call.args:
        return Call(call.at, known(call.at, PROVES), call.args[:1])
    return None


def _object(call: Call, name: str, known: Known) -> Told:
    args = call.args
    if name in ("keys", "values", "entries") and len(args) == 1:
        return Call(call.at, Attr(call.at, args[0], "items" if name == "entries" else name))
    if name == "assign" and args and not any(isinstance(arg, Star) for arg in args):
        return Table(call.at, tuple(Entry(arg.at, None, arg) for arg in args))
    if name == "freeze" and len(args) == 1:
        return args[0]
    if name == "hasOwn" and len(args) == 2:
        return Compare(call.at, "in", args[1], args[0])
    return None


def _number(call: Call, name: str, known: Known) -> Told:
    if name in ("isInteger", "isSafeInteger", "isFinite") and call.args:
        return Call(call.at, known(call.at, PROVES), call.args[:1])
    if name == "isNaN" and call.args:
        return Unary(call.at, "not", Call(call.at, known(call.at, PROVES), call.args[:1]))
    return None


def _array(call: Call, name: str, known: Known) -> Told:
    if name == "from" and len(call.args) == 1:
        return call.args[0]
    if name == "of":
        return Many(call.at, "list", call.args)
    return None


def _path(call: Call, name: str, known: Known) -> Told:
    """`join` and `normalize` resolve `..` as `resolve` does."""
    if name in ("join", "normalize") and isinstance(call.func, Attr):
        return call._replace(func=call.func._replace(name="resolve"))
    return None


def _math(call: Call, name: str, known: Known) -> Told:
    """Rounding keeps a random number guessable; no other harm is left in a number."""
    whole = name in ("floor", "ceil", "round", "trunc") and len(call.args) == 1 and not isinstance(call.args[0], Const)
    return Binary(call.at, "//", call.args[0], Const(call.at, 1)) if whole else None


GLOBALS: dict[str, Callable[[Call, str, Known], Told]] = {
    "Object": _object,
    "Number": _number,
    "Array": _array,
    "path": _path,
    "Math": _math,
}


# Methods.


def _push(call: Call, base: Expr, known: Known) -> Told:
    func = Attr(call.func.at, base, "append")
    if len(call.args) == 1 and isinstance(call.args[0], Star):
        return Call(call.at, Attr(call.func.at, base, "extend"), (call.args[0].value,))
    if len(call.args) == 1:
        return Call(call.at, func, call.args)
    return Call(call.at, Attr(call.func.at, base, "extend"), (Many(call.at, "list", call.args),))


def _unshift(call: Call, base: Expr, known: Known) -> Told:
    return Call(call.at, Attr(call.func.at, base, "appendleft"), call.args[:1]) if call.args else None


def _concat(call: Call, base: Expr, known: Known) -> Told:
    value = base
    for arg in call.args[:8]:
        value = Binary(call.at, "+", value, arg)
    return value


def _join(call: Call, base: Expr, known: Known) -> Told:
    if len(call.args) > 1 or (call.args and isinstance(call.args[0], Star)):
        return None
    separator: Expr = call.args[0] if call.args else Const(call.at, ",")
    return Call(call.at, Attr(call.func.at, separator, "join"), (base,)) if _is_text(separator) else None


def _is_text(value: Expr) -> bool:
    return isinstance(value, Const) and isinstance(value.value, str)


def _slice(call: Call, base: Expr, known: Known) -> Told:
    if len(call.args) > 2 or any(isinstance(arg, Star) for arg in call.args):
        return None
    low = call.args[0] if call.args else None
    return Cut(call.at, base, low, call.args[1] if len(call.args) > 1 else None)


def _char(call: Call, base: Expr, known: Known) -> Told:
    return Item(call.at, base, call.args[0]) if len(call.args) == 1 else None


def _member(call: Call, base: Expr, known: Known) -> Told:
    return Compare(call.at, "in", call.args[0], base) if len(call.args) == 1 else None


def _translate_borrowed(call: Call, base: Expr, known: Known) -> Told:
    """`Object.prototype.hasOwnProperty.call(table, key)`"""
    if isinstance(base, Attr) and base.name == "hasOwnProperty" and len(call.args) == 2:
        return Compare(call.at, "in", call.args[1], call.args[0])
    return None


def _test(call: Call, base: Expr, known: Known) -> Told:
    return Call(call.at, Attr(call.func.at, base, "search"), call.args) if len(call.args) == 1 else None


def _exec(call: Call, base: Expr, known: Known) -> Told:
    return _test(call, base, known) if pattern_of(base) is not None else None


def _match(call: Call, base: Expr, known: Known) -> Told:
    """`text.match(/…/)` is `/…/.exec(text)`."""
    if len(call.args) == 1 and pattern_of(call.args[0]) is not None:
        return Call(call.at, Attr(call.func.at, call.args[0], "search"), (base,))
    return None


def pattern_of(value: Expr) -> str | None:
    """The source of a literal regular expression."""
    if not isinstance(value, Call) or not isinstance(value.func, Name) or value.func.id != REGEX:
        return None
    first = value.args[0] if value.args else None
    return first.value if isinstance(first, Const) and isinstance(first.value, str) else None


def _flags(value: Expr) -> str:
    second = value.args[1] if isinstance(value, Call) and len(value.args) > 1 else None
    return str(second.value) if isinstance(second, Const) else ""


def _replace(call: Call, base: Expr, known: Known) -> Told:
    """The characters that are removed. Only a global pattern removes all of them."""
    if len(call.args) != 2:
        return None
    pattern, other = pattern_of(call.args[0]), call.args[1]
    if pattern is None or "g" not in _flags(call.args[0]):
        return call._replace(func=Attr(call.func.at, base, "replace_first"))
    if HARMLESS_CLASS.fullmatch(pattern) and isinstance(other, Const):
        return Call(call.at, known(call.at, CLEANS), (base,))
    if ESCAPED_CLASS.match(pattern) and isinstance(other, Const) and "$&" in str(other.value):
        return Call(call.at, known(call.at, "escape-string-regexp"), (base,))
    chars = _characters(pattern)
    value = base
    for char in chars:
        value = Call(call.at, Attr(call.func.at, value, "replace"), (Const(call.at, char), other))
    return value if chars else call._replace(func=Attr(call.func.at, base, "replace_first"))


MAX_CHARACTERS = 12
"""Maximum characters of a pattern; each becomes a call."""


def _characters(pattern: str) -> list[str]:
    """The characters of a pattern of single characters."""
    found = SIMPLE_CLASS.fullmatch(pattern)
    body = found[1] if found else pattern
    first = (part.group()[-1] for part in islice(re.finditer(r"\\.|.", body, re.DOTALL), MAX_CHARACTERS))
    chars = [{"n": "\n", "r": "\r", "t": "\t"}.get(c, c) if f"\\{c}" in body else c for c in first]
    plain = found is not None or (len(chars) == 1 and body not in (".", "^", "$"))
    return chars if plain else []


def _each(call: Call, base: Expr, known: Known) -> Told:
    if not call.args or not is_function(call.args[0]):
        return None
    return Call(call.at, call.args[0], (_element(call, base),))


def _some(call: Call, base: Expr, known: Known) -> Told:
    return _ask_each(call, base, known, "any")


def _every(call: Call, base: Expr, known: Known) -> Told:
    return _ask_each(call, base, known, "all")


def _ask_each(call: Call, base: Expr, known: Known, how: str) -> Told:
    """What is proved of each item is proved of the list."""
    if not call.args or not is_function(call.args[0]):
        return None
    each = Name(call.at, f"each {call.at[0]}")
    asked = Comprehension(call.at, "list", Call(call.at, call.args[0], (each,)), (Clause(each, base),))
    return Call(call.at, known(call.at, how), (asked,))


def _map(call: Call, base: Expr, known: Known) -> Told:
    if not call.args or not isinstance(call.args[0], Name):
        return None
    each = Name(call.at, f"each {call.at[0]}")
    return Comprehension(call.at, "list", Call(call.at, call.args[0], (each,)), (Clause(each, base),))


def _filter(call: Call, base: Expr, known: Known) -> Told:
    if not call.args or not is_function(call.args[0]):
        return None
    each = Name(call.at, f"each {call.at[0]}")
    return Comprehension(call.at, "list", each, (Clause(each, base, (Call(call.at, call.args[0], (each,)),)),))


def _find(call: Call, base: Expr, known: Known) -> Told:
    if not call.args or not is_function(call.args[0]):
        return None
    element = _element(call, base)
    return Choice(call.at, Call(call.at, call.args[0], (element,)), element, Const(call.at, None))


def _reduce(call: Call, base: Expr, known: Known) -> Told:
    if not call.args or not is_function(call.args[0]):
        return None
    start: Expr = call.args[1] if len(call.args) > 1 else _element(call, base)
    return Call(call.at, call.args[0], (start, _element(call, base)))


def _then(call: Call, base: Expr, known: Known) -> Told:
    if not call.args or not is_function(call.args[0]):
        return None
    done = Call(call.at, call.args[0], (Wait(call.at, base),))
    return Opaque(call.at, (done, *call.args[1:]), "then") if len(call.args) > 1 else done


def _after(call: Call, base: Expr, known: Known) -> Told:
    """`catch` and `finally` pass the earlier value on."""
    return Opaque(call.at, (base, *call.args), "catch") if call.args and is_function(call.args[0]) else None


def _translate_promise(call: Call, base: Expr, known: Known) -> Told:
    """The same function, awaited."""
    return call.args[0] if len(call.args) == 1 else None


def _attribute(call: Call, base: Expr, known: Known) -> Told:
    """Text read from the page: not HTML."""
    return Call(call.at, known(call.at, "dom.getAttribute"), call.args)


METHODS: dict[str, Callable[[Call, Expr, Known], Told]] = {
    "push": _push,
    "unshift": _unshift,
    "concat": _concat,
    "join": _join,
    "slice": _slice,
    "substring": _slice,
    "charAt": _char,
    "at": _char,
    "includes": _member,
    "has": _member,
    "hasOwnProperty": _member,
    "contains": _member,
    "call": _translate_borrowed,
    "test": _test,
    "exec": _exec,
    "match": _match,
    "replace": _replace,
    "forEach": _each,
    "some": _some,
    "every": _every,
    "map": _map,
    "flatMap": _map,
    "filter": _filter,
    "find": _find,
    "reduce": _reduce,
    "then": _then,
    "catch": _after,
    "finally": _after,
    "promisify": _translate_promise,
    "getAttribute": _attribute,
}
