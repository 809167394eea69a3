"""Dataflow rules as data: sources, sinks, sanitisers."""

import builtins
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, Protocol

from moot.scan.engine.fold import Known
from moot.scan.engine.values import BUILT, HEADERS, MAIL, PAGE, VALUED, Key, Label, Taints, Val
from moot.scan.rule import Rule


class Site(Protocol):
    """A call as rules see it: its name, receiver and arguments."""

    @property
    def name(self) -> str: ...
    @property
    def receiver(self) -> Val: ...
    @property
    def count(self) -> int: ...

    def arg(self, *places: int | str) -> Val | None:
        """The first of these positions and keywords that is present."""

    def items(self, value: Val | None) -> list[Val] | None:
        """The items of a fully known list or tuple."""

    def variants(self, value: Val | None) -> list[list[Val]]:
        """The lists that a value may be, where branches built different ones; empty if one of them is unknown."""

    def taints_at(self, place: int | str, kind: str) -> Taints:
        """The taints of an argument and everything in it."""

    def setting(self, value: Val | None, key: Key) -> Val | None:
        """An option that a value was created with, or that was set on it."""

    def module(self, *names: str) -> bool:
        """Whether the file imports one of these modules."""

    def package_names(self) -> set[str]:
        """The last words of what the file imports."""

    def text(self) -> str:
        """The source of the call."""

    def line(self) -> str:
        """The line on which the call starts."""

    def member(self) -> str:
        """What is asked of the result at once: `striptags` in `Markup(x).striptags()`; "" if it is used as it is."""

    def around(self) -> str:
        """The source of the enclosing function."""

    def contains(self, word: str) -> bool:
        """Whether the word stands anywhere in the file."""

    def is_proved(self, origin: str, kind: str) -> bool:
        """Whether this origin was proved harmless for this kind of sink."""

    def maker(self) -> str:
        """The name of the nearest function above the call that has one."""

    def words(self) -> str:
        """Names around the call: the assignment target and the enclosing function."""


When = Callable[[Site], bool]
SHOWN = {"header": BUILT, "mail": MAIL, "log": BUILT, "xss": PAGE, "template": BUILT, "sql": VALUED}
ALONE = ""
RETURNED = {"xss": PAGE, "header": HEADERS}
"""Kind of sink -> the mark of a text that a function must not return with one of its parameters in it."""


def always(site: Site) -> bool:
    return True


@dataclass(frozen=True)
class Sink:
    """Untrusted values must not reach these arguments (positions, keywords, `self`) of these calls. A name that starts
    with a dot is a method of any receiver. Without `args` the call itself is the flaw."""

    rule: Rule
    kind: str
    names: tuple[str, ...]
    args: tuple[int | str, ...] = ()
    when: When = always
    label: Label = "outside"
    floor: float = 0.5
    """Taints weaker than this do not count."""
    alone: str = ""
    """A pattern: a parameter of this name is a possible flaw without any text around it."""
    binds: bool = True
    """Whether the arguments behind the first are values that are bound to it."""
    unknown: bool = False
    """Whether a value of unknown origin (`self.name`) in a text that is built for it is a possible flaw."""


@dataclass(frozen=True)
class NamedStore:
    """Values that must not be stored under such a name: `session[key] = value`, `token = random.random()`."""

    rule: Rule
    kind: str
    pattern: str
    label: Label
    keys: bool = False
    imported: str = ""
    """The full name that the holder must have; "" if its written name is enough."""
    floor: float = 0.5
    unbound: bool = False
    """Whether the name must be one that the program does not declare itself: `location` of a page."""


@dataclass(frozen=True)
class FlawedSetting:
    """`thing.attribute = value` or `thing["key"] = value` with a value that is a flaw."""

    rule: Rule
    pattern: str
    value: Callable[[Val], bool]
    modules: tuple[str, ...] = ()


class NamedRules(NamedTuple):
    """The rules whose pattern matches one name."""

    stores: tuple[NamedStore, ...]
    settings: tuple[FlawedSetting, ...]


