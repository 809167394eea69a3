"""JavaScript's and TypeScript's calls and values."""

import json
import math
import re
from collections.abc import Callable, Iterator
from typing import ClassVar

from tree_sitter import Node

from moot.core.types import Language
from moot.evidence.trials.notations.notation import (
    GOES_ON,
    CallParts,
    FunctionHead,
    Notation,
    Parameter,
    Special,
    decode_escape,
    find_closing,
)
from moot.scan.syntax import Source, parse

UNDEFINED = Special("undefined")
OPENING = re.compile(r"(?:new\s+(?:Set|Map)\s*\(|[\[{(])")
SCALAR = re.compile(
    r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|-?(?:\d+(?:\.\d+)?(?:[eE][-+]?\d+)?n?|Infinity\b)|"
    r"(?:true|false|null|undefined|NaN)\b"
)
FUNCTION_VALUES = ("arrow_function", "function_expression")


class JavaScriptNotation(Notation):
    language: ClassVar[Language] = "javascript"
    sample: ClassVar[str] = "f(2) === 4"
    advice: ClassVar[str] = (
        'Write calls and values as JavaScript literals: [1, 2], "text", {"key": 1}, true, null, undefined.'
    )

    def read_call(self, text: str) -> CallParts | None:
        try:
            source, node = self._read_expression(text)
            function, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
            if node.type != "call_expression" or function is None or given is None or given.type != "arguments":
                return None
            name = source.text(function)
            if not re.fullmatch(r"[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*", name):
                return None
            return CallParts(name, tuple(_read(source, each) for each in given.named_children))
        except (ValueError, RecursionError):
            return None

    def read_value(self, text: str) -> object:
        try:
            return _read(*self._read_expression(text))
        except RecursionError as problem:
            raise ValueError("nested too deeply") from problem

    def write_value(self, value: object, kind: str = "") -> str:
        match value:
            case None:
                return "null"
            case bool():
                return "true" if value else "false"
            case int() | float():
                return _write_number(value)
            case str():
                return json.dumps(value, ensure_ascii=False)
            case list() | tuple():
                return f"[{', '.join(map(self.write_value, value))}]"
            case dict():
                inner = (f"{json.dumps(str(k), ensure_ascii=False)}: {self.write_value(v)}" for k, v in value.items())
                return f"{{{', '.join(inner)}}}"
            case set():
                return f"new Set([{', '.join(sorted(map(self.write_value, value)))}])"
            case Special(kind="Set" | "Map"):
                return f"new {value.kind}([{', '.join(map(self.write_value, value.items))}])"
        return f"{value.items[0]}n" if isinstance(value, Special) and value.items else "undefined"

    def find_leading(self, text: str) -> str | None:
        text = text.strip().strip("`*").strip()
        if opened := OPENING.match(text):
            end = find_closing(text, opened.end() - 1)
        else:
            found = SCALAR.match(text)
            end = found.end() if found else None
        if end is None or GOES_ON.match(text, end):
            return None
        try:
            return self.write_value(self.read_value(text[:end]))
        except ValueError:
            return None

    def list_functions(self, code: str) -> list[FunctionHead]:
        source = parse("code", self.language, code)
        found = [
            *source.nodes("function_declaration", "generator_function_declaration"),
            *(node for node in source.nodes("variable_declarator") if _holds_function(node)),
        ]
        return [_head(source, node) for node in sorted(found, key=lambda n: n.start_byte) if _is_top(node)]

    def _read_expression(self, text: str) -> tuple[Source, Node]:
        source = parse("value", self.language, f"({text.strip().rstrip(';')})")
        if source.root.has_error or source.root.named_child_count != 1:
            raise ValueError("not one expression")
        return source, _unwrap(source.root.named_children[0])


class TypeScriptNotation(JavaScriptNotation):
    language: ClassVar[Language] = "typescript"
    advice: ClassVar[str] = JavaScriptNotation.advice.replace("JavaScript", "TypeScript")


def _unwrap(node: Node) -> Node:
    while node.type in ("expression_statement", "parenthesized_expression") and node.named_child_count == 1:
        node = node.named_children[0]
    return node


def _read(source: Source, node: Node) -> object:
    reader = READERS.get(node.type)
    if reader is None:
        raise ValueError(f"{node.type} is no literal")
    return reader(source, node)


