"""Inside the sandbox, on the tests' side: stand-ins for the code's classes and objects."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

COMPARING = ("eq", "ne", "lt", "le", "gt", "ge", "bool", "hash")
PREDICATES = frozenset({
    *("startswith", "endswith", "isalnum", "isalpha", "isascii", "isdecimal", "isdigit", "isidentifier", "islower"),
    *("isnumeric", "isprintable", "isspace", "istitle", "isupper", "isdisjoint", "issubset", "issuperset"),
    *("is_integer", "is_finite", "is_nan", "is_zero"),
})  # fmt: skip
"""Yes-or-no questions about data: an object in its place could answer anything."""
SHOWN = frozenset({"__name__", "__qualname__", "__dict__", "__wrapped__", "__members__"})


class Ref:
    """An object of the code. Everything is forwarded to the code."""

    __slots__ = ("__weakref__", "moot_at")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_pytest") or (name.startswith("__") and name not in SHOWN):
            raise AttributeError(name)
        at = self.moot_at
        if name in PREDICATES and not at.constructed and not at.link.stand.is_named(at.kind):
            raise at.link.stand.decides(at, f"the code's own {name!r} of {at.kind[1]!r} decides", False)
        return _ask(self, "get", name)

    def __setattr__(self, name: str, value: object) -> None:
        if name == "moot_at":
            object.__setattr__(self, name, value)
            return
        _ask(self, "set", name, value)

    def __delattr__(self, name: str) -> None:
        _ask(self, "delete", name)

    def __repr__(self) -> str:
        return _text(_ask(self, "repr"))

    def __str__(self) -> str:
        return _text(_ask(self, "str"))

    def __dir__(self) -> Any:
        return _ask(self, "dir")

    def __reduce_ex__(self, _: object) -> Any:
        raise self.moot_at.link.need("the test copies an object of the code", code_decides=True)

    def __del__(self) -> None:
        at = self.moot_at
        if at.link.epoch == at.epoch:
            at.link.freed.append(at.number)


class At:
    """The location of a code object: its number in its process, and where a test got it."""

    __slots__ = ("constructed", "epoch", "kind", "link", "number", "origin")

    def __init__(self, link: Any, number: int, kind: tuple[str, str]) -> None:
        self.link, self.epoch, self.number, self.kind = link, link.epoch, number, kind
        self.origin: tuple[str, str] | None = None
        self.constructed = False
        """A test created it, by a class that it names."""


def is_stand_in(value: object) -> bool:
    return isinstance(value, Ref) or type(value) is Meta


def _text(value: object) -> str:
    return value if type(value) is str else "<no text>"


def _ask(ref: Any, word: str, *rest: object) -> Any:
    __tracebackhide__ = True
    link = at_of(ref).link
    return link.ask(word, link.stand.address(ref), *rest)


def _way(word: str) -> Any:
    def way(self: Any, *rest: Any) -> Any:
        __tracebackhide__ = True
        return _ask(self, word, *rest)

    return way


def _plain_way(word: str, kind: type) -> Any:
    """A method that returns a builtin type and nothing else."""

    def way(self: Any, *rest: Any) -> Any:
        value = _ask(self, word, *rest)
        if type(value) is not kind:
            raise TypeError(f"{word} gave a {type(value).__name__}")
        return value

    return way


def _call(self: Any, *args: Any, **options: Any) -> Any:
    __tracebackhide__ = True
    return _ask(self, "call", args, tuple(options.items()))


def _iterate(self: Any) -> Any:
    value = _ask(self, "iter")
    return value if hasattr(type(value), "__next__") else iter(value)


def _make_comparison(name: str) -> Any:
    def way(self: Any, other: object = None) -> Any:
        if name in ("eq", "ne") and self is other:
            return name == "eq"
        at = at_of(self)
        raise at.link.stand.decides(at, f"the code's own __{name}__ of {at.kind[1]!r} decides", is_stand_in(other))

    return way


def _make_computation(word: str, name: str) -> Any:
    """A method that receives a value of the test: its result could agree with anything."""

    def way(self: Any, *rest: Any) -> Any:
        __tracebackhide__ = True
        at = at_of(self)
        alone = bool(rest) and all(is_stand_in(each) for each in rest)
        if not alone or not at.link.stand.is_named(at.kind):
            raise at.link.stand.decides(at, f"the code's own __{name}__ of {at.kind[1]!r} decides", alone)
        return _ask(self, word, *rest)

    return way


BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "matmul", "and", "or", "xor", "lshift", "rshift", "pow")
CHANGING = ("iadd", "isub", "imul", "itruediv", "ior", "iand", "ixor")
WORDS = {"and": "and_", "or": "or_"}
WAYS: dict[str, Any] = {
    "call": _call, "iter": _iterate, "next": _way("next"), "reversed": _way("reversed"),
    "len": _plain_way("len", int), "contains": _make_computation("contains", "contains"),
    "getitem": _way("getitem"), "setitem": _way("setitem"), "delitem": _way("delitem"),
    "enter": _way("enter"), "abs": _way("abs"), "round": _way("round"), "neg": _way("neg"), "pos": _way("pos"),
    "invert": _way("invert"), "int": _plain_way("int", int), "float": _plain_way("float", float),
    "index": _plain_way("index", int), "format": _plain_way("format", str), "bytes": _plain_way("bytes", bytes),
    "divmod": _make_computation("divmod", "divmod"),
    **{name: _make_computation(WORDS.get(name, name), name) for name in (*BINARY, *CHANGING)},
    **{f"r{name}": _make_computation("r:" + WORDS.get(name, name), f"r{name}") for name in BINARY},
    **{name: _make_comparison(name) for name in COMPARING},
}  # fmt: skip


def _exit(self: Any, kind: Any, value: Any, trace: Any) -> Any:
    # A test's error does not cross; the fact does.
    if kind is not None:
        raise self.moot_at.link.need("an error passes through a `with` of the code's object", code_decides=True)
    return _ask(self, "exit", None, None, None)


WAYS["exit"] = _exit


class Meta(type):
    moot_class: At

    def __call__(cls, *args: Any, **options: Any) -> Any:
        at_of(cls).link.stand.note_use(cls)
        stand = at_of(cls).link.stand
        stand.constructing = at_of(cls).kind
        try:
            made = _ask(cls, "call", args, tuple(options.items()))
        finally:
            stand.constructing = None
        if isinstance(made, Ref):
            at_of(made).constructed = True
        return made

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("_pytest") or (name.startswith("__") and name not in SHOWN) or name == "moot_class":
            raise AttributeError(name)
        at_of(cls).link.stand.note_use(cls)
        return _ask(cls, "get", name)

    def __setattr__(cls, name: str, value: object) -> None:
        if name in ("moot_class", "__abstractmethods__"):
            type.__setattr__(cls, name, value)
            return
        raise cls.moot_class.link.need(f"the test changes {cls.__name__}.{name}")

    def __iter__(cls) -> Any:
        return iter(list(_ask(cls, "iter")))

    def __len__(cls) -> int:
        return int(_ask(cls, "len"))

    def __bool__(cls) -> bool:
        return True

    def __contains__(cls, value: object) -> bool:
        return _ask(cls, "contains", value) is True

    def __getitem__(cls, name: object) -> Any:
        return _ask(cls, "getitem", name)

    def __new__(cls, name: str, bases: Any, space: Any, **_: Any) -> Any:
        at = next(at_of(base) for base in bases if type(base) is Meta)
        raise at.link.need(f"a class of the test ({name}) extends one of the code")


def at_of(value: Any) -> At:
    if type(value) is Meta:
        return type.__getattribute__(value, "moot_class")  # type: ignore[no-any-return]
    return object.__getattribute__(value, "moot_at")  # type: ignore[no-any-return]
