"""Inside the sandbox: values as data, on both sides of the socket between tests and the code they test.

Values are written by exact type and rebuilt on the other side, so no object of one process is ever in the other.
Mutable containers that crossed keep a number: a change on one side is made on the other before the next answer, and the
same container comes back as itself. What is not data stays where it is; the other side gets a number for it.
Our own instead of pickle: it must not run code of the sender.
"""

from __future__ import annotations

import builtins
import sys
from _json import encode_basestring_ascii as quoted
from _json import make_encoder, make_scanner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

DEEPEST = 200
LONG_BITS = 8000
"""Longer integers are written in hexadecimal: Python limits decimal digits."""
MUTABLE = (list, dict, set, bytearray)
SPREAD = (list, tuple, set, frozenset)
VALUES = {
    "decimal": {"Decimal"},
    "fractions": {"Fraction"},
    "datetime": {"date", "datetime", "time", "timedelta"},
    "uuid": {"UUID"},
    "collections": {"deque", "Counter", "OrderedDict", "defaultdict"},
    "pathlib": {"PurePosixPath"},
}
"""Values of the standard library that cross as data."""
CHANGEABLE = frozenset({"deque", "Counter", "OrderedDict", "defaultdict"})
PURE = {
    "builtins": frozenset({
        *("int", "float", "complex", "str", "bytes", "bytearray", "bool", "list", "tuple", "dict", "set", "frozenset"),
        *("range", "slice", "object", "abs", "all", "any", "ascii", "bin", "callable", "chr", "divmod", "enumerate"),
        *("filter", "format", "hash", "hex", "isinstance", "issubclass", "len", "map", "max", "min", "oct", "ord"),
        *("pow", "repr", "reversed", "round", "sorted", "sum", "zip"),
        *(name for name, kind in vars(builtins).items() if isinstance(kind, type) and issubclass(kind, BaseException)),
    }),
    "operator": frozenset({
        *("add", "sub", "mul", "truediv", "floordiv", "mod", "neg", "pos", "abs", "eq", "ne", "lt", "le", "gt", "ge"),
        *("and_", "or_", "xor", "not_", "truth", "contains", "concat", "getitem", "pow", "index", "invert", "is_"),
    }),
    "math": frozenset({
        *("ceil", "floor", "sqrt", "sin", "cos", "tan", "log", "log2", "log10", "exp", "fabs", "gcd", "isnan", "hypot"),
        *("factorial", "trunc", "isqrt", "comb", "perm", "prod", "fsum", "copysign", "isinf", "isfinite", "pow"),
    }),
}  # fmt: skip
"""Functions and classes known by name on both sides. None runs text, opens files or reaches into an object: the tests'
side uses whatever the code names."""


class NoData(Exception):
    """This cannot cross."""


class Nonsense(Exception):
    """Not a valid message."""


class _Rules:
    strict = True
    object_hook = object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = None


def read(text: str) -> Any:
    try:
        return make_scanner(_Rules())(text, 0)[0]  # type: ignore[arg-type]
    except (StopIteration, ValueError, TypeError, RecursionError) as problem:
        raise Nonsense(f"the other side sent what cannot be read: {type(problem).__name__}") from None


def _no_data(value: object) -> object:
    raise NoData(type(value).__name__)


def write_message(message: object) -> str:
    # In C, because this runs for every call: no sorting, no skipped keys, no numbers that JSON lacks.
    return "".join(make_encoder(None, _no_data, quoted, None, ":", ",", False, False, False)(message, 0))


def _count_alone() -> int:
    """The reference count of a container that only a `LinkHeap` holds; versions of Python differ."""
    held: dict[int, tuple[list[int], None]] = {0: ([], None)}
    return next(sys.getrefcount(value) for _, (value, _) in held.items())


OURS = _count_alone()


