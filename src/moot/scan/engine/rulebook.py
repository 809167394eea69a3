"""Rules about flows as data: where outside values come from, where they must not go, what makes them harmless."""

import builtins
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Protocol

from moot.scan.engine.fold import Known
from moot.scan.engine.values import Key, Label, Taints, Val
from moot.scan.rule import Rule


class Site(Protocol):
    """A call as a rule sees it: its name, and what is known of receiver and arguments."""

    @property
    def name(self) -> str: ...
    @property
    def receiver(self) -> Val: ...
    @property
    def count(self) -> int: ...

    def arg(self, *places: int | str) -> Val | None:
        """The first of these positions and keywords that was given."""

    def items(self, value: Val | None) -> list[Val] | None:
        """The members of a list or tuple that is fully known."""

    def taints_at(self, place: int | str, kind: str) -> Taints:
        """What arrives at a place of the call, with all it holds."""

    def setting(self, value: Val | None, key: Key) -> Val | None:
        """What a thing was made with, or what was set on it."""

    def module(self, *names: str) -> bool:
        """Whether the file imports one of these modules."""

    def text(self) -> str:
        """The call as it is written."""

    def line(self) -> str:
        """The line the call begins on."""

    def around(self) -> str:
        """The text of the function the call stands in."""

    def is_proved(self, origin: str, kind: str) -> bool:
        """Whether something of this origin was proved to be harmless for this kind of sink."""

    def words(self) -> str:
        """The names around the call: what it is assigned to, and the function it is in."""


When = Callable[[Site], bool]


def always(site: Site) -> bool:
    return True


@dataclass(frozen=True)
class Sink:
    """Values that must not arrive: at these arguments (positions, keywords, `self`) of these calls. A name that begins
    with a dot is a method of anything. With no `args` the call itself is the flaw."""

    rule: Rule
    kind: str
    names: tuple[str, ...]
    args: tuple[int | str, ...] = ()
    when: When = always
    label: Label = "outside"
    floor: float = 0.5
    """Values less surely from outside than this do not count."""


@dataclass(frozen=True)
class NamedStore:
    """Values that must not be kept under such a name: `session[key] = value`, `token = random.random()`."""

    rule: Rule
    kind: str
    pattern: str
    label: Label
    keys: bool = False
    """Whether the key counts too."""
    imported: str = ""
    """What the holder must be, as a dotted name; "" when its written name is enough."""
    floor: float = 0.5


@dataclass(frozen=True)
class FlawedSetting:
    """`thing.attribute = value` or `thing["key"] = value` that is a flaw for this value."""

    rule: Rule
    pattern: str
    value: Callable[[Val], bool]
    modules: tuple[str, ...] = ()


@dataclass(frozen=True)
class FlowBook:
    """All that the engine knows about one language's libraries."""

    sources: dict[str, float]
    """Dotted name -> how surely a stranger controls it."""
    labels: dict[str, Label]
    sinks: dict[str, tuple[Sink, ...]]
    stores: tuple[NamedStore, ...]
    settings: tuple[FlawedSetting, ...]
    returns: tuple[Sink, ...]
    """What a web handler must not return."""
    sanitisers: dict[str, frozenset[str]]
    """Name -> the kinds of sink its result can no longer harm; `*` for all."""
    passes: frozenset[str]
    """Library functions whose result carries what their arguments carry."""
    roots: frozenset[str]
    """Known modules: what is not in `passes` there gives nothing on."""
    keeps: frozenset[str]
    """Constructors whose arguments matter later."""
    makes: dict[str, str]
    """Constructors of containers -> the kind of cell."""
    ends: frozenset[str]
    """Calls that never return."""
    routes: frozenset[str]
    """Decorators (last word) that make a function a web handler."""
    constants: dict[str, Known] = field(default_factory=dict)
    globals: frozenset[str] = frozenset(dir(builtins))
    """Names the language itself gives; any other name that nothing defines may hold anything."""
    places: tuple[NamedStore, ...] = ()
    """What must not be stored under a stranger's key in what was found under a stranger's key."""
    proves: dict[str, str] = field(default_factory=dict)
    """Name -> how it tells that its first argument is not harmless: it `raises`, gives an `error` beside its result, or
    gives `nothing`."""
    addresses: frozenset[str] = frozenset()
    """Functions that find what an address leads to: a check of their result is a check of the address."""
    restores: dict[str, frozenset[str]] = field(default_factory=dict)
    """Name -> the kinds of sink an encoder had ended and this decoder opens again."""


def by_name(sinks: Iterable[Sink]) -> dict[str, tuple[Sink, ...]]:
    found: dict[str, tuple[Sink, ...]] = {}
    for sink in sinks:
        for name in sink.names:
            found[name] = (*found.get(name, ()), sink)
    return found
