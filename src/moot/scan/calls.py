"""Calls with their full names, resolved through the imports of the file."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import cast

from tree_sitter import Node

from moot.scan.syntax import Source, nth

CALLS = ("call", "call_expression", "new_expression")
MAX_PARTS = 12
MEMBERS = {
    "attribute": ("object", "attribute"),
    "member_expression": ("object", "property"),
    "selector_expression": ("operand", "field"),
    "qualified_type": ("package", "name"),
}
"""Node kinds of `thing.member`, with the fields that hold the thing and the member."""


@dataclass(frozen=True, eq=False)
class SourceCall:
    node: Node
    name: str
    """`module.function` if the import is known, else `receiver.method`; `?` replaces an unnamed part."""
    args: tuple[Node, ...] = ()
    keywords: dict[str, Node] = field(default_factory=dict)

    @property
    def method(self) -> str:
        return self.name.rpartition(".")[2]

    def arg(self, index: int, *keywords: str) -> Node | None:
        if index < len(self.args):
            return self.args[index]
        return next((self.keywords[k] for k in keywords if k in self.keywords), None)


def calls(source: Source) -> dict[str, list[SourceCall]]:
    """All calls of the file, by the last part of their name."""
    if "calls" not in source.memo:
        found: dict[str, list[SourceCall]] = {}
        for node in source.nodes(*CALLS):
            call = read_call(source, node)
            found.setdefault(call.method, []).append(call)
        source.memo["calls"] = found
    return cast(dict[str, list[SourceCall]], source.memo["calls"])


def read_call(source: Source, node: Node) -> SourceCall:
    callee = node.child_by_field_name("function") or node.child_by_field_name("constructor")
    name = qualify_name(source, callee) if callee else "?"
    if node.type == "new_expression":
        name = f"new:{name}"
    arguments = node.child_by_field_name("arguments")
    if arguments is None or arguments.type in ("generator_expression", "template_string"):
        return SourceCall(node, name, () if arguments is None else (arguments,))
    args: list[Node] = []
    keywords: dict[str, Node] = {}
    for child in arguments.named_children:
        if child.type == "keyword_argument":
            key, value = child.child_by_field_name("name"), child.child_by_field_name("value")
            if key is not None and value is not None:
                keywords[source.text(key)] = value
        elif child.type != "comment":
            args.append(child)
    return SourceCall(node, name, tuple(args), keywords)


def qualify_name(source: Source, node: Node) -> str:
    """The dotted name of an expression, with its first part resolved by the imports."""
    parts: list[str] = []
    current: Node | None = node
    for _ in range(MAX_PARTS):
        if current is None:
            break
        kind = current.type
        if kind in MEMBERS:
            holder, field = MEMBERS[kind]
            member = current.child_by_field_name(field)
            parts.append(source.text(member) if member else "?")
            current = current.child_by_field_name(holder)
            continue
        match kind:
            case "identifier" | "this" | "super" | "type_identifier" | "package_identifier":
                name = source.text(current)
                parts.append(imports(source).get(name, name))
                return ".".join(reversed(parts))
            case "call" | "call_expression":
                if module := find_required_module(source, current):
                    parts.append(module)
                    return ".".join(reversed(parts))
                current = current.child_by_field_name("function")
                if parts:
                    parts.append("()")
            case "parenthesized_expression" | "non_null_expression" | "await_expression" | "await":
                current = nth(current, 0)
            case "subscript" | "subscript_expression" | "index_expression":
                parts.append("[]")
                current = _field(current, "value", "object", "operand")
            case _:
                current = None
    parts.append("?")
    return ".".join(reversed(parts))


def _field(node: Node, *names: str) -> Node | None:
    for name in names:
        if (child := node.child_by_field_name(name)) is not None:
            return child
    return None


def imports(source: Source) -> dict[str, str]:
    """Local name -> full name."""
    if "imports" not in source.memo:
        readers = {"python": _python_imports, "go": _go_imports}
        source.memo["imports"] = dict(readers.get(source.language, _javascript_imports)(source))
    return cast(dict[str, str], source.memo["imports"])


def modules(source: Source) -> frozenset[str]:
    """The top-level name of every import; for Go also the whole path."""
    if "modules" not in source.memo:
        names = set(imports(source).values()) | set(_blank_imports(source))
        source.memo["modules"] = frozenset(names | {n.split(".")[0] for n in names if "/" not in n})
    return cast(frozenset[str], source.memo["modules"])


def _python_imports(source: Source) -> Iterator[tuple[str, str]]:
    for node in source.nodes("import_statement", "import_from_statement"):
        module_node = node.child_by_field_name("module_name")
        module = source.text(module_node) + "." if module_node else ""
        for name in node.children_by_field_name("name"):
            real, alias = name.child_by_field_name("name"), name.child_by_field_name("alias")
            if name.type == "aliased_import" and real is not None and alias is not None:
                yield source.text(alias), module + source.text(real)
            elif module:
                yield source.text(name), module + source.text(name)
            else:
                first = source.text(name).split(".")[0]
                yield first, first


def _javascript_imports(source: Source) -> Iterator[tuple[str, str]]:
    for node in source.nodes("import_statement"):
        origin = node.child_by_field_name("source")
        if origin is None:
            continue
        module = _module(source, origin)
        for child in (
            c for clause in node.named_children if clause.type == "import_clause" for c in clause.named_children
        ):
            yield from _import_names(source, child, module)
    for node in source.nodes("variable_declarator"):
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None or value is None:
            continue
        module = find_required_module(source, value) or _find_required_member(source, value)
        if module:
            yield from _import_names(source, name, module)


def _import_names(source: Source, node: Node, module: str) -> Iterator[tuple[str, str]]:
    match node.type:
        case "identifier":
            yield source.text(node), module
        case "namespace_import":
            yield from ((source.text(child), module) for child in node.named_children)
        case "named_imports" | "object_pattern":
            for child in node.named_children:
                key = child.child_by_field_name("name") or child.child_by_field_name("key") or child
                alias = child.child_by_field_name("alias") or child.child_by_field_name("value") or key
                yield source.text(alias), f"{module}.{source.text(key)}"


def find_required_module(source: Source, node: Node) -> str:
    """`x` of `require("x")`; None for anything else."""
    if node.type != "call_expression":
        return ""
    callee, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if (
        callee is None
        or arguments is None
        or callee.type != "identifier"
        or source.text(callee) != "require"
        or arguments.named_child_count != 1
    ):
        return ""
    first = nth(arguments, 0)
    return _module(source, first) if first is not None and first.type == "string" else ""


def _find_required_member(source: Source, node: Node) -> str:
    """`x.y` of `require("x").y`."""
    thing, member = node.child_by_field_name("object"), node.child_by_field_name("property")
    if node.type != "member_expression" or thing is None or member is None:
        return ""
    module = find_required_module(source, thing)
    return f"{module}.{source.text(member)}" if module else ""


def _module(source: Source, literal: Node) -> str:
    return source.text(literal).strip("'\"`").removeprefix("node:")


def _go_imports(source: Source) -> Iterator[tuple[str, str]]:
    for node in source.nodes("import_spec"):
        path, name = node.child_by_field_name("path"), node.child_by_field_name("name")
        if path is None or (name is not None and name.type != "package_identifier"):
            continue
        module = source.text(path).strip('"`')
        parts = [p for p in module.split("/") if not (p[:1] == "v" and p[1:].isdigit())]
        yield source.text(name) if name else (parts or [module])[-1], module


def _blank_imports(source: Source) -> Iterator[str]:
    for node in source.nodes("import_spec"):
        path = node.child_by_field_name("path")
        if path is not None:
            yield source.text(path).strip('"`')
    for node in source.nodes("import_statement"):
        origin = node.child_by_field_name("source")
        if origin is not None:
            yield _module(source, origin)
