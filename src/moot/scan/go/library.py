"""Translates Go library calls to the IR: `strings.HasPrefix(x, y)` is `x.startswith(y)`.

So the same check proves the same in Go and Python, and constants are folded.
"""

import re
from collections.abc import Callable

from moot.scan.engine.ir import Attr, Call, Compare, Concat, Const, Expr, Hole, Logic, Name

FIXED_ORIGIN = "fixed-origin"
"""Text that starts with a fixed origin: what follows cannot change the host."""
OWN_ADDRESS = re.compile(r"https?://[^/?#%]+/|/[^/\\]")
MAX_LETTERS = 12
ORIGIN_KINDS = frozenset({"redirect", "ssrf"})


def _method(name: str) -> Callable[[Call], Expr]:
    def translate_call(call: Call) -> Expr:
        return call._replace(func=Attr(call.args[0].at, call.args[0], name), args=call.args[1:])

    return translate_call


def _has_prefix(call: Call) -> Expr:
    start = call.args[1]
    first = start.parts[0] if isinstance(start, Concat) and start.parts else start
    if isinstance(first, Const) and isinstance(first.value, str) and first.value.startswith(".."):
        return Compare(call.at, "in", first, call.args[0])
    return _method("startswith")(call)


def _contains(call: Call) -> Expr:
    return Compare(call.at, "in", call.args[1], call.args[0])


def _contains_any(call: Call) -> Expr:
    letters = call.args[1]
    if (
        not isinstance(letters, Const)
        or not isinstance(letters.value, str)
        or not 0 < len(letters.value) <= MAX_LETTERS
    ):
        return call
    tests = tuple(Compare(call.at, "in", Const(letters.at, letter), call.args[0]) for letter in letters.value)
    return tests[0] if len(tests) == 1 else Logic(call.at, "or", tests)


def _member(call: Call) -> Expr:
    return Compare(call.at, "in", call.args[1], call.args[0])


def _same(call: Call) -> Expr:
    return Compare(call.at, "==", call.args[0], call.args[1])


def _join(call: Call) -> Expr:
    return call._replace(func=Attr(call.args[1].at, call.args[1], "join"), args=call.args[:1])


def _normal(call: Call) -> Expr:
    return Call(call.at, Attr(call.at, call, "resolve"))


def _matches(call: Call) -> Expr:
    compiled = Call(call.at, Attr(call.at, Name(call.at, "regexp"), "MustCompile"), call.args[:1])
    return Call(call.at, Attr(call.at, compiled, "search"), call.args[1:])


TOLD: dict[str, tuple[int, Callable[[Call], Expr]]] = {
    "strings.HasPrefix": (2, _has_prefix),
    "strings.HasSuffix": (2, _method("endswith")),
    "strings.Contains": (2, _contains),
    "strings.ContainsRune": (2, _contains),
    "strings.ContainsAny": (2, _contains_any),
    "unicode.IsLetter": (1, _method("isalpha")),
    "unicode.IsDigit": (1, _method("isdigit")),
    "unicode.IsNumber": (1, _method("isnumeric")),
    "strings.EqualFold": (2, _same),
    "strings.ToLower": (1, _method("lower")),
    "strings.ToUpper": (1, _method("upper")),
    "strings.TrimSpace": (1, _method("strip")),
    "strings.TrimPrefix": (2, _method("removeprefix")),
    "strings.TrimSuffix": (2, _method("removesuffix")),
    "strings.ReplaceAll": (3, _method("replace")),
    "strings.Split": (2, _method("split")),
    "strings.Join": (2, _join),
    "slices.Contains": (2, _member),
    "golang.org/x/exp/slices.Contains": (2, _member),
    "path/filepath.Clean": (1, _normal),
    "path/filepath.Abs": (1, _normal),
    "path/filepath.EvalSymlinks": (1, _normal),
    "path/filepath.Join": (0, _normal),
    "path.Clean": (1, _normal),
    "path.Join": (0, _normal),
    "regexp.MatchString": (2, _matches),
}


def translate_call(origin: str, call: Call) -> Expr | None:
    """The translated call; None if it stays a call."""
    known = TOLD.get(origin)
    if known is not None and call.args and known[0] in (0, len(call.args)):
        return known[1](call)
    if origin == "strings.Replace" and len(call.args) == 4:
        return _method("replace")(call._replace(args=call.args[:3]))
    if isinstance(call.func, Attr) and call.func.name in ("MatchString", "Match") and len(call.args) == 1:
        return call._replace(func=call.func._replace(name="search"))
    return None


def anchor_text(text: Expr) -> Expr:
    """Marks a built string whose beginning fixes the host."""
    first = text.parts[0] if isinstance(text, Concat) and text.parts else None
    known = first.value if isinstance(first, Const) else None
    if isinstance(known, str) and OWN_ADDRESS.match(known) and not isinstance(text, Hole):
        return Call(text.at, Name(text.at, FIXED_ORIGIN), (text,))
    return text
