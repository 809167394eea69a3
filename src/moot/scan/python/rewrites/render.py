"""Rewrites templates built from values to constant templates with variables."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from moot.scan.calls import read_call
from moot.scan.change import Change, Choices, RewriteRefused, require_node
from moot.scan.edits import Edit
from moot.scan.marks import Mark, marks, prefix_edits
from moot.scan.python.rewrites.text import fstring, with_argument
from moot.scan.rewrites.markup import NAMES
from moot.scan.rewrites.query import Dialect, drop_empty_edits, placeholders, sole_use
from moot.scan.sql import SqlSlot
from moot.scan.strings import StringHole, build
from moot.scan.syntax import Source

RENDERS = frozenset({"flask.render_template_string", "quart.render_template_string"})
MAKES = frozenset({"jinja2.Template", "from_string"})
CODE = re.compile(r"\{[{%#](?:(?![}%#]\}).)*$", re.DOTALL)
PLAIN = re.compile(r"[A-Za-z_]\w*")


def constant_template(source: Source, node: Node) -> Iterator[Change]:
    call = read_call(source, node)
    filled = _find_filling_call(source, node)
    arg = require_node(call.arg(0, "source"), "the template is not here")
    built = build(source, arg)
    if len(built.pieces) < 2:
        raise RewriteRefused("the template itself comes from outside")
    sole_use(source, built, arg)
    given = read_call(source, filled)
    if any(child.type == "dictionary_splat" for child in given.args):
        raise RewriteRefused("the variables of the template are given elsewhere")
    found = marks(source, built)
    names = _names(source, found, set(given.keywords))
    holes = [(index, mark.hole) for index, mark in enumerate(found) if mark.hole is not None]
    values = {name: source.text(hole.node) for name, (_, hole) in zip(names, holes, strict=True)}
    places = [SqlSlot(index, index, (hole,)) for index, hole in holes]
    dialect = Dialect(lambda number: f"{{{{ {names[number - 1]} }}}}", lambda values: "", fstring)
    edits = [
        *placeholders(source, built, found, places, dialect),
        *prefix_edits(source, built),
        *(Edit(start, end) for start, end in built.cuts),
        with_argument(source, filled, ", ".join(f"{name}={value}" for name, value in values.items())),
    ]
    yield Change(drop_empty_edits(edits), f"{', '.join(values.values())} is given to the template as a variable")


def _find_filling_call(source: Source, node: Node) -> Node:
    """The call that renders the template: the same one, or `.render(…)` right after it."""
    call = read_call(source, node)
    if call.name in RENDERS:
        return node
    attribute = node.parent
    whole = attribute.parent if attribute is not None else None
    if not (call.name in MAKES or call.method in MAKES) or attribute is None or whole is None:
        raise RewriteRefused(f"there is no plain replacement for {call.name}")
    if attribute.type != "attribute" or whole.type != "call" or read_call(source, whole).method != "render":
        raise RewriteRefused("the template is filled elsewhere")
    return whole


def _names(source: Source, found: list[Mark], taken: set[str]) -> list[str]:
    """The variable of each value; equal values share one."""
    own = "".join(mark.text for mark in found)
    before, names = "", dict[str, str]()
    listed: list[str] = []
    for mark in found:
        if mark.hole is not None:
            value = _check_hole(source, mark.hole, before)
            names.setdefault(value, _name(value, own, {*taken, *names.values()}))
            listed.append(names[value])
        before += mark.text
    return listed


def _check_hole(source: Source, hole: StringHole, before: str) -> str:
    value = source.text(hole.node)
    if hole.spec not in ("", "%s"):
        raise RewriteRefused(f"the value is formatted with {hole.spec!r}")
    if NAMES.search(value):
        raise RewriteRefused(f"{value!r} may be a template or markup that is meant to be there")
    if CODE.search(before):
        raise RewriteRefused("the value stands inside the template's own code")
    return value


def _name(value: str, own: str, taken: set[str]) -> str:
    """A name that neither the template nor the call uses."""
    wanted = value if PLAIN.fullmatch(value) else "value"
    names = (wanted, *(f"{wanted}_{number}" for number in range(2, 100)))
    return next(name for name in names if name not in taken and not re.search(rf"\b{name}\b", own))


CHOICES: dict[str, Choices] = {"python-template-string": constant_template}