def _read_string(source: Source, node: Node) -> str:
    if any(child.type == "template_substitution" for child in node.children):
        raise ValueError("a template is no literal")
    return "".join(_read_piece(source, child) for child in node.named_children)


def _read_name(source: Source, node: Node) -> float:
    name = source.text(node)
    if name not in ("NaN", "Infinity"):
        raise ValueError(f"{name} is no literal")
    return math.nan if name == "NaN" else math.inf


def _read_signed(source: Source, node: Node) -> object:
    sign, value = source.text(node)[:1], _read(source, node.named_children[-1])
    if sign not in "+-" or not isinstance(value, int | float) or isinstance(value, bool):
        raise ValueError("an expression is no literal")
    return -value if sign == "-" else value


def _read_piece(source: Source, node: Node) -> str:
    text = source.text(node)
    return decode_escape(text) if node.type == "escape_sequence" else text


def _read_number(text: str) -> object:
    plain = text.replace("_", "").lower()
    if plain.endswith("n") and not plain.startswith("0x"):
        return Special("BigInt", (int(plain[:-1], 0),))
    try:
        return int(plain, 0)
    except ValueError:
        value = float(plain)
        return int(value) if value.is_integer() and abs(value) < 2**53 else value


def _read_pairs(source: Source, node: Node) -> Iterator[tuple[str, object]]:
    for pair in node.named_children:
        key, value = pair.child_by_field_name("key"), pair.child_by_field_name("value")
        if pair.type != "pair" or key is None or value is None or key.type == "computed_property_name":
            raise ValueError("not a plain object")
        yield (source.text(key) if key.type == "property_identifier" else str(_read(source, key))), _read(source, value)


def _read_collection(source: Source, node: Node) -> Special:
    made, given = node.child_by_field_name("constructor"), node.child_by_field_name("arguments")
    kind = source.text(made) if made else ""
    values = [_read(source, each) for each in given.named_children] if given else []
    items = values[0] if values else []
    if kind not in ("Set", "Map") or len(values) > 1 or not isinstance(items, list):
        raise ValueError(f"new {kind} is no literal")
    return Special(kind, tuple(sorted(items, key=repr)))


def _write_number(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return str(int(value)) if isinstance(value, int) or (value.is_integer() and abs(value) < 2**53) else repr(value)


def _holds_function(node: Node) -> bool:
    value = node.child_by_field_name("value")
    return value is not None and value.type in FUNCTION_VALUES


def _is_top(node: Node) -> bool:
    outer = node.parent
    while outer is not None and outer.type in ("lexical_declaration", "variable_declaration", "export_statement"):
        outer = outer.parent
    return outer is not None and outer.type == "program"


def _head(source: Source, node: Node) -> FunctionHead:
    name, value = node.child_by_field_name("name"), node.child_by_field_name("value") or node
    every, one = value.child_by_field_name("parameters"), value.child_by_field_name("parameter")
    spots = every.named_children if every else [one] if one else []
    return FunctionHead(source.text(name) if name else "", _list_parameters(source, spots))


def _list_parameters(source: Source, spots: list[Node]) -> tuple[Parameter, ...] | None:
    """Those without a default; None where one is taken apart or takes all the rest."""
    found = []
    for spot in spots:
        inner = spot.child_by_field_name("pattern") or spot
        if inner.type == "this" or spot.type == "comment":
            continue
        if spot.type in ("optional_parameter", "assignment_pattern") or spot.child_by_field_name("value"):
            break
        if inner.type != "identifier":
            return None
        written = spot.child_by_field_name("type")
        found.append(Parameter(source.text(inner), source.text(written).lstrip(": ") if written else ""))
    return tuple(found)


READERS: dict[str, Callable[[Source, Node], object]] = {
    "number": lambda source, node: _read_number(source.text(node)),
    "string": _read_string,
    "template_string": _read_string,
    "true": lambda source, node: True,
    "false": lambda source, node: False,
    "null": lambda source, node: None,
    "undefined": lambda source, node: UNDEFINED,
    "identifier": _read_name,
    "array": lambda source, node: [_read(source, child) for child in node.named_children],
    "object": lambda source, node: dict(_read_pairs(source, node)),
    "parenthesized_expression": lambda source, node: _read(source, node.named_children[0]),
    "as_expression": lambda source, node: _read(source, node.named_children[0]),
    "unary_expression": _read_signed,
    "new_expression": _read_collection,
}
