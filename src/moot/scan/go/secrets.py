"""Structs with a secret that Go programs marshal in clear text."""

import re
from collections.abc import Iterator

from moot.core import secret_patterns as patterns
from moot.scan.engine.ir import (
    Assign,
    Attr,
    Call,
    Const,
    Expr,
    Hole,
    Many,
    Name,
    Opaque,
    Span,
    Table,
)
from moot.scan.go.program import Program, Shape, shape
from moot.scan.go.rules import structure as flaw
from moot.scan.go.shapes import Shapes
from moot.scan.rule import Rule
from moot.scan.syntax import words

Found = tuple[Rule, Span]
MARSHALS = words(
    "encoding/json.Marshal encoding/json.MarshalIndent encoding/xml.Marshal encoding/xml.MarshalIndent "
    "gopkg.in/yaml.v2.Marshal gopkg.in/yaml.v3.Marshal github.com/goccy/go-yaml.Marshal sigs.k8s.io/yaml.Marshal "
    "go.yaml.in/yaml/v4.Marshal github.com/BurntSushi/toml.Marshal github.com/pelletier/go-toml.Marshal"
)
ENCODERS = words(
    "encoding/json.NewEncoder encoding/xml.NewEncoder gopkg.in/yaml.v2.NewEncoder gopkg.in/yaml.v3.NewEncoder "
    "github.com/BurntSushi/toml.NewEncoder github.com/pelletier/go-toml.NewEncoder go.yaml.in/yaml/v4.NewEncoder"
)
EXPOSED_FIELD = re.compile(patterns.EXPOSED_FIELD)


def find_marshalled(program: Program) -> Iterator[Found]:
    for function in program.bodies:
        if function.name in ("MarshalJSON", "MarshalYAML", "MarshalXML", "MarshalText"):
            continue  # a custom marshaller that hides the secret marshals something too
        shapes = Shapes(program, function)
        for node in program.run_by(function):
            if isinstance(node, Assign) and isinstance(node.targets[0], Name):
                shapes.learn(node.targets[0].id, shape(program, node.annotation) or shapes.of(node.value))
            marshals = isinstance(node, Call) and node.args and _is_marshal(program, node)
            if isinstance(node, Call) and marshals and _shows_secret(program, node, shapes):
                yield flaw.EXPOSED, node.at


def _is_marshal(program: Program, node: Call) -> bool:
    if program.origin(node.func) in MARSHALS:
        return True
    func = node.func
    if not isinstance(func, Attr) or func.name != "Encode":
        return False
    maker = func.base.func if isinstance(func.base, Call) else None
    return program.origin(maker) in ENCODERS if maker is not None else False


def _format(program: Program, node: Call) -> str:
    base = node.func.base if isinstance(node.func, Attr) else None
    origin = program.origin(node.func) or program.origin(base.func if isinstance(base, Call) else None)
    return next((name for name in ("json", "xml", "yaml", "toml") if name in origin), "json")


def _find_struct(program: Program, value: Expr, shapes: Shapes) -> Shape | None:
    """The marshalled struct, also inside a slice or map literal."""
    while isinstance(value, Hole):
        value = value.value
    if isinstance(value, Many) and value.items:
        return _find_struct(program, value.items[0], shapes)
    if isinstance(value, Table) and isinstance(value.type, Opaque) and value.type.parts:
        return shape(program, value.type.parts[-1])
    found = shapes.of(value)
    return found.holds if found is not None and found.word in ("list", "map") else found


def _shows_secret(program: Program, call: Call, shapes: Shapes) -> bool:
    found, form = _find_struct(program, call.args[0], shapes), _format(program, call)
    if found is None or _hides(program, found.word):
        return False
    for name, note, made in program.fields(found.word):
        tag = made.parts[0].value if made.parts and isinstance(made.parts[0], Const) else ""
        match = re.search(rf'{form}:"([^",]*)([^"]*)"', tag) if isinstance(tag, str) else None
        if match is not None and match[1] == "-" and not match[2]:
            continue
        shown = match[1] if match is not None and match[1] else name
        telling = any(EXPOSED_FIELD.search(word) for word in (shown, name))
        if telling and name[:1].isupper() and _is_text(program, note):
            return True
    return False


def _hides(program: Program, owner: str) -> bool:
    kind = program.types.get(owner)
    names = {getattr(getattr(stmt, "function", None), "name", "") for stmt in kind.body} if kind is not None else set()
    return bool(names & {"MarshalJSON", "MarshalYAML", "MarshalXML", "MarshalText"})


def _is_text(program: Program, note: Expr | None) -> bool:
    found = shape(program, note)
    while found is not None and found.word == "list" and found.holds is not None:
        found = found.holds
    return found is not None and found.word in ("string", "uint8", "interface", "interface_type")
