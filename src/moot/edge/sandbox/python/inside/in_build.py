"""Inside the sandbox, on the tests' side: builds stand-ins for the code's classes and objects."""

from __future__ import annotations

import builtins
import sys
import weakref
from types import ModuleType

from moot.edge.sandbox.python.inside.in_record import TRACE
from moot.edge.sandbox.python.inside.in_stand import WAYS, At, Meta, Ref, at_of, is_stand_in
from moot.edge.sandbox.python.inside.in_values import Nonsense, check_list, check_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FRAMEWORKS = frozenset(
    {"unittest", "doctest", "pytest", "_pytest", "pluggy", "nose", "hypothesis", "trial", "asynctest"}
)
SAID = "@said"
LIBRARY = frozenset({
    "bisect", "collections", "copy", "datetime", "decimal", "fractions", "functools", "heapq", "itertools", "json",
    "math", "operator", "re", "statistics", "string", "typing",
})  # fmt: skip
"""Modules that a test may reach through the code: they are the same here."""


class Builder:
    def __init__(self, link: Any) -> None:
        self._link = link
        self._kinds: dict[tuple[int, int], Any] = {}
        """Process and number there -> stand-in of the class."""
        self._made: Any = weakref.WeakValueDictionary()
        self._by_name: dict[Any, Any] = {}
        self._names: dict[tuple[int, int], tuple[str, str]] = {}
        self._named: set[tuple[str, str]] = set()
        self._tuples: set[type] = set()
        self.constructing: tuple[str, str] | None = None
        self._plain: set[tuple[str, str]] = set()
        """Classes that extend a builtin: their values cross as that."""

    def learn(self, news: Any) -> None:
        for each in check_list(news):
            number, module, name, bases, own, plain = each
            if type(module) is not str or type(name) is not str:
                raise Nonsense("a class without a name")
            name = name if name.isidentifier() else "nameless"
            ways = frozenset(way for way in check_list(own) if type(way) is str)
            key = (self._link.epoch, check_number(number))
            self._names[key] = (module, name)
            if plain:
                self._plain.add((module, name))
            self._kinds[key] = self._kind(number, (module, name), bases, ways)

    def _kind(self, number: int, name: tuple[str, str], bases: Any, ways: frozenset[str]) -> Any:
        above = [self._kinds.get((self._link.epoch, check_number(base))) for base in check_list(bases)]
        errors: Any = tuple(dict.fromkeys(kind for kind in above if _is_error_class(kind)))
        known = _own_error(*name, raised=bool(errors))
        if known is not None:
            return known
        # After a restart the same class keeps its stand-in: tests hold the first one.
        again = self._by_name.get(name)
        if again is not None:
            at_of(again).epoch, at_of(again).number = self._link.epoch, number
            return again
        space: dict[str, Any] = {"__module__": name[0], "__qualname__": name[1]}
        if errors:
            made = _error_kind(name[1], errors, space)
        else:
            parents = tuple(kind for kind in above if type(kind) is Meta and not _is_error_class(kind))
            space["__slots__"] = ()
            if name[0] == "builtins" and name[1] in ITERATORS:
                space["__class__"] = _claim(ITERATORS[name[1]])
            space |= {f"__{way}__": WAYS[way] for way in (*ways, *(["hash"] if "eq" in ways else [])) if way in WAYS}
            made = _object_kind(name[1], parents, space)
        type.__setattr__(made, "moot_class", At(self._link, number, name))
        self._by_name[name] = made
        return made

    def note_origin(self, value: Any, module: str, name: str) -> None:
        """Remember the name under which a test got this, to fetch it again."""
        if is_stand_in(value):
            at_of(value).origin = (module, name)
        self.note_name(value, name)

    def note_name(self, value: Any, name: str) -> None:
        """Only a name written like a class names one: a function stays a function whatever the code makes of it."""
        if type(value) is Meta and name[:1].isupper() and any(each.islower() for each in name):
            self._named.add(at_of(value).kind)

    def note_use(self, kind: Any) -> None:
        """A test that creates objects of the code may ask of them what stand-ins cannot do. Errors are rarely asked. A
        name not written like a class may have become one to escape being judged here."""
        named = self.is_named(at_of(kind).kind)
        holds_data = at_of(kind).kind in self._plain
        if not _is_error_class(kind) and (named or not holds_data):
            self._link.objects = self._link.objects or f"the test uses the code's class {kind.__name__}"

    def was_made_here(self, value: object) -> bool:
        return isinstance(value, Foreign) or type(value) in self._tuples

    def is_named(self, name: tuple[str, str]) -> bool:
        return name in self._named or name[0].split(".")[0] in self._link.packages

    def decides(self, at: At, why: str, among_its_own: bool) -> BaseException:
        """The code's own comparison must decide. If a test names the class and compares its objects, that is what it
        tests; if it compares an object it received with data, the code may have planted it."""
        named = self.is_named(at.kind)
        if not named and not at.constructed:
            refusal: BaseException = self._link.refuse(f"{why}, where data was expected")
            return refusal
        need: BaseException = self._link.need(why, code_decides=not (named and (at.constructed or among_its_own)))
        return need

    def address(self, value: Any) -> list[Any]:
        at = at_of(value)
        if at.origin is not None:
            return ["of", *at.origin]
        if at.epoch != self._link.epoch:
            raise RuntimeError("the code's process ended, and this object with it")
        return ["object", at.number]

    def meet(self, told: list[Any], heap: Any) -> Any:
        kind = told[0]
        if kind == "module":
            return self._link.module(told[1])
        if kind == "foreign":
            return self._library(told[1])
        if kind == "class":
            return self._kinds[self._link.epoch, check_number(told[1])]
        if kind == "object":
            return self._object(check_number(told[1]), check_number(told[2]))
        if kind == "error":
            return self._error(told, heap)
        if kind == "fields":
            return self._fields(told, heap)
        if kind == "sub":
            return self._sub(told, heap)
        raise Nonsense("a value of an unknown kind")

    def _library(self, name: Any) -> Any:
        return _module(name) if name in LIBRARY else Foreign(self._link)

    def _object(self, number: int, kind: int) -> Any:
        key = (self._link.epoch, number)
        found = self._made.get(key)
        if found is not None:
            return found
        stand = self._kinds[self._link.epoch, kind]
        if type(stand) is not Meta or not issubclass(stand, Ref):
            raise Nonsense("an object of a class that has none")
        made = object.__new__(stand)
        if number in self._link.freed:
            # The last one was released while the other side sent the object again.
            self._link.freed.remove(number)
        made.moot_at = At(self._link, number, at_of(stand).kind)
        self._made[key] = made
        return made

    def _error(self, told: list[Any], heap: Any) -> BaseException:
        _, number, args, held, said, trace, cause = told
        kind = self._kinds[self._link.epoch, check_number(number)]
        if not (isinstance(kind, type) and issubclass(kind, BaseException)):
            raise Nonsense("an error that is none")
        given = tuple(heap.meet(each) for each in check_list(args))
        try:
            made = kind.__new__(kind, *given)
        except Exception:
            made = kind.__new__(kind)
        if not isinstance(made, BaseException):
            raise Nonsense("an error that is none")
        made.args = given
        for name, value in held.items() if type(held) is dict else ():
            vars(made)[str(name)] = heap.meet(value)
        if type(kind) is Meta and type(said) is str:
            vars(made)[SAID] = said
        if cause is not None:
            made.__cause__ = heap.meet(cause)
        if type(trace) is str and trace:
            vars(made)[TRACE] = trace
        return made

    def _fields(self, told: list[Any], heap: Any) -> Any:
        from collections import namedtuple

        _, number, names, parts = told
        values = [heap.meet(each) for each in check_list(parts)]
        name = self._names[self._link.epoch, check_number(number)]
        if len(check_list(names)) != len(values):
            raise Nonsense("a tuple with too few names")
        if self.is_named(name):
            raise self._value_needed(name)
        key = (*name, *names)
        if key not in self._by_name:
            self._by_name[key] = namedtuple(name[1], names, rename=True)
            self._tuples.add(self._by_name[key])
        return self._by_name[key](*values)

    def _value_needed(self, name: tuple[str, str]) -> BaseException:
        need: BaseException = self._link.need(
            f"the test uses values of the code's class {name[1]}", code_decides=name != self.constructing
        )
        return need

    def _sub(self, told: list[Any], heap: Any) -> Any:
        """A value of a class that extends a builtin: its content, unless the test knows the class."""
        _, number, _, plain = told
        value = heap.meet(plain)
        name = self._names[self._link.epoch, check_number(number)]
        if self.is_named(name):
            raise self._value_needed(name)
        return value


