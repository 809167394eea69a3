"""What can be said about a value from the code around it: is it constant, is it a number, does it come from outside."""

import re
from collections.abc import Iterator
from typing import cast

from tree_sitter import Node

from moot.scan.bindings import Binding, origins
from moot.scan.calls import CALLS, qualified, read_call
from moot.scan.strings import STRINGS, build, unwrapped
from moot.scan.syntax import MODULE, Source, inside, nth, words

DEPTH = 5
ATOMS = words(
    "integer float true false none null undefined number int_literal float_literal rune_literal nil iota ellipsis "
    "regex imaginary_literal"
)
COLLECTIONS = words(
    "list tuple set array dictionary object pair expression_list literal_value literal_element keyed_element "
    "composite_literal slice_expression"
)
OPERATIONS = words(
    "binary_operator binary_expression unary_operator unary_expression conditional_expression ternary_expression "
    "boolean_operator not_operator comparison_operator"
)
NUMBERS = words(
    "int float len bool ord hash round sum abs Number parseInt parseFloat Math.floor Math.round Math.abs Boolean "
    "strconv.Itoa strconv.FormatInt strconv.Quote uuid.uuid4 time.time Date.now int64 uint float64"
)
FIXED_METHODS = words("strip lower upper encode dedent trim join fill repeat copy keys items values")
"""Of a constant they give a constant."""
CONVERSIONS = words("textwrap.dedent str strings.Repeat String list tuple sorted frozenset set")
SAFE = re.compile(
    r"(?i)(?:escape|sanitiz|sanitis|encodeuri|quote|basename|secure_filename|bleach|purify|clean|valid|allow|"
    r"filepath\.clean|safe_join|literal|int$|float$|bool$|len$|number$|parseint|parsefloat|atoi|isdigit|uuid|"
    r"hash|digest)"
)
OUTSIDE_PYTHON = re.compile(
    r"^(?:flask\.|self\.|bottle\.|django\.http\.)?(?:request|req)\."
    r"(?:args|form|values|json|data|files|cookies|headers|query_string|path|url|full_path|GET|POST|body|params|query|"
    r"query_params|path_params|get_json|get_data|match_info|META|COOKIES|FILES|stream|environ|referrer|user_agent)\b|"
    r"^(?:input|raw_input|sys\.argv|sys\.stdin\..*|os\.environ\.QUERY_STRING|self\.get_argument|self\.rfile\..*)$"
)
OUTSIDE_JAVASCRIPT = re.compile(
    r"^(?:this\.)?(?:req|request|ctx|ctx\.request|ctx\.req|event|context\.req)\."
    r"(?:query|params|body|headers|cookies|url|originalUrl|param|file|files|queryStringParameters|"
    r"pathParameters|path|get)\b|"
    r"^(?:window\.|document\.)?(?:location\.(?:hash|search|href)|document\.(?:URL|cookie|referrer)|URL|referrer)\b|"
    r"^process\.argv\b|^(?:window\.)?prompt$"
)
OUTSIDE_GO = re.compile(
    r"^(?:r|req|request|ctx\.Request|c\.Request)\.(?:URL\.Query\(?\)?|URL\.RawQuery|URL\.Path|FormValue|PostFormValue|"
    r"Form|PostForm|Body|Header|Cookie|Host|RequestURI|PathValue|Referer|UserAgent|MultipartForm)\b|"
    r"^(?:c|ctx)\.(?:Query|Param|PostForm|FormValue|QueryParam|DefaultQuery|GetHeader|Params)\b|^os\.Args$|"
    r"^(?:r|req)\.URL\.Query\b|^flag\.Arg$"
)
OUTSIDE = {
    "python": OUTSIDE_PYTHON,
    "javascript": OUTSIDE_JAVASCRIPT,
    "typescript": OUTSIDE_JAVASCRIPT,
    "go": OUTSIDE_GO,
}
CHAINS = ("attribute", "member_expression", "selector_expression")
CONTAINER = ("subscript", "subscript_expression", "index_expression")


def constant(source: Source, node: Node, depth: int = 0) -> bool:
    """Whether a value is fixed by the program text alone, or is only ever a number."""
    node = unwrapped(node)
    if depth > DEPTH:
        return False
    if node.type in ATOMS:
        return True
    if node.type in STRINGS or node.type == "concatenated_string":
        return all(constant(source, hole.node, depth + 1) for hole in build(source, node).holes)
    if node.type in COLLECTIONS or node.type in OPERATIONS:
        return _all_constant(source, node, depth)
    if node.type in CALLS:
        return _constant_call(source, node, depth)
    if node.type in ("identifier", "shorthand_property_identifier"):
        return _constant_name(source, node, depth)
    if node.type in CONTAINER:
        thing = nth(node, 0)
        return thing is not None and constant(source, thing, depth + 1)
    return node.type in CHAINS and bool(re.fullmatch(r"(?:[\w]+\.)*[A-Z][A-Z0-9_]{2,}", source.text(node)))


