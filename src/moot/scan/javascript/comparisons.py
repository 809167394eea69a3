"""Translates JavaScript's comparisons: `list.indexOf(x) !== -1` is `x in list`, `typeof x === "number"` is a proof."""

from moot.scan.engine.ir import Attr, Call, Compare, Const, Expr, Name, Span, Unary
from moot.scan.javascript.words import IS_TEXT, PROVES, TYPEOF, Known, Told


def translate_comparison(at: Span, op: str, left: Expr, right: Expr, known: Known) -> Expr:
    """`list.indexOf(x) !== -1` is `x in list`; `typeof x === "number"` proves that it is harmless, `"string"` that it
    is not an object."""
    found = _index_test(at, op, left, right)
    if found is not None:
        return found
    if op in ("==", "!=") and isinstance(left, Call) and _is_type_test(left) and isinstance(right, Const):
        name = {"number": PROVES, "boolean": PROVES, "bigint": PROVES, "string": IS_TEXT}.get(str(right.value))
        proof = Call(at, known(at, name), left.args) if name is not None else Compare(at, "==", left, right)
        return proof if op == "==" else Unary(at, "not", proof)
    return Compare(at, op, left, right)


def _is_type_test(left: Call) -> bool:
    return isinstance(left.func, Name) and left.func.id == TYPEOF


def _index_test(at: Span, op: str, left: Expr, right: Expr) -> Told:
    if not isinstance(left, Call) or not isinstance(left.func, Attr) or left.func.name != "indexOf":
        return None
    if len(left.args) != 1:
        return None
    edge = _small(right)
    if (op, edge) in ((">", -1), (">=", 0), ("!=", -1)):
        return Compare(at, "in", left.args[0], left.func.base)
    if (op, edge) in (("<", 0), ("==", -1), ("<=", -1)):
        return Compare(at, "not in", left.args[0], left.func.base)
    if (op, edge) == ("==", 0):
        return Call(at, Attr(at, left.func.base, "startswith"), left.args)
    if (op, edge) == ("!=", 0):
        return Unary(at, "not", Call(at, Attr(at, left.func.base, "startswith"), left.args))
    return None


def _small(value: Expr) -> object:
    if isinstance(value, Unary) and value.op == "-" and isinstance(value.value, Const) and value.value.value == 1:
        return -1
    return value.value if isinstance(value, Const) and value.value == 0 else None
