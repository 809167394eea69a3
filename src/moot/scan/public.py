"""Public names, which a patch must keep."""

from collections.abc import Iterator

from tree_sitter import Node

from moot.scan.syntax import Source, inside

MEMBERS = ("function_definition", "method_definition")


def public_names(source: Source) -> tuple[str, ...]:
    reader = {"python": _python, "go": _go}.get(source.language, _javascript)
    return tuple(dict.fromkeys(reader(source)))


def _name(source: Source, node: Node, field: str = "name") -> str:
    found = node.child_by_field_name(field)
    return source.text(found) if found is not None else ""


def _python(source: Source) -> Iterator[str]:
    for statement in source.root.named_children:
        node = statement.child_by_field_name("definition") or statement
        name = _name(source, node)
        if node.type == "function_definition" and not name.startswith("_"):
            yield name
        elif node.type == "class_definition" and not name.startswith("_"):
            yield name
            yield from (f"{name}.{method}" for method in _methods(source, node) if not method.startswith("_"))
        elif node.type == "expression_statement":
            yield from (target for target in _targets(source, node) if not target.startswith("_"))


def _methods(source: Source, node: Node) -> Iterator[str]:
    body = node.child_by_field_name("body")
    for child in body.named_children if body is not None else ():
        member = child.child_by_field_name("definition") or child
        if member.type in MEMBERS:
            yield _name(source, member)


def _targets(source: Source, statement: Node) -> Iterator[str]:
    for assignment in (child for child in statement.named_children if child.type == "assignment"):
        left = assignment.child_by_field_name("left")
        if left is not None and left.type in ("identifier", "pattern_list", "tuple_pattern"):
            names = [left] if left.type == "identifier" else left.named_children
            yield from (source.text(name) for name in names if name.type == "identifier")


def _javascript(source: Source) -> Iterator[str]:
    for statement in source.root.named_children:
        node = statement.child_by_field_name("declaration") or statement
        match node.type:
            case "function_declaration" | "generator_function_declaration":
                yield _name(source, node)
            case "class_declaration" | "abstract_class_declaration":
                name = _name(source, node)
                yield name
                hidden = ("constructor", "_", "#")
                yield from (f"{name}.{method}" for method in _methods(source, node) if not method.startswith(hidden))
            case "lexical_declaration" | "variable_declaration":
                yield from _list_declared(source, node)
            case "interface_declaration" | "type_alias_declaration" | "enum_declaration":
                yield _name(source, node)
            case "export_statement" | "expression_statement":
                yield from _list_exported(source, node)


def _list_declared(source: Source, node: Node) -> Iterator[str]:
    for declarator in node.named_children:
        name = declarator.child_by_field_name("name")
        if name is not None and name.type == "identifier" and not _is_import(source, declarator):
            yield source.text(name)


def _is_import(source: Source, declarator: Node) -> bool:
    value = declarator.child_by_field_name("value")
    return value is not None and source.data[value.start_byte : value.start_byte + 8] == b"require("


def _list_exported(source: Source, node: Node) -> Iterator[str]:
    """`export { a as b }`, `exports.a = …`, `module.exports = { a, b: c }`."""
    if node.type == "export_statement":
        for inner in (n for n in inside(node, 2000) if n.type == "export_specifier"):
            yield _name(source, inner, "alias") or _name(source, inner)
        return
    for inner in (n for n in node.named_children if n.type == "assignment_expression"):
        left, right = inner.child_by_field_name("left"), inner.child_by_field_name("right")
        path = source.text(left).split(".") if left is not None and left.end_byte - left.start_byte < 200 else []
        if path[:1] == ["exports"] or path[:2] == ["module", "exports"]:
            if path[-1] != "exports":
                yield path[-1]
            elif right is not None and right.type == "object":
                keys = (child.child_by_field_name("key") or child for child in right.named_children)
                yield from (source.text(k) for k in keys if k.type.endswith("property_identifier"))


def _go(source: Source) -> Iterator[str]:
    for node in source.root.named_children:
        match node.type:
            case "function_declaration":
                yield _name(source, node)
            case "method_declaration":
                name, owner = _name(source, node), _receiver(source, node)
                if name[:1].isupper() and owner:
                    yield f"{owner}.{name}"
            case "type_declaration" | "var_declaration" | "const_declaration":
                specs = ("type_spec", "var_spec", "const_spec", "type_alias")
                for spec in (n for n in inside(node, 2000) if n.type in specs):
                    names = (source.text(name) for name in spec.children_by_field_name("name"))
                    yield from (name for name in names if name[:1].isupper())


def _receiver(source: Source, node: Node) -> str:
    receiver = node.child_by_field_name("receiver")
    kinds = (n for n in inside(receiver, 20) if n.type == "type_identifier") if receiver is not None else iter(())
    first = next(kinds, None)
    return source.text(first) if first is not None else ""
