"""TypeScript without its types, so that every Node.js can run it: types become blanks, and all else stays in its place.

Our own because Node.js strips types only from 22.18 on, and the grammar is here already.
"""

from collections.abc import Iterator

from tree_sitter import Node

from moot.scan.syntax import parse, walk, words

SPACE, NEWLINE = b" \n"
BLANKED = words(
    "type_annotation type_parameters type_arguments implements_clause accessibility_modifier override_modifier "
    "interface_declaration type_alias_declaration function_signature ambient_declaration abstract_method_signature "
    "method_signature asserts_annotation type_predicate_annotation opting_type_annotation "
    "omitting_type_annotation index_signature"
)
WITH_TAIL = words("as_expression satisfies_expression non_null_expression")
"""Of these only the first child is JavaScript."""
KEYWORDS = words("readonly abstract declare ?")
"""Blank where a type may have them."""
HOLDERS = words("public_field_definition abstract_class_declaration optional_parameter method_definition")
REFUSED = {
    "enum_declaration": "an enum",
    "internal_module": "a namespace",
    "module": "a namespace",
    "import_alias": "import … =",
    "decorator": "a decorator",
    "type_assertion": "a type in angle brackets before a value",
}


class TypesNotStripped(ValueError):
    """The code needs more than its types removed; the message says why."""


def strip_types(text: str) -> str:
    source = parse("code.ts", "typescript", text)
    if source.root.has_error:
        raise TypesNotStripped("it does not parse")
    data, done = bytearray(source.data), 0
    for node in walk(source.root):
        if node.start_byte < done:
            continue
        if why := REFUSED.get(node.type) or _find_property(node):
            raise TypesNotStripped(f"line {node.start_point[0] + 1} has {why}, which is more than a type")
        for start, end in _blanks(node):
            data[start:end] = bytes(byte if byte == NEWLINE else SPACE for byte in data[start:end])
            done = end if start == node.start_byte else done
    return data.decode("utf-8", "replace")


def _find_property(node: Node) -> str:
    """`constructor(private name: string)`: the modifier makes a field."""
    if node.type != "required_parameter":
        return ""
    made = any(child.type in ("accessibility_modifier", "readonly") for child in node.children)
    return "a field in the parameters of a constructor" if made else ""


def _blanks(node: Node) -> Iterator[tuple[int, int]]:
    whole = node.start_byte, node.end_byte
    if node.type in BLANKED:
        yield whole
    elif node.type in WITH_TAIL:
        yield node.named_children[0].end_byte, node.end_byte
    elif node.type in ("import_statement", "export_statement") and _is_for_types(node):
        yield whole
    elif node.type in ("import_specifier", "export_specifier") and any(c.type == "type" for c in node.children):
        yield _with_comma(node)
    elif node.type == "public_field_definition" and any(c.type == "declare" for c in node.children):
        yield whole
    elif node.type == "required_parameter" and node.named_children and node.named_children[0].type == "this":
        yield _with_comma(node)
    elif node.type in HOLDERS:
        yield from ((c.start_byte, c.end_byte) for c in node.children if not c.is_named and c.type in (*KEYWORDS, "!"))
    elif node.type == "variable_declarator":
        yield from ((c.start_byte, c.end_byte) for c in node.children if c.type == "!")


def _is_for_types(node: Node) -> bool:
    declared = node.child_by_field_name("declaration")
    only = declared is not None and declared.type in BLANKED
    return only or any(child.type == "type" and not child.is_named for child in node.children)


def _with_comma(node: Node) -> tuple[int, int]:
    after = node.next_sibling
    return node.start_byte, after.end_byte if after is not None and after.type == "," else node.end_byte
