"""One small form for four languages: what a front end makes of a file, and all that the engine sees of it.

A front end is one function `lower(source: Parsed) -> Module`, entered in `frontends.py`. It delivers

* every statement in order, with its span: the byte it starts at and the byte after its last. `Module` tells lines;
* literals decoded: `Const.value` is the value the program means, without quotes and escapes. The text between the
  holes of a template is a `Const` too;
* string building as one flat `Concat`: f-strings, template literals, `a + b + "c"` (as soon as one operand is text;
  other sums are `Binary`), `"…" % x`, `"…".format(x)`, `Sprintf("…", x)`. A hole that only takes a number (`%d`,
  `{:d}`) is `Hole(…, numeric=True)`;
* imports as local name and dotted origin (`Import`), also `require("x")` (origin `x`) and Go's `"net/http"` (origin
  `net/http`), so that `np.load` is known as `numpy.load` whatever it was imported as;
* methods inside their `Class` (Go: by receiver type; the receiver is the first parameter), `this` as `Name("self")` for
  JavaScript with an explicit first parameter `self` on every method and constructor, which is called `__init__`;
* chains of `a < b < c` as `Logic("and", …)`, `else if` as nested `If`, a C-style `for` as its first statement followed
  by `While` with `step`;
* comparisons with the operators `== != < <= > >= in, not in, is, is not` (`===` is `==`), logic with `and or not ??`.

It never raises and never recurses with the input: what nests deeper than `MAX_DEPTH` is an `Opaque` with no parts and
an entry in `Module.gaps`. An expression that has no word here is an `Opaque` whose parts are its operands (outside
values flow through it); a statement that has none is `Do(Opaque)` for its expressions, plus a gap when it could carry
a flow.
Syntax errors are gaps too (`moot.scan.syntax.trouble` finds the first one); the rest of the file is still lowered.
"""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, Self, TypeAlias, dataclass_transform

from tree_sitter import Node

from moot.core.types import Language, NotAnalysed
from moot.scan.syntax import column_at, line_at

MAX_DEPTH = 60
DECLARED = "declared"
"""The `Opaque.word` of the missing value in `name: type`."""
Span: TypeAlias = tuple[int, int]
"""First byte, and the byte after the last. A plain pair because there is one per node."""
Scalar: TypeAlias = str | bytes | int | float | bool | None
Kind = Literal["list", "tuple", "set", "dict", "generator"]


class Parsed(Protocol):
    @property
    def path(self) -> str: ...
    @property
    def language(self) -> Language: ...
    @property
    def data(self) -> bytes: ...
    @property
    def root(self) -> Node: ...
    @property
    def memo(self) -> dict[str, object]: ...
    @property
    def brief(self) -> bool:
        """Whether only some of its functions may be run: front ends may lower each when it is."""


# All nodes are named tuples: frozen, and four times cheaper to make than frozen dataclasses. To the type checker they
# are frozen records: it compares tuples field by field, and these contain each other (four minutes instead of one).
if TYPE_CHECKING:

    @dataclass_transform(frozen_default=True)
    class Record:
        _fields: tuple[str, ...]

        def _replace(self, **fields: Any) -> Self: ...

else:
    Record = NamedTuple

# Expressions.


class Const(Record):
    at: Span
    value: Scalar


class Name(Record):
    at: Span
    id: str


class Attr(Record):
    at: Span
    base: "Expr"
    name: str


class Item(Record):
    """`base[key]`"""

    at: Span
    base: "Expr"
    key: "Expr"


class Cut(Record):
    """`base[low:high:step]`"""

    at: Span
    base: "Expr"
    low: "Expr | None" = None
    high: "Expr | None" = None
    step: "Expr | None" = None


class Star(Record):
    """`*value`, `...value`; `double` for `**value`. In arguments, containers and targets."""

    at: Span
    value: "Expr"
    double: bool = False


class Keyword(Record):
    at: Span
    name: str
    value: "Expr"


class Call(Record):
    at: Span
    func: "Expr"
    args: tuple["Expr", ...] = ()
    keywords: tuple[Keyword, ...] = ()
    new: bool = False
    """`new Thing(…)`"""


