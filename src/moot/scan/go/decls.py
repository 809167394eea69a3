"""Lowers Go declarations: imports, constants, variables, functions, types with their methods."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from moot.scan.engine.bounds import span
from moot.scan.engine.ir import (
    Assign,
    Attr,
    Block,
    Call,
    Class,
    Concat,
    Const,
    Define,
    Expr,
    Function,
    Hole,
    Import,
    Many,
    Name,
    Opaque,
    Param,
    Stmt,
    Unary,
)
from moot.scan.go.exprs import GoReader
from moot.scan.go.nodes import list_named_nodes
from moot.scan.go.program import LITERAL

BUILDERS = frozenset({"strings.Builder", "bytes.Buffer"})
HANDLES = re.compile(
    r"^(?:net/http\.(?:Request|ResponseWriter|Client)|database/sql\.\w+|golang\.org/x/crypto/ssh\.Session|archive/(?:zip\.(?:File|Reader|ReadCloser)|tar\.(?:Header|Reader))|log\.Logger|"
    r"github\.com/sirupsen/logrus\.(?:Logger|Entry)|go\.uber\.org/zap\.SugaredLogger|"
    r"mime/multipart\.FileHeader|github\.com/(?:gin-gonic/gin|labstack/echo(?:/v\d)?|gofiber/fiber(?:/v\d)?)\."
    r"(?:Context|Ctx))$"
)
"""Framework types whose values are known by the name of their type."""
FIELD_HANDLES = re.compile(
    r"^(?:log\.Logger|github\.com/sirupsen/logrus\.(?:Logger|Entry)|go\.uber\.org/zap\.SugaredLogger|net/http\.Client"
    r"|math/rand(?:/v2)?\.Rand)$"
)
"""The same for the fields of a struct: whoever fills them, they are these."""
BUILDER_MAKERS = frozenset({"bytes.NewBufferString", "bytes.NewBuffer"})


def imports(reader: GoReader, node: Node) -> Iterator[tuple[Node, str, str]]:
    specs = [
        inner
        for child in list_named_nodes(node)
        for inner in (list_named_nodes(child) if child.type != "import_spec" else [child])
    ]
    for spec in specs:
        path = spec.child_by_field_name("path")
        if spec.type != "import_spec" or path is None:
            continue
        origin = reader.text(path).strip('"`')
        name = spec.child_by_field_name("name")
        yield spec, _local(origin, reader.text(name)), origin


def _local(origin: str, given: str) -> str:
    if given:
        return {"_": "", ".": "*"}.get(given, given)
    last = origin.rsplit("/", 1)[-1]
    # `gopkg.in/yaml.v3` and `math/rand/v2` are used as `yaml` and `rand`.
    if last[:1] == "v" and last[1:].isdigit() and "/" in origin:
        last = origin.split("/")[-2]
    return last.split(".v")[0].removeprefix("go-").replace("-", "_")


def lower_import(reader: GoReader, node: Node) -> Block:
    return tuple(Import(span(spec), local, origin, origin) for spec, local, origin in imports(reader, node))


def constants(reader: GoReader, node: Node) -> Block:
    """`const` groups: a line without a value repeats the previous one with the next `iota`."""
    found: list[Stmt] = []
    values: Node | None = None
    for place, spec in enumerate(child for child in list_named_nodes(node) if child.type == "const_spec"):
        values = spec.child_by_field_name("value") or values
        names = [child for child in spec.children_by_field_name("name") if child.type != ","]
        reader.iota = place
        results = reader.exprs(values.named_children) if values is not None else ()
        reader.iota = None
        for name, value in zip(names, results, strict=False):
            known = resolve_constant(reader, value)
            if isinstance(known, Const):
                reader.consts[reader.text(name)] = known.value
            note = reader.maybe(spec, "type")
            found.append(Assign(span(spec), (Name(span(name), reader.text(name)),), known, note, local=True))
    return tuple(found)


def resolve_constant(reader: GoReader, value: Expr) -> Expr:
    if isinstance(value, Name) and value.id in reader.consts:
        return Const(value.at, reader.consts[value.id])
    # A typed constant, `Level(3)`, has the value of its number.
    if isinstance(value, Call) and isinstance(value.func, Name) and len(value.args) == 1:
        inner = value.args[0]
        if isinstance(inner, Const) and value.func.id not in ("string", "len"):
            return inner
    if isinstance(value, Concat):
        parts = [resolve_constant(reader, part) for part in value.parts]
        if all(isinstance(part, Const) for part in parts):
            return Const(value.at, "".join(str(part.value) for part in parts if isinstance(part, Const)))
    return value


def variables(reader: GoReader, node: Node) -> Block:
    found: list[Stmt] = []
    for child in list_named_nodes(node):
        for spec in list_named_nodes(child) if child.type == "var_spec_list" else [child]:
            if spec.type == "var_spec":
                found.append(_variable(reader, spec))
    return tuple(found)


def _variable(reader: GoReader, spec: Node) -> Stmt:
    names = tuple(Name(span(n), reader.text(n)) for n in spec.children_by_field_name("name") if n.type == "identifier")
    note, value = reader.maybe(spec, "type"), reader.maybe(spec, "value")
    for name in names:
        note_builder(reader, name, note, value)
    if value is None:
        value = _zero(reader, span(spec), note)
    elif len(names) == 1 and names[0].id in reader.builders:
        value = first_content(reader, value)
    target: Expr = names[0] if len(names) == 1 else Many(span(spec), "tuple", names)
    if len(names) > 1 and spec.child_by_field_name("value") is None:
        return Assign(span(spec), names, value, note, local=True)
    return Assign(span(spec), (target,), value, note, local=True)


def _zero(reader: GoReader, at: tuple[int, int], note: Expr | None) -> Expr:
    """The zero value of a type."""
    match note:
        case Name(id="string"):
            return Const(at, "")
        case Name(id="bool"):
            return Const(at, False)
        case Name(id="error") | Unary():
            return Const(at, None)
        case Name(id=kind) if kind.startswith(("int", "uint")):
            return Const(at, 0)
        case Opaque(word="slice_type"):
            return Many(at, "list", ())
        case Attr() if reader.origin(note) in BUILDERS:
            return Const(at, "")
        case Name() | Attr():
            return Call(at, note, (), (), new=True)
        case _:
            return Opaque(at, (), "zero")


def note_builder(reader: GoReader, name: Name, note: Expr | None, value: Expr | None) -> None:
    kind = note.value if isinstance(note, Unary) else note
    if (kind is not None and reader.origin(kind) in BUILDERS) or (value is not None and _makes_builder(reader, value)):
        reader.builders.add(name.id)
    else:
        reader.builders.discard(name.id)


def _makes_builder(reader: GoReader, value: Expr) -> bool:
    match value:
        case Hole(spec="&", value=Call(func=kind, new=True)) | Call(func=kind, new=True):
            return reader.origin(kind) in BUILDERS
        case Call(func=Name(id="new"), args=(kind,)):
            return reader.origin(kind) in BUILDERS
        case Call(func=func):
            return reader.origin(func) in BUILDER_MAKERS
    return False


def first_content(reader: GoReader, value: Expr) -> Expr:
    if isinstance(value, Call) and value.args and reader.origin(value.func) in BUILDER_MAKERS:
        return value.args[0]
    return Const(value.at, "") if _makes_builder(reader, value) else value


def function(reader: GoReader, node: Node) -> Function:
    """A function, method or function literal."""
    found = [
        *_params(reader, node.child_by_field_name("receiver")),
        *_params(reader, node.child_by_field_name("parameters")),
    ]
    result = node.child_by_field_name("result")
    results = _params(reader, result) if result is not None and result.type == "parameter_list" else []
    names = tuple(param.name for param in results if param.name)
    outer = set(reader.builders)
    for param in found:
        note_builder(reader, Name(param.at, param.name), param.annotation, None)
    reader.named_results.append(names)
    start = [
        Assign(
            param.at, (Name(param.at, param.name),), _zero(reader, param.at, param.annotation), param.annotation, True
        )
        for param in results
        if param.name and param.name != "_"
    ]
    body = (*_stand_ins(reader, found), *start, *reader.block(reader, node.child_by_field_name("body")))
    reader.named_results.pop()
    reader.builders = outer
    name = reader.text(node.child_by_field_name("name")) or LITERAL
    return Function(span(node), name, tuple(found), body, _result_note(reader, result, results))


def _result_note(reader: GoReader, result: Node | None, results: list[Param]) -> tuple[Expr, ...]:
    if result is None:
        return ()
    types = tuple(param.annotation for param in results if param.annotation is not None)
    return (Opaque(span(result), types or (reader.expr(result),), "results"),)


def _params(reader: GoReader, node: Node | None) -> list[Param]:
    found: list[Param] = []
    for child in list_named_nodes(node) if node is not None else []:
        if reader.is_full(child):
            break
        names = [n for n in child.children_by_field_name("name") if n.type in ("identifier", "blank_identifier")]
        names = reader.as_many(names)
        note = reader.maybe(child, "type")
        if child.type == "variadic_parameter_declaration":
            found.extend(Param(span(n), reader.text(n), None, note, "star") for n in names)
        elif names:
            found.extend(Param(span(n), reader.text(n), None, note) for n in names)
        elif child.type == "parameter_declaration":
            found.append(Param(span(child), "", None, note))
    return found


def _stand_ins(reader: GoReader, params: list[Param]) -> Iterator[Stmt]:
    """A `*http.Request` is known by the name of its type, whoever passes it."""
    for param in params:
        kind = param.annotation.value if isinstance(param.annotation, Unary) else param.annotation
        if param.name and isinstance(kind, Attr) and HANDLES.search(reader.origin(kind)):
            yield Assign(param.at, (Name(param.at, param.name),), kind, param.annotation, local=True)


def lower_declaration(reader: GoReader, node: Node) -> Block:
    return (Define(span(node), function(reader, node)),)


def classes(reader: GoReader, top: list[Node]) -> Block:
    """Types with their fields and methods, wherever in the file the methods are."""
    specs: dict[str, Node] = {}
    methods: dict[str, list[Node]] = {}
    for node in top:
        if node.type == "type_declaration":
            specs.update((reader.text(spec.child_by_field_name("name")), spec) for spec in list_named_nodes(node))
        elif node.type == "method_declaration":
            methods.setdefault(_receiver(reader, node), []).append(node)
    found: list[Stmt] = []
    for name in dict.fromkeys((*specs, *methods)):
        own = tuple(stmt for node in methods.get(name, []) for stmt in lower_declaration(reader, node))
        found.append(_class(reader, name, specs.get(name), own, methods.get(name, [])))
    return tuple(found)


def _class(reader: GoReader, name: str, spec: Node | None, methods: Block, nodes: list[Node]) -> Stmt:
    kind = spec.child_by_field_name("type") if spec is not None else None
    at = span(spec) if spec is not None else span(nodes[0])
    if kind is None or kind.type != "struct_type":
        bases = (reader.expr(kind),) if kind is not None and kind.type != "interface_type" else ()
        return Class(at, name, bases, methods)
    fields: list[Stmt] = []
    bases_found: list[Expr] = []
    for field in [inner for child in list_named_nodes(kind) for inner in list_named_nodes(child)]:
        note, tag = reader.maybe(field, "type"), reader.maybe(field, "tag")
        value: Expr = Opaque(span(field), (tag,) if tag is not None else (), "field")
        kind_of = note.value if isinstance(note, Unary) else note
        if isinstance(kind_of, Attr) and FIELD_HANDLES.search(reader.origin(kind_of)):
            value = kind_of
        names = [n for n in field.children_by_field_name("name") if n.type == "field_identifier"]
        for name_node in names:
            word = reader.text(name_node)
            held = Attr(value.at, value, word) if isinstance(kind_of, Name) and kind_of.id == "string" else value
            fields.append(Assign(span(field), (Name(span(name_node), word),), held, note))
        bases_found.extend([note] if not names and note is not None else [])
    return Class(at, name, tuple(bases_found), (*fields, *methods))


def _receiver(reader: GoReader, node: Node) -> str:
    params = _params(reader, node.child_by_field_name("receiver"))
    kind = params[0].annotation if params else None
    kind = kind.value if isinstance(kind, Unary) else kind
    return kind.id if isinstance(kind, Name) else ""


def local_types(reader: GoReader, node: Node) -> Block:
    return classes(reader, [node])