def _all_constant(source: Source, node: Node, depth: int) -> bool:
    built = build(source, node, depth) if node.type in ("binary_operator", "binary_expression") else None
    if built is not None and len(built.pieces) > 1:
        return all(constant(source, hole.node, depth + 1) for hole in built.holes)
    skipped = ("comment", "property_identifier", "field_identifier", "type_identifier", "slice_type", "map_type")
    parts = [child for child in node.named_children if child.type not in skipped]
    return len(parts) <= 200 and all(constant(source, part, depth + 1) for part in parts)


def _constant_call(source: Source, node: Node, depth: int) -> bool:
    """Numbers, and string methods on constants: `", ".join("?" * n)`."""
    call = read_call(source, node)
    if call.name in NUMBERS or (source.language != "python" and call.method in ("toFixed", "getTime")):
        return True
    built = build(source, node)
    if len(built.pieces) > 1:
        return all(constant(source, hole.node, depth + 1) for hole in built.holes)
    callee = node.child_by_field_name("function")
    thing = callee.child_by_field_name("object") if callee is not None else None
    if call.method == "join" and thing is not None and constant(source, thing, depth + 1):
        return all(_placeholder_list(source, arg, depth) for arg in call.args)
    if call.method in FIXED_METHODS and thing is not None and constant(source, thing, depth + 1):
        return all(constant(source, arg, depth + 1) for arg in call.args)
    return call.name in CONVERSIONS and all(constant(source, arg, depth + 1) for arg in call.args[:1])


def _placeholder_list(source: Source, node: Node, depth: int) -> bool:
    """`["?"] * n`, `("%s" for _ in ids)`: as many constants as there are values."""
    if node.type in ("generator_expression", "list_comprehension"):
        body = node.child_by_field_name("body")
        return body is not None and constant(source, body, depth + 1)
    if node.type == "binary_operator":
        return any(constant(source, side, depth + 1) for side in node.named_children)
    return constant(source, node, depth + 1)


def _constant_name(source: Source, node: Node, depth: int) -> bool:
    found = origins(source, node)
    return bool(found) and all(_remembered(source, binding, depth) for binding in found[-20:])


def _remembered(source: Source, binding: Binding, depth: int) -> bool:
    key = f"constant {binding.kind} {binding.node.start_byte} {binding.name}"
    if key not in source.memo:
        source.memo[key] = False  # a name defined by itself is not constant
        source.memo[key] = _constant_binding(source, binding, depth)
    return bool(source.memo[key])


def _constant_binding(source: Source, binding: Binding, depth: int) -> bool:
    value = binding.value
    if value is None or binding.kind in ("parameter", "unknown"):
        return False
    if source.language == "python" and value.type == "call" and binding.kind == "loop":
        call = read_call(source, value)
        if call.name in ("range", "enumerate"):
            return call.name == "range"
    return constant(source, value, depth + 1)


def outside(source: Source, node: Node, depth: int = 0) -> Node | None:
    """The place where data from outside enters a value, if one can be seen; checks and conversions end the search."""
    skip_until = -1
    for inner in inside(node, 400):
        if inner.start_byte < skip_until or inner.type not in (*CALLS, *CHAINS, "identifier"):
            continue
        name = read_call(source, inner).name if inner.type in CALLS else qualified(source, inner)
        local = origins(source, inner) if inner.type == "identifier" else []
        if OUTSIDE[source.language].search(name) and not local:
            return inner
        if inner.type in CALLS and SAFE.search(name):
            skip_until = inner.end_byte
        elif local and depth < DEPTH and (found := _outside_name(source, local, depth)) is not None:
            return found
    return None


def _outside_name(source: Source, local: list[Binding], depth: int) -> Node | None:
    for binding in reversed(local[-8:]):
        key = f"outside {binding.kind} {binding.node.start_byte} {binding.name}"
        if key not in source.memo:
            source.memo[key] = None
            source.memo[key] = outside(source, binding.value, depth + 1) if binding.value is not None else None
        if (found := cast(Node | None, source.memo[key])) is not None:
            return found
        if binding.kind == "set":
            return None
    return None


def words_around(source: Source, node: Node) -> Iterator[str]:
    """Names that tell what a value is for: the function it stands in and the names in its statement."""
    scope = source.scope(node)
    if scope.name != MODULE:
        yield scope.name
    statement = source.statement(node)
    for inner in inside(statement if statement is not None else node, 120):
        if inner.type.endswith("identifier"):
            yield source.text(inner)