class LinkHeap:
    """One side's containers that crossed, and how objects are encoded."""

    def __init__(
        self, first: int, tell: Callable[[object, LinkHeap], Any], meet: Callable[[list[Any], LinkHeap], object]
    ) -> None:
        self._next = first
        self._asks = first % 2 == 1
        """Whether this is the tests' side. What these pass may be changed in place."""
        self._pinned: frozenset[int] = frozenset()
        self._tell, self._meet = tell, meet
        self._held: dict[int, tuple[Any, Any]] = {}
        """Number -> container, and its content when both sides last agreed."""
        self._numbers: dict[int, int] = {}
        self._deep = 0

    @property
    def is_empty(self) -> bool:
        return not self._held

    def pin(self) -> None:
        """Keep what is held now for all tests: it was met while they were loaded."""
        self._pinned = frozenset(self._held)

    def forget(self, *, all_of_it: bool = False) -> None:
        kept = {} if all_of_it else {number: held for number, held in self._held.items() if number in self._pinned}
        self._held = kept
        self._numbers = {id(value): number for number, (value, _) in kept.items()}

    def tell(self, value: object) -> Any:
        kind = type(value)
        if value is None or kind is bool or kind is str:
            return value
        if kind is int:
            return value if int.bit_length(value) < LONG_BITS else ["i", hex(value)]  # type: ignore[arg-type]
        if kind is float:
            return value if value - value == 0 else ["f", repr(value)]  # type: ignore[operator]
        if self._deep > DEEPEST:
            raise NoData("it is nested too deeply")
        self._deep += 1
        try:
            return self._encode_value(value, kind)
        finally:
            self._deep -= 1

    def _encode_value(self, value: Any, kind: type) -> Any:
        if kind in MUTABLE:
            number = self._numbers.get(id(value))
            if number is not None:
                return ["=", number]
            number = self._keep(value)
            return [kind.__name__, number, self._inside(value)]
        if kind in SPREAD:
            return [kind.__name__, [self.tell(each) for each in value]]
        if kind is bytes:
            return ["bytes", value.decode("latin-1")]
        if kind is complex:
            return ["complex", repr(value.real), repr(value.imag)]
        if kind is range or kind is slice:
            return [kind.__name__, self.tell(value.start), self.tell(value.stop), self.tell(value.step)]
        if value is Ellipsis or value is NotImplemented:
            return ["const", repr(value)]
        named = _name_of(value)
        if named:
            return ["named", *named]
        library = None if self._asks and kind.__name__ in CHANGEABLE else _library_value(value, kind)
        if library is not None:
            return ["value", kind.__module__.split(".")[0], kind.__name__, self.tell(library)]
        return self._tell(value, self)

    def _keep(self, value: Any, number: int | None = None) -> int:
        if number is None:
            number, self._next = self._next, self._next + 2
        self._held[number] = (value, None)
        self._numbers[id(value)] = number
        return number

    def _inside(self, value: Any) -> Any:
        if type(value) is dict:
            return [[self.tell(key), self.tell(each)] for key, each in value.items()]
        return value.decode("latin-1") if type(value) is bytearray else [self.tell(each) for each in value]

    def changes(self) -> list[Any]:
        if not self._held:
            return []
        return [
            [number, self._inside(value)]
            for number, (value, before) in list(self._held.items())
            if before is not None and not _same(value, before)
        ]

    def list_unused(self) -> list[int]:
        """Containers that only we still hold: released here, and on the other side."""
        if not self._held:
            return []
        found = [number for number, (value, _) in self._held.items() if sys.getrefcount(value) <= OURS]
        self.let_go(found)
        return found

    def let_go(self, numbers: list[Any]) -> None:
        for number in numbers:
            value, _ = self._held.pop(check_number(number), (None, None))
            self._numbers.pop(id(value), None)

    def settle(self) -> None:
        """Both sides agree from now on."""
        for number, (value, before) in self._held.items():
            if before is None or not _same(value, before):
                self._held[number] = (value, _copy(value))

    def apply(self, changes: Any) -> None:
        for number, inside in _pairs(changes):
            if number not in self._held:
                continue
            value = self._held[number][0]
            _fill(value, self._contents(type(value), inside))
        self.settle()

    def meet(self, told: Any) -> Any:
        """Decode a value."""
        if told is None or type(told) in (bool, int, float, str):
            return told
        if type(told) is not list or not told or type(told[0]) is not str:
            raise Nonsense("a value without a kind")
        if self._deep > DEEPEST * 2:
            raise Nonsense("a value nested too deeply")
        self._deep += 1
        try:
            return self._decode_value(told)
        except (ValueError, TypeError, LookupError, OverflowError, ArithmeticError, AttributeError) as problem:
            raise Nonsense(f"a value that cannot be: {type(problem).__name__}") from None
        finally:
            self._deep -= 1

    def _decode_value(self, told: list[Any]) -> Any:
        kind, rest = told[0], told[1:]
        if kind == "=":
            return self._held[rest[0]][0]
        if kind in ("list", "dict", "set", "bytearray"):
            made = getattr(builtins, kind)()
            self._keep(made, check_number(rest[0]))
            _fill(made, self._contents(type(made), rest[1]))
            return made
        if kind in ("tuple", "frozenset"):
            return (tuple if kind == "tuple" else frozenset)([self.meet(each) for each in check_list(rest[0])])
        if kind in ("range", "slice"):
            return (range if kind == "range" else slice)(*[self.meet(each) for each in rest[:3]])
        if kind == "value":
            return _library_made(rest[0], rest[1], self.meet(rest[2]))
        simple = SIMPLE.get(kind)
        return simple(*rest) if simple else self._meet(told, self)

    def _contents(self, kind: type, inside: Any) -> Any:
        if kind is dict:
            return {self.meet(key): self.meet(each) for key, each in _pairs(inside)}
        if kind is bytearray:
            return inside.encode("latin-1")
        return [self.meet(each) for each in check_list(inside)]