NO_MODULES = frozenset({"?", "self", "request", "log", "logger"})
"""First words of names in the rules that are variables, not libraries."""


@dataclass(frozen=True)
class FlowBook:
    """What the engine knows about the libraries of one language."""

    sources: dict[str, float]
    """Dotted name -> confidence that an attacker controls it."""
    labels: dict[str, Label]
    sinks: dict[str, tuple[Sink, ...]]
    stores: tuple[NamedStore, ...]
    settings: tuple[FlawedSetting, ...]
    returns: tuple[Sink, ...]
    """What a web handler must not return."""
    sanitisers: dict[str, frozenset[str]]
    """Name -> the kinds of sink that its result cannot harm; `*` for all."""
    passes: frozenset[str]
    """Library functions that propagate taints from arguments to result."""
    roots: frozenset[str]
    """Known modules: their functions outside `passes` do not propagate."""
    keeps: frozenset[str]
    """Constructors whose arguments are remembered."""
    makes: dict[str, str]
    """Container constructors -> the kind of cell."""
    ends: frozenset[str]
    """Calls that never return."""
    routes: frozenset[str]
    """Decorators (last name) that mark a web handler."""
    constants: dict[str, Known] = field(default_factory=dict)
    globals: frozenset[str] = frozenset(dir(builtins))
    """Built-in names; any other undefined name may hold anything."""
    places: tuple[NamedStore, ...] = ()
    """What must not be stored under an untrusted key in a value found under an untrusted key."""
    harmless: dict[str, frozenset[str]] = field(default_factory=dict)
    """Source -> the kinds of sink that it cannot harm: what came as a header holds no line break."""
    addressed: tuple[str, ...] = ()
    """Endings of the sources that begin with the pattern of the route that was asked for."""
    carries: dict[str, tuple[int | str, ...]] = field(default_factory=dict)
    """Library function -> the arguments that its result is made of, where others only name or describe it."""
    proves: dict[str, str] = field(default_factory=dict)
    """Name -> how it rejects its first argument: `raises`, returns an `error` beside the result, or returns
    `nothing`."""
    addresses: frozenset[str] = frozenset()
    """Functions that resolve a host or URL: a check of their result is a check of the argument."""
    restores: dict[str, frozenset[str]] = field(default_factory=dict)
    """Name -> the kinds of sink that this decoder makes dangerous again after encoding."""
    shown: dict[str, str] = field(default_factory=lambda: SHOWN)
    """Kind of sink -> the mark of a text whose construction is a flaw unless every caller checks the value; `ALONE` if
    the value needs no text around it."""
    sent_parts: frozenset[str] = frozenset()
    """Parts that a request has on both sides."""
    unsent: tuple[tuple[str, str], ...] = ()
    """(pattern of a source's name, pattern of its keys that nobody outside sets)"""
    servers: frozenset[str] = frozenset()
    """Modules of which a file that serves requests imports one."""
    usual: dict[str, str] = field(default_factory=dict)
    """What a name means that no import defines, in a fragment: `np` -> `numpy`."""
    readers: frozenset[str] = frozenset()
    """Of the known modules, those whose results hold what somebody else wrote: files, answers of servers."""
    statement: Sink | None = None
    """What code that was not given, or a caller, must not be handed: a built SQL statement."""
    fills: frozenset[str] = frozenset()
    """Functions that put values into the `%` places of their first argument."""
    named_sources: tuple[tuple[str, str, float], ...] = ()
    """(ending, pattern of the whole name, confidence): sources whose full name depends on the program."""

    @cached_property
    def libraries(self) -> frozenset[str]:
        """First words of the libraries that the rules know."""
        named = (name for names in (self.sinks, self.sources) for name in names if "." in name[1:])
        return self.roots | {name.partition(".")[0].partition("(")[0] for name in named} - NO_MODULES


def by_name(sinks: Iterable[Sink]) -> dict[str, tuple[Sink, ...]]:
    found: dict[str, tuple[Sink, ...]] = {}
    for sink in sinks:
        for name in sink.names:
            found[name] = (*found.get(name, ()), sink)
    return found
