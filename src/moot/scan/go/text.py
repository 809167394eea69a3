"""Values of Go literals, constant folding, and the holes of a `Sprintf` template."""

import re
from collections.abc import Iterator

from moot.scan.engine.ir import Concat, Const, Expr, Hole, Name, Scalar, Span, Star

ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{3}|.)", re.DOTALL)
PLAIN = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "'": "'", '"': '"', "\\": "\\"}
VERB = re.compile(r"%[-+# 0]*(?:\[(?P<place>\d{1,3})\])?(?:\*|\d+)?(?:\.(?:\*|\d+)?)?(?P<verb>[a-zA-Z%])")
NUMERIC = frozenset("bcdoOxXUeEfFgGtp")
FORMATTERS = frozenset({"fmt.Sprintf", "fmt.Sprint", "fmt.Sprintln"})
LOG_FORMATTERS = frozenset({"Printf", "Fatalf", "Panicf", "Tracef", "Debugf", "Infof", "Warnf", "Warningf"})
MAX_DIGITS = 40
FOLDED = frozenset({"+", "-", "*", "<<", ">>", "|", "&", "/"})


def unescape_text(text: str) -> str:
    return ESCAPE.sub(lambda found: _meaning(found[1]), text) if "\\" in text else text


def _meaning(code: str) -> str:
    if code in PLAIN:
        return PLAIN[code]
    if code[0] in "xuU" and len(code) > 1:
        number = int(code[1:], 16)
        return chr(number) if number < 0x110000 else "\ufffd"
    return chr(int(code, 8)) if code.isdigit() and len(code) == 3 else "\\" + code


def rune(text: str) -> int | None:
    plain = unescape_text(text)
    return ord(plain) if len(plain) == 1 else None


def whole(text: str) -> int | None:
    """The value of an integer literal; None if it is enormous."""
    plain = text.replace("_", "")
    if len(plain) > MAX_DIGITS:
        return None
    if re.fullmatch("0[0-7]+", plain):
        return int(plain, 8)
    try:
        return int(plain, 0)
    except ValueError:
        return None


def lower_format(at: Span, origin: str, args: tuple[Expr, ...], consts: dict[str, Scalar]) -> Expr | None:
    if any(isinstance(arg, Star) for arg in args):
        return None
    if origin != "fmt.Sprintf":
        return Concat(at, tuple(Hole(arg.at, arg, "%v") for arg in args), "format")
    template = args[0]
    text = consts.get(template.id) if isinstance(template, Name) else None
    if isinstance(template, Const):
        text = template.value
    if not isinstance(text, str):
        return None
    return Concat(at, tuple(_fill_template(template.at, text, args[1:])), "format")


def _fill_template(at: Span, template: str, values: tuple[Expr, ...]) -> Iterator[Expr]:
    rest = iter(values)
    start, text = 0, ""
    for found in VERB.finditer(template):
        text += template[start : found.start()]
        start = found.end()
        if found["verb"] == "%":
            text += "%"
            continue
        value = _at(values, int(found["place"])) if found["place"] else next(rest, None)
        if value is None:
            text += found[0]
            continue
        if text:
            yield Const(at, text)
        yield Hole(value.at, value, found[0], found["verb"] in NUMERIC)
        text = ""
    if text + template[start:]:
        yield Const(at, text + template[start:])
    if "%[" not in template:
        yield from (Hole(value.at, value, "%v") for value in rest)


def _at(values: tuple[Expr, ...], place: int) -> Expr | None:
    return values[place - 1] if 0 < place <= len(values) else None


def plus(at: Span, left: Expr, right: Expr) -> Expr:
    if isinstance(left, Const) and isinstance(right, Const):
        return Const(at, str(left.value) + str(right.value))
    before = left.parts if isinstance(left, Concat) and left.how == "plus" else (left,)
    return Concat(at, (*before, right), "plus")


def fold_integers(op: str, left: Expr, right: Expr) -> int | None:
    """Folds integer expressions such as `1 << iota` and `4 * 1024`."""
    if not isinstance(left, Const) or not isinstance(right, Const) or op not in FOLDED:
        return None
    a, b = left.value, right.value
    if type(a) is not int or type(b) is not int or abs(a) > 2**64 or abs(b) > 2**64:
        return None
    if op in ("<<", ">>"):
        return (a << b if op == "<<" else a >> b) if 0 <= b < 65 else None
    if op == "/":
        return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) if b else None
    return {"+": a + b, "-": a - b, "*": a * b, "|": a | b, "&": a & b}[op]