def _fill(value: Any, inside: Any) -> None:
    if type(value) in (list, bytearray):
        value[:] = inside
    else:
        value.clear()
        value.update(inside)


def _copy(value: Any) -> Any:
    return list(value.items()) if type(value) is dict else bytes(value) if type(value) is bytearray else list(value)


def _same(value: Any, before: Any) -> bool:
    if len(value) != len(before):
        return False
    if type(value) is bytearray:
        return bool(value == before)
    if type(value) is dict:
        return all(k is a and v is b for (k, v), (a, b) in zip(value.items(), before))  # noqa: B905
    return all(one is other for one, other in zip(value, before))  # noqa: B905


def check_number(value: Any) -> int:
    if type(value) is not int:
        raise Nonsense("a number that is none")
    return value


def check_list(value: Any) -> list[Any]:
    if type(value) is not list:
        raise Nonsense("a list that is none")
    return value


def _pairs(value: Any) -> list[Any]:
    found = check_list(value)
    if any(type(pair) is not list or len(pair) != 2 for pair in found):
        raise Nonsense("a pair that is none")
    return found


def _name_of(value: object) -> tuple[str, str] | None:
    module, name = getattr(value, "__module__", None), getattr(value, "__name__", None)
    if type(value) not in (type, type(len)) or type(module) is not str or type(name) is not str:
        return None
    place = "operator" if module == "_operator" else module
    known = name in PURE.get(place, ()) and getattr(sys.modules.get(place), name, None) is value
    return (place, name) if known else None


def _by_name(module: Any, name: Any) -> object:
    if type(module) is not str or type(name) is not str or name not in PURE.get(module, ()):
        raise Nonsense("a name that is not known")
    found: object = getattr(__import__(module), name)
    return found


SIMPLE: dict[str, Callable[..., Any]] = {
    "bytes": lambda text: text.encode("latin-1"),
    "i": lambda digits: int(digits, 16),
    "f": float,
    "complex": lambda real, imag: complex(float(real), float(imag)),
    "const": {"Ellipsis": Ellipsis, "NotImplemented": NotImplemented}.__getitem__,
    "named": _by_name,
}


def _library_value(value: Any, kind: type) -> Any:
    """The parts of a library value, or None."""
    module, name = str(kind.__module__).split(".")[0], kind.__name__
    if name not in VALUES.get(module, ()) or getattr(sys.modules.get(module), name, None) is not kind:
        return None
    return PARTS_OF.get(name, _items)(value)


def _items(value: Any) -> Any:
    return list(value.items())


def _moment(value: Any) -> Any:
    if value.tzinfo is not None and type(value.tzinfo).__module__ != "datetime":
        return None
    day = (value.year, value.month, value.day) if hasattr(value, "year") else ()
    moment = (value.hour, value.minute, value.second, value.microsecond)
    return (*day, *moment), value.utcoffset(), value.fold


def _at_moment(kind: Any, parts: Any) -> Any:
    moment, offset, fold = parts
    zone = None if offset is None else __import__("datetime").timezone(offset)
    return kind(*moment, tzinfo=zone, fold=fold)


PARTS_OF: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("Decimal", "PurePosixPath"), str),
    **dict.fromkeys(("datetime", "time"), _moment),
    "Fraction": lambda value: (value.numerator, value.denominator),
    "timedelta": lambda value: (value.days, value.seconds, value.microseconds),
    "date": lambda value: (value.year, value.month, value.day),
    "UUID": lambda value: value.int,
    "deque": lambda value: (list(value), value.maxlen),
    "defaultdict": lambda value: (value.default_factory, list(value.items())),
}
MADE_OF: dict[str, Callable[[Any, Any], Any]] = {
    **dict.fromkeys(("Decimal", "PurePosixPath", "OrderedDict"), lambda kind, parts: kind(parts)),
    **dict.fromkeys(("datetime", "time"), _at_moment),
    "UUID": lambda kind, parts: kind(int=parts),
    "Counter": lambda kind, parts: kind(dict(parts)),
}


def _library_made(module: Any, name: Any, parts: Any) -> Any:
    if name not in VALUES.get(module, ()):
        raise Nonsense("a value of a kind that does not cross")
    kind = getattr(__import__(module), name)
    return MADE_OF[name](kind, parts) if name in MADE_OF else kind(*parts)
