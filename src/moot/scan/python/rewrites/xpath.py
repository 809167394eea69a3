"""Rewrites XPath expressions built from strings to constant text with variables."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from moot.scan.bindings import changes
from moot.scan.calls import modules, read_call
from moot.scan.change import Change, RewriteRefused, replace_node, require_node
from moot.scan.edits import Edit
from moot.scan.python.rewrites.template import Template, template
from moot.scan.python.rewrites.text import before, fstring, literal, with_argument
from moot.scan.python.rewrites.types import is_text
from moot.scan.rewrites.choices import require_run
from moot.scan.sql import Part
from moot.scan.strings import StringHole
from moot.scan.syntax import Source, inside

FINDERS = frozenset({"find", "findall", "iterfind", "findtext"})
QUOTES = {"'": '"\'"', '"': "'\"'"}
LOOPS = frozenset({"while_statement", "for_statement"})
GUARDED = "a value with a quote in it raises ValueError"
TAKEN = frozenset({"namespaces", "extensions", "smart_strings", "regexp", "_path", "self", "path"})


@dataclass(frozen=True)
class Query:
    text: str
    values: dict[str, str]
    """Variable -> the expression of its value."""

    @property
    def arguments(self) -> str:
        return ", ".join(f"{name}={value}" for name, value in self.values.items())


def variables(source: Source, node: Node) -> Iterator[Change]:
    call = read_call(source, node)
    if call.method in FINDERS:
        yield _refuse_quotes(source, node, require_node(call.arg(0, "path", "match"), "the expression is not here"))
        return
    if "lxml" not in modules(source):
        raise RewriteRefused("only lxml takes variables with an expression")
    if len(call.args) != 1 or call.keywords:
        raise RewriteRefused("only an expression that is given alone is rewritten")
    arg = call.args[0]
    built = template(source, arg)
    query = _query(source, built)
    did = f"{', '.join(query.values.values())} is given to the expression as a variable"
    text = replace_node(built.home, literal(query.text))
    if call.method == "xpath":
        yield Change((text, Edit(arg.end_byte, arg.end_byte, f", {query.arguments}")), did)
    elif call.method == "XPath":
        uses = [with_argument(source, use, query.arguments) for use in _evaluations(source, node)]
        yield Change((text, *uses), did)
    else:
        raise RewriteRefused(f"{call.method} takes no variables")


def _refuse_quotes(source: Source, node: Node, arg: Node) -> Change:
    """`find` takes no variables. A value with the quote that ends it is an error of the syntax already; now it is
    refused before."""
    parts, tests = template(source, arg).parts, list[str]()
    for at, part in enumerate(parts):
        if not isinstance(part, StringHole):
            continue
        quote = parts[at - 1] if at else ""
        if quote not in ("'", '"') or list(parts[at + 1 : at + 2]) != [quote]:
            raise RewriteRefused("a value stands in the expression without quotes")
        value = source.text(part.node)
        if not re.fullmatch(r"[\w.]+", value) or part.spec not in ("", "%s"):
            raise RewriteRefused("the value is worked out in the expression")
        known = part.start < 0 or is_text(source, part.node)
        tests.append(f"{QUOTES[quote]} in {value if known else f'str({value})'}")
    statement = require_node(source.statement(node), "the expression is used outside of a statement")
    require_run(source, node, statement)
    if not tests or source.scope(statement) is not source.scope(node) or statement.type in LOOPS:
        raise RewriteRefused("the expression is used outside of a statement")
    guard = f"if {' or '.join(dict.fromkeys(tests))}:"
    return Change((before(source, statement, guard, '\traise ValueError("a quote would end the value")'),), GUARDED)


def _evaluations(source: Source, node: Node) -> list[Node]:
    """Calls of a compiled expression in a local variable."""
    holder = require_node(node.parent, "the compiled expression is used elsewhere")
    left = holder.child_by_field_name("left")
    if holder.type != "assignment" or left is None or left.type != "identifier":
        raise RewriteRefused("the compiled expression is used elsewhere")
    name, scope = source.text(left), source.scope(node)
    if len(changes(source, scope, name)) != 1 or scope.outer is None:
        raise RewriteRefused("the compiled expression is used elsewhere")
    uses = [n for n in inside(scope.node, 50_000) if n.type == "identifier" and source.text(n) == name]
    found = [n.parent for n in uses if n.start_byte != left.start_byte]
    calls = [n for n in found if n is not None and n.type == "call" and n.start_byte != left.start_byte]
    if len(calls) != len(found) or not calls or any(source.scope(n) is not scope for n in calls):
        raise RewriteRefused("the compiled expression is used elsewhere")
    return calls


def _query(source: Source, built: Template) -> Query:
    """Quoted values become `$name`; an unquoted value may be part of the expression and is refused."""
    text, values, index, parts = "", dict[str, str](), 0, built.parts
    while index < len(parts):
        part = parts[index]
        if isinstance(part, StringHole):
            raise RewriteRefused("a value stands in the expression without quotes")
        if part not in ("'", '"'):
            text, index = text + part, index + 1
            continue
        last = _find_closing(parts, index)
        inner = parts[index + 1 : last]
        if any(isinstance(each, StringHole) for each in inner):
            name = _name(source, inner, values)
            values[name] = _value(source, inner)
            text += f"${name}"
        else:
            text += "".join(each for each in parts[index : last + 1] if isinstance(each, str))
        index = last + 1
    if not values or "$" in re.sub(r"\$(?:" + "|".join(values) + r")\b", "", text):
        raise RewriteRefused(
            "the expression has variables of its own" if values else "no value stands in the expression"
        )
    return Query(text, values)


def _find_closing(parts: Sequence[Part], opening: int) -> int:
    for index in range(opening + 1, len(parts)):
        if parts[index] == parts[opening]:
            return index
    raise RewriteRefused("a quote in the expression is not closed")


def _name(source: Source, inner: Sequence[Part], taken: dict[str, str]) -> str:
    alone = inner[0] if len(inner) == 1 else None
    name = source.text(alone.node) if isinstance(alone, StringHole) else ""
    if re.fullmatch(r"[A-Za-z]\w*", name) and name not in TAKEN and name not in taken:
        return name
    return f"value{len(taken) + 1}"


def _value(source: Source, inner: Sequence[Part]) -> str:
    if any(isinstance(part, StringHole) and part.spec not in ("", "%s") for part in inner):
        raise RewriteRefused("a value is formatted")
    alone = inner[0] if len(inner) == 1 else None
    if isinstance(alone, StringHole):
        text = source.text(alone.node)
        return text if alone.start < 0 else f"str({text})"
    joined: list[Part] = []
    for part in inner:
        if isinstance(part, str) and joined and isinstance(joined[-1], str):
            joined[-1] += part
        else:
            joined.append(part)
    return fstring(source, joined)
