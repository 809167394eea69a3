"""Constant folding with Python's semantics; gives no value unless it is certain."""

import base64
import binascii
import codecs
import operator
import posixpath
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Final, Literal, TypeAlias

from moot.scan.engine.ir import Scalar
from moot.scan.syntax import words


class Nothing(Enum):
    """The value is unknown."""

    UNKNOWN = "unknown"


UNKNOWN: Final = Nothing.UNKNOWN
Known: TypeAlias = Scalar | Literal[Nothing.UNKNOWN]
MAX_TEXT = 4000
MAX_NUMBER = 10**30
FAILURES = (TypeError, ValueError, ArithmeticError, LookupError, AttributeError, MemoryError)

BINARY: dict[str, Callable[..., object]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "**": operator.pow,
}
COMPARE: dict[str, Callable[..., object]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "in": lambda item, whole: item in whole,
    "not in": lambda item, whole: item not in whole,
    "is": lambda left, right: left is right,
    "is not": lambda left, right: left is not right,
    "<>": operator.ne,
}
UNARY: dict[str, Callable[..., object]] = {
    "-": operator.neg,
    "+": operator.pos,
    "~": lambda value: operator.invert(int(value) if isinstance(value, bool) else value),  # Python 3.16 drops `~True`
    "not": operator.not_,
}
TEXT_METHODS = words(
    "capitalize casefold endswith find index isalnum isalpha isascii isdecimal isdigit isidentifier islower isnumeric "
    "isprintable isspace istitle isupper lower lstrip removeprefix removesuffix replace rfind rindex rstrip startswith "
    "strip swapcase title upper count encode decode hex zfill ljust rjust center"
)


def _as_text(value: object) -> str:
    """Go's `[]byte("…")` and back."""
    if not isinstance(value, str):
        raise TypeError(value)
    return value


FUNCTIONS: dict[str, Callable[..., object]] = {
    "len": len,
    "str": str,
    "int": int,
    "float": float,
    "bool": bool,
    "abs": abs,
    "ord": ord,
    "chr": chr,
    "hex": hex,
    "round": round,
    "min": min,
    "max": max,
    "string": _as_text,
    "[]byte": _as_text,
}


def _characters(*codes: int) -> str:
    return "".join(map(chr, codes))


def _buffer(data: object, alphabet: str = "utf8") -> bytes:
    """Node's `Buffer.from`."""
    if isinstance(data, list):
        return bytes(data)
    text = str(data)
    if alphabet in ("base64", "base64url"):
        return base64.b64decode(text.translate({45: "+", 95: "/"}).rstrip("=") + "=" * (-len(text.rstrip("=")) % 4))
    return bytes.fromhex(text) if alphabet == "hex" else text.encode()


def _join_paths(*parts: str) -> Known:
    """An absolute path put together from constants; one below the current folder depends on where the program runs."""
    path = posixpath.normpath(posixpath.join(*parts[:1], *(part.lstrip("/") for part in parts[1:])))
    return path if path.startswith("/") else UNKNOWN


def _alphabet(data: object, name: str = "utf-8") -> object:
    return codecs.decode(data, name) if name.lower() in ALPHABETS else UNKNOWN  # type: ignore[call-overload]


ALPHABETS = words("rot13 rot_13 hex hex_codec base64 base64_codec utf-8 utf8 ascii latin-1 latin1 unicode_escape")
DECODERS: dict[str, Callable[..., object]] = {
    "base64.b64decode": base64.b64decode,
    "base64.standard_b64decode": base64.b64decode,
    "base64.urlsafe_b64decode": base64.urlsafe_b64decode,
    "base64.b32decode": base64.b32decode,
    "base64.b16decode": base64.b16decode,
    "base64.a85decode": base64.a85decode,
    "base64.b85decode": base64.b85decode,
    "binascii.unhexlify": binascii.unhexlify,
    "binascii.a2b_hex": binascii.unhexlify,
    "binascii.a2b_base64": binascii.a2b_base64,
    "bytes.fromhex": bytes.fromhex,
    "bytearray.fromhex": bytes.fromhex,
    "bytes": bytes,
    "bytearray": bytes,
    "codecs.decode": _alphabet,
    "operator.add": operator.add,
    "operator.concat": operator.concat,
    "str.lower": str.lower,
    "String.fromCharCode": _characters,
    "String.fromCodePoint": _characters,
    "atob": lambda text: base64.b64decode(text).decode("latin-1"),
    "Buffer.from": _buffer,
    "path.resolve": _join_paths,
    "path/filepath.Join": _join_paths,
    "path.Join": _join_paths,
}
"""Functions that decode constants or join constant parts."""