class Hole(Record):
    """An interpolated value in a string. `spec` is its format: `%s`, `!r`, `:>10`."""

    at: Span
    value: "Expr"
    spec: str = ""
    numeric: bool = False


class Concat(Record):
    """A built string. Parts are `Const` (text), `Hole`, or plain expressions (operands of `+`)."""

    at: Span
    parts: tuple["Expr", ...]
    how: Literal["template", "plus", "percent", "format"] = "template"


class Many(Record):
    """A list, tuple or set; as a target, destructuring."""

    at: Span
    kind: Kind
    items: tuple["Expr", ...]


class Entry(Record):
    """`key: value`; no key for `**value`. As a target, `{key: target}`."""

    at: Span
    key: "Expr | None"
    value: "Expr"


class Table(Record):
    """A dict, object or map literal; as a target, destructuring by key."""

    at: Span
    entries: tuple[Entry, ...]
    type: "Expr | None" = None
    """The type of a Go composite literal: `http.Cookie{Secure: true}`."""


class Clause(Record):
    target: "Expr"
    iterable: "Expr"
    conditions: tuple["Expr", ...] = ()


class Comprehension(Record):
    at: Span
    kind: Kind
    element: "Expr"
    clauses: tuple[Clause, ...]
    key: "Expr | None" = None


class Lambda(Record):
    """A function as a value: lambda, arrow function, function literal."""

    at: Span
    function: "Function"


class Choice(Record):
    at: Span
    test: "Expr"
    then: "Expr"
    other: "Expr"


class Logic(Record):
    at: Span
    op: Literal["and", "or", "??"]
    values: tuple["Expr", ...]


class Compare(Record):
    at: Span
    op: str
    left: "Expr"
    right: "Expr"


class Unary(Record):
    at: Span
    op: str
    value: "Expr"


class Binary(Record):
    at: Span
    op: str
    left: "Expr"
    right: "Expr"


class Bind(Record):
    """An assignment that is an expression: `(x := y)`, JavaScript's `x = y`. `op` for `x += y`."""

    at: Span
    target: "Expr"
    value: "Expr"
    op: str = ""


class Wait(Record):
    """`await value`, `<-value`"""

    at: Span
    value: "Expr"


class Yield(Record):
    at: Span
    value: "Expr | None" = None


class Opaque(Record):
    """An expression without its own node; taints of its parts flow through. `word` is the grammar's name for it."""

    at: Span
    parts: tuple["Expr", ...] = ()
    word: str = ""


Expr: TypeAlias = (
    Const | Name | Attr | Item | Cut | Star | Call | Hole | Concat | Many | Table | Comprehension | Lambda | Choice
    | Logic | Compare | Unary | Binary | Bind | Wait | Yield | Opaque
)  # fmt: skip


# Statements.


class Assign(Record):
    """`a = b = value`: one value, several targets (Name, Attr, Item, Cut, Many, Table, Star inside Many)."""

    at: Span
    targets: tuple[Expr, ...]
    value: Expr
    annotation: Expr | None = None
    local: bool = False
    """Declares its names in this block (`let`, `const`, `:=`)."""


class Augment(Record):
    """`target op= value`, `op` without the `=`"""

    at: Span
    target: Expr
    op: str
    value: Expr


class Do(Record):
    at: Span
    value: Expr


class Later(Record):
    """`go f()`, `defer f()`"""

    at: Span
    how: Literal["go", "defer"]
    value: Expr


class Return(Record):
    at: Span
    value: Expr | None = None


class Raise(Record):
    """`raise`, `throw`; Go's `panic(x)` stays a call."""

    at: Span
    value: Expr | None = None


class If(Record):
    at: Span
    test: Expr
    then: tuple["Stmt", ...]
    other: tuple["Stmt", ...] = ()


class Case(Record):
    """Patterns: `Const`/`Attr` equal, `Name` binds and always matches (`_` binds nothing), `Many`/`Table` may match and
    bind. No pattern: the default."""

    at: Span
    patterns: tuple[Expr, ...]
    body: tuple["Stmt", ...]
    guard: Expr | None = None
    falls: bool = False
    """Falls through to the next case (JavaScript without `break`, Go's `fallthrough`)."""


