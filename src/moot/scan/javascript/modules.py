"""Lowers `require`, `import` and `export` to bindings of local names."""

import posixpath
import re

from tree_sitter import Node

from moot.scan.engine.bounds import span
from moot.scan.engine.imports import name_unit
from moot.scan.engine.ir import Assign, Block, Import, Name, Stmt
from moot.scan.javascript.literals import unescape_text
from moot.scan.javascript.reader import JavaScriptReader, first, list_named_nodes
from moot.scan.syntax import words

# Wrappers that compilers put around a required module to give it a `default`.
WRAPPERS = words(
    "__importDefault __importStar _interopRequireDefault _interopRequireWildcard tslib_1.__importStar "
    "tslib_1.__importDefault"
)


def origin_of(path: str, text: str) -> str:
    """Node modules without the `node:` prefix; files of the project by the name that `name_unit` gives them."""
    if not text.startswith("."):
        return text.removeprefix("node:")
    place = posixpath.normpath(posixpath.join(posixpath.dirname(path.replace("\\", "/")), text))
    return name_unit(re.sub(r"\.[cm]?[jt]sx?$", "", place) + ".js")


def find_required(reader: JavaScriptReader, node: Node) -> str | None:
    """The module named by `require("x")` or `import("x")`; None for other nodes."""
    while True:
        called, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if node.type != "call_expression" or called is None or given is None:
            return None
        args = list_named_nodes(given)
        if len(args) != 1:
            return None
        if called.type not in ("identifier", "member_expression", "import"):
            return None
        name = reader.text(called)
        if name in WRAPPERS:
            node = args[0]
            continue
        return _literal(reader, args[0]) if name in ("require", "import") else None


def _literal(reader: JavaScriptReader, node: Node | None) -> str | None:
    if node is None or node.type not in ("string", "template_string"):
        return None
    if any(child.type == "template_substitution" for child in node.named_children):
        return None
    return origin_of(reader.path, unescape_text(reader.text(node)[1:-1]))


def module_member(reader: JavaScriptReader, node: Node | None) -> str | None:
    """`require("a").b.c` as `a.b.c`; None for other nodes."""
    names: list[str] = []
    while node is not None and node.type in ("member_expression", "await_expression", "parenthesized_expression"):
        if node.type == "member_expression":
            names.append(reader.text(node.child_by_field_name("property")))
            node = node.child_by_field_name("object")
        else:
            node = first(node)
    origin = find_required(reader, node) if node is not None else None
    if origin is None:
        return None
    return ".".join([origin, *(name for name in reversed(names) if name != "default")])


def lower_require(reader: JavaScriptReader, node: Node) -> Block | None:
    """`const x = require("y")` and `const {a, b: c} = require("y")` as imports; None for anything else."""
    origin = module_member(reader, node.child_by_field_name("value"))
    target = node.child_by_field_name("name")
    if origin is None or target is None:
        return None
    if target.type == "identifier":
        return (Import(span(node), reader.text(target), origin, origin),)
    if target.type != "object_pattern":
        return None
    found: list[Stmt] = []
    for child in list_named_nodes(target):
        name = _read_binding(reader, child)
        if name is None:
            return None
        found.append(Import(span(node), name[1], f"{origin}.{name[0]}" if name[0] != "default" else origin, origin))
    return tuple(found)


def _read_binding(reader: JavaScriptReader, node: Node) -> tuple[str, str] | None:
    if node.type == "shorthand_property_identifier_pattern":
        return reader.text(node), reader.text(node)
    key, value = node.child_by_field_name("key"), node.child_by_field_name("value")
    if node.type == "pair_pattern" and key is not None and value is not None and value.type == "identifier":
        return reader.text(key).strip("'\""), reader.text(value)
    return None


def lower_import(reader: JavaScriptReader, node: Node) -> Block:
    source = _source(reader, node)
    clause = next((child for child in node.named_children if child.type.endswith("_clause")), None)
    if clause is not None and clause.type == "import_require_clause":
        source = _source(reader, clause)
        return (Import(span(node), reader.text(first(clause)), source, source),)
    if clause is None:
        return (Import(span(node), "", source, source),)
    found: list[Stmt] = []
    for child in list_named_nodes(clause):
        if child.type == "identifier":
            found.append(Import(span(node), reader.text(child), source, source))
        elif child.type == "namespace_import":
            found.append(Import(span(node), reader.text(first(child)), source, source))
        elif child.type == "named_imports":
            found.extend(_lower_specifier(reader, node, source, part) for part in list_named_nodes(child))
    return tuple(found)


def _source(reader: JavaScriptReader, node: Node) -> str:
    return _literal(reader, node.child_by_field_name("source")) or ""


def _lower_specifier(reader: JavaScriptReader, node: Node, source: str, part: Node) -> Import:
    real, alias = part.child_by_field_name("name"), part.child_by_field_name("alias")
    name = reader.text(real).strip("'\"")
    local = reader.text(alias) if alias is not None else name
    return Import(span(node), local, source if name == "default" else f"{source}.{name}", source)


def lower_export(reader: JavaScriptReader, node: Node) -> Block:
    """`export default x` exports the name `default`, `export {a as b}` the name `b`."""
    value = node.child_by_field_name("value")
    if value is not None:
        return (Assign(span(node), (Name(span(node), "default"),), reader.expr(value)),)
    source = _source(reader, node)
    found: list[Stmt] = []
    for clause in list_named_nodes(node):
        for part in list_named_nodes(clause) if clause.type == "export_clause" else []:
            found.extend(_lower_reexport(reader, node, source, part))
    return tuple(found)


def _lower_reexport(reader: JavaScriptReader, node: Node, source: str, part: Node) -> Block:
    name, alias = part.child_by_field_name("name"), part.child_by_field_name("alias")
    local = reader.text(alias) if alias is not None else reader.text(name)
    if source:
        return (Import(span(node), local, f"{source}.{reader.text(name)}", source),)
    if name is None or local == reader.text(name):
        return ()
    return (Assign(span(node), (Name(span(part), local),), reader.expr(name)),)