def fold_call(name: str, args: Sequence[object]) -> Known:
    sizes = [len(arg) if isinstance(arg, str | bytes | list) else 1 for arg in args]
    numbers = [arg for arg in args if isinstance(arg, int)]
    if max(sizes, default=0) > MAX_TEXT or any(abs(number) > MAX_TEXT * 100 for number in numbers):
        return UNKNOWN
    if name in ("bytes", "bytearray") and numbers:
        return UNKNOWN
    try:
        return _keep_small(DECODERS[name](*args))
    except (*FAILURES, UnicodeError):
        return UNKNOWN


def _keep_small(value: object) -> Known:
    """A result of a known type and moderate size."""
    if isinstance(value, float) and value != value:  # NaN: equal to nothing, not even to itself
        return UNKNOWN
    if isinstance(value, str | bytes):
        return value if len(value) <= MAX_TEXT else UNKNOWN
    if isinstance(value, int):
        return value if -MAX_NUMBER < value < MAX_NUMBER else UNKNOWN
    if value is None or isinstance(value, float):
        return value
    return UNKNOWN


def binary(op: str, left: Scalar, right: Scalar) -> Known:
    compute = BINARY.get(op)
    if compute is None or not _small(op, left, right):
        return UNKNOWN
    if op == "%" and isinstance(left, str | bytes):
        return UNKNOWN
    try:
        return _keep_small(compute(left, right))
    except FAILURES:
        return UNKNOWN


def _small(op: str, left: Scalar, right: Scalar) -> bool:
    """`"a" * 10**9` and `2 ** 10**9` are not computed."""
    if op in ("**", "<<", ">>"):
        return _is_below(left, 10**6) and _is_below(right, 100)
    if op == "*":
        sizes = [len(v) if isinstance(v, str | bytes) else 1 for v in (left, right)]
        counts = [abs(v) if isinstance(v, int) else 1 for v in (left, right)]
        return max(sizes) == 1 or max(sizes) * max(counts) <= MAX_TEXT
    return True


def _is_below(value: Scalar, limit: int) -> bool:
    return isinstance(value, int | float) and abs(value) < limit


def compare(op: str, left: Scalar, right: Scalar) -> bool | Literal[Nothing.UNKNOWN]:
    compute = COMPARE.get(op)
    # Identity of equal strings and numbers depends on the interpreter.
    unsure = op in ("is", "is not") and not (left is None or right is None or isinstance(left, bool))
    if compute is None or unsure:
        return UNKNOWN
    try:
        return bool(compute(left, right))
    except FAILURES:
        return UNKNOWN


def unary(op: str, value: Scalar) -> Known:
    compute = UNARY.get(op)
    if compute is None:
        return UNKNOWN
    try:
        return _keep_small(compute(value))
    except FAILURES:
        return UNKNOWN


def item(value: Scalar, key: Scalar) -> Known:
    try:
        return _keep_small(value[key])  # type: ignore[index]
    except FAILURES:
        return UNKNOWN


def cut(value: Scalar, bounds: tuple[Scalar, Scalar, Scalar]) -> Known:
    try:
        return _keep_small(value[bounds[0] : bounds[1] : bounds[2]])  # type: ignore[index]
    except FAILURES:
        return UNKNOWN


def method(value: Scalar, name: str, args: Sequence[Scalar]) -> Known:
    """A method of a constant string; padding to a huge width is not computed."""
    if name == "toString" and isinstance(value, bytes):
        name, args = "decode", ()
    if name == "replace_first" and len(args) == 2:
        name, args = "replace", (*args, 1)
    if not isinstance(value, str | bytes) or name not in TEXT_METHODS:
        return UNKNOWN
    if any(isinstance(arg, int) and abs(arg) > MAX_TEXT for arg in args):
        return UNKNOWN
    growth = max((len(arg) for arg in args if isinstance(arg, str | bytes)), default=1)
    if len(value) * max(growth, 1) > MAX_TEXT * 100:
        return UNKNOWN
    try:
        return _keep_small(getattr(value, name)(*args))
    except (*FAILURES, UnicodeError):
        return UNKNOWN


def function(name: str, args: Sequence[Scalar]) -> Known:
    compute = FUNCTIONS.get(name)
    if compute is None or not args:
        return UNKNOWN
    try:
        return _keep_small(compute(*args))
    except FAILURES:
        return UNKNOWN


def join_scalars(parts: Sequence[Scalar]) -> Known:
    """Joins constant parts, as an f-string without format specs would."""
    text = "".join(str(part) for part in parts)
    return text if len(text) <= MAX_TEXT else UNKNOWN