class Switch(Record):
    """`subject` is None for Go's `switch { case cond: }`: then patterns are conditions. `break` at the end of a case is
    left out by the front end."""

    at: Span
    subject: Expr | None
    cases: tuple[Case, ...]


class While(Record):
    """`test` is None for an endless loop. `step` runs after each iteration (C-style `for`)."""

    at: Span
    test: Expr | None
    body: tuple["Stmt", ...]
    other: tuple["Stmt", ...] = ()
    step: tuple["Stmt", ...] = ()


class Each(Record):
    """`for target in iterable`. Go's `range` and JavaScript's `entries()` deliver pairs: `target` is a Many of two."""

    at: Span
    target: Expr
    iterable: Expr
    body: tuple["Stmt", ...]
    other: tuple["Stmt", ...] = ()
    keys: bool = False
    """The target iterates over keys or indices (JavaScript's `for in`, Go's `for i := range`)."""


class Handler(Record):
    at: Span
    kind: Expr | None
    name: str
    body: tuple["Stmt", ...]


class Try(Record):
    at: Span
    body: tuple["Stmt", ...]
    handlers: tuple[Handler, ...] = ()
    other: tuple["Stmt", ...] = ()
    final: tuple["Stmt", ...] = ()


class Entered(Record):
    value: Expr
    target: Expr | None = None


class With(Record):
    at: Span
    items: tuple[Entered, ...]
    body: tuple["Stmt", ...]


class Jump(Record):
    at: Span
    how: Literal["break", "continue"]
    label: str = ""


class Outer(Record):
    """`global` and `nonlocal`"""

    at: Span
    names: tuple[str, ...]
    how: Literal["global", "nonlocal"] = "global"


class Import(Record):
    """Binds `local` to `origin`. `local` is `*` for all names of the module and "" for an import that only runs it.
    `module` is the module part of `origin` (`from a.b import c`: origin `a.b.c`, module `a.b`)."""

    at: Span
    local: str
    origin: str
    module: str


class Delete(Record):
    at: Span
    targets: tuple[Expr, ...]


class Param(Record):
    at: Span
    name: str
    default: Expr | None = None
    annotation: Expr | None = None
    kind: Literal["plain", "star", "double", "keyword"] = "plain"
    pattern: Expr | None = None
    """A destructured parameter; its name is then generated."""


class Function(Record):
    at: Span
    name: str
    params: tuple[Param, ...]
    body: tuple["Stmt", ...]
    """Of a brief source, a `LazyBlock` (lazy_block.py): run it, and ask nothing else of it."""
    decorators: tuple[Expr, ...] = ()
    is_async: bool = False


class Define(Record):
    at: Span
    function: Function


class Class(Record):
    at: Span
    name: str
    bases: tuple[Expr, ...]
    body: tuple["Stmt", ...]
    decorators: tuple[Expr, ...] = ()


Stmt: TypeAlias = (
    Assign | Augment | Do | Later | Return | Raise | If | Switch | While | Each | Try | With | Jump | Outer | Import
    | Delete | Define | Class
)  # fmt: skip
Block: TypeAlias = tuple[Stmt, ...]


class Module(Record):
    """One file. `breaks` are the offsets at which its lines start."""

    path: str
    language: Language
    data: bytes
    body: Block
    breaks: tuple[int, ...]
    gaps: tuple[NotAnalysed, ...] = ()

    def line(self, byte: int) -> int:
        return bisect_right(self.breaks, byte)

    def column(self, byte: int) -> int:
        return column_at(self.data, byte)

    def line_text(self, byte: int) -> str:
        return line_at(self.data, byte)

    def text(self, span: Span) -> str:
        return self.data[span[0] : span[1]].decode("utf-8", "replace")


def module(source: Parsed, body: Sequence[Stmt], gaps: Sequence[NotAnalysed]) -> Module:
    lengths = [len(line) + 1 for line in source.data.split(b"\n")]
    breaks = accumulate(lengths[:-1], initial=0)
    return Module(source.path, source.language, source.data, tuple(body), tuple(breaks), tuple(gaps))