NONE: tuple[Any, ...] = (
    *(iter([]), reversed([]), iter(()), iter(""), iter("ä"), iter(b""), iter({}), iter(set()), iter(range(0))),
    *((none for none in ""), map(str, ()), filter(None, ()), zip(), enumerate(())),
    *({}.keys(), {}.values(), {}.items(), iter({}.values()), iter({}.items())),
)
ITERATORS: dict[str, type] = {type(each).__name__: type(each) for each in NONE}
"""Builtin types that do not cross, but that a test may use with `isinstance`."""


def _claim(kind: type) -> Any:
    return property(lambda _: kind)


class Foreign:
    """A module that the code imports, unknown here."""

    def __init__(self, link: Any) -> None:
        self.__dict__["link"] = link

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise self.__dict__["link"].need("the test reaches for a module that the code imports", code_decides=True)

    def __setattr__(self, name: str, value: object) -> None:
        raise self.__dict__["link"].need("the test changes a module that the code imports")


def _is_error_class(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseException)


def _own_error(module: str, name: str, *, raised: bool) -> type | None:
    """An error that is the same here: a builtin, or of a library module that the tests have loaded."""
    home = module.split(".")[0]
    if home in FRAMEWORKS:
        # Such an error would end a test in a way reserved for tests.
        return Forbidden if raised else None
    place = builtins if module == "builtins" else sys.modules.get(module)
    if type(place) is not ModuleType or (module != "builtins" and not _is_library(home)):
        return None
    kind = vars(place).get(name)
    return kind if type(kind) is type and issubclass(kind, BaseException) else None


def _is_library(home: str) -> bool:
    return home in getattr(sys, "stdlib_module_names", ())


class Forbidden(AssertionError):
    """The code under test raised what only a test may raise: a skip, an expected failure."""


def _error_kind(name: str, errors: tuple[type, ...], space: dict[str, Any]) -> Any:
    space["__str__"] = _error_text
    for bases in (errors, errors[:1], (Exception,)):
        try:
            return type.__new__(Meta, name, bases or (Exception,), dict(space))
        except TypeError:
            continue
    raise Nonsense("an error of a kind that cannot be")


def _object_kind(name: str, parents: tuple[Any, ...], space: dict[str, Any]) -> Any:
    for bases in (parents or (Ref,), (Ref,)):
        try:
            return type.__new__(Meta, name, bases, dict(space))
        except TypeError:
            continue
    raise Nonsense("a class of a kind that cannot be")


def _error_text(self: BaseException) -> str:
    said = vars(self).get(SAID)
    return said if type(said) is str else BaseException.__str__(self)


def _module(name: Any) -> Any:
    if type(name) is not str:
        raise Nonsense("a module without a name")
    __import__(name)
    return sys.modules[name]
