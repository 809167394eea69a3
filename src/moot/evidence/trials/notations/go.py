"""Go's calls and values."""

import json
import re
from collections.abc import Callable
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

HEAD = "package p\n\nvar _ = "
BASIC = re.compile(r"(?:u?int(?:8|16|32|64)?|uintptr|float(?:32|64)|string|bool|byte|rune)$")
TYPE = r"&?(?:\[\d*\]|map\[(?:\[\d*\])?[\w*.]+\]|\*)*[A-Za-z_][\w.]*"
OPENING = re.compile(rf"(?:{TYPE}\{{|(?:\[\]byte|\[\]rune|[a-z]+\d*)\((?=[\"\d-])|\()")
SCALAR = re.compile(
    r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)+'|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|(?:true|false|nil|err(?:or)?)\b"
)
ANOTHER = re.compile(r"\s*,\s*(nil|true|false|err(?:or)?)\b(?!\s*\()")
"""The second of two results: `2, nil`."""
ERRORS = frozenset({"error", "err"})


class Nil:
    """Equal to every empty value: an empty slice and a nil one behave alike."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Nil) or other is None or (isinstance(other, list | dict) and not other)

    def __hash__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return "nil"


NIL = Nil()
ERROR = Special("error")


class GoNotation(Notation):
    language: ClassVar[Language] = "go"
    sample: ClassVar[str] = "f(2) == 4"
    advice: ClassVar[str] = (
        'Write calls and values as Go literals with their types: []int{1, 2}, map[string]int{"a": 1}, "text", true, '
        "nil; several results as (2, nil); an error as error."
    )

    def read_call(self, text: str) -> CallParts | None:
        try:
            source, node = self._read_expression(text)
            function, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
            if node.type != "call_expression" or function is None or given is None or function.type != "identifier":
                return None
            values = [_read(source, each) for each in given.named_children]
            types = [_type_of(source, each) for each in given.named_children]
        except (ValueError, RecursionError):
            return None
        return CallParts(source.text(function), tuple(values), tuple(types))

    def read_value(self, text: str) -> object:
        text = text.strip()
        if text in ERRORS:
            return ERROR
        if text.startswith("(") and find_closing(text, 0) == len(text):
            return tuple(self.read_value(part) for part in split_list(text[1:-1]))
        try:
            return _read(*self._read_expression(text))
        except RecursionError as problem:
            raise ValueError("nested too deeply") from problem

    def write_value(self, value: object, kind: str = "") -> str:
        inner = re.sub(r"^\[\d*\]|^map\[[^\]]*\]", "", kind.removeprefix("&"))
        match value:
            case None | Nil():
                return "nil"
            case bool():
                return "true" if value else "false"
            case str() if kind in ("[]byte", "[]rune"):
                return f"{kind}({json.dumps(value, ensure_ascii=False)})"
            case str():
                return json.dumps(value, ensure_ascii=False)
            case list():
                return f"{kind}{{{', '.join(self._write_inner(each, inner) for each in value)}}}"
            case dict():
                pairs = (f"{self._write_key(k, kind)}: {self._write_inner(v, inner)}" for k, v in value.items())
                return f"{kind}{{{', '.join(pairs)}}}"
            case tuple():
                return f"({', '.join(map(self.write_value, value))})"
            case Special():
                return value.kind
        return f"{kind}({value!r})" if BASIC.match(kind) else repr(value)

    def _write_inner(self, value: object, kind: str) -> str:
        """Inside of a composite literal the type of a slice or map is written once."""
        text = self.write_value(value, kind if isinstance(value, list | dict) else "")
        return text.removeprefix(kind) if isinstance(value, list | dict) else text

    def _write_key(self, key: object, kind: str) -> str:
        return self.write_value(key) if kind.removeprefix("&").startswith("map[") else str(key)

    def find_leading(self, text: str) -> str | None:
        text = text.strip().strip("`*").strip()
        opened, found = OPENING.match(text), SCALAR.match(text)
        end = find_closing(text, opened.end() - 1) if opened else found.end() if found else None
        if end is None or GOES_ON.match(text, end):
            return None
        parts = [text[:end]]
        while more := ANOTHER.match(text, end):
            parts.append(more[1])
            end = more.end()
        return self._unify(parts)

    def _unify(self, parts: list[str]) -> str | None:
        try:
            written = [self._write_typed(part) for part in parts]
        except ValueError:
            return None
        return f"({', '.join(written)})" if len(written) > 1 else written[0]

    def _write_typed(self, text: str) -> str:
        if text in ERRORS:
            return "error"
        if text.startswith("("):
            parts = split_list(text[1:-1])
            return f"({', '.join(map(self._write_typed, parts))})" if len(parts) > 1 else self._write_typed(parts[0])
        source, node = self._read_expression(text)
        return self.write_value(_read(source, node), _type_of(source, node))

    def list_functions(self, code: str) -> list[FunctionHead]:
        source = parse("code.go", "go", code)
        return [_head(source, node) for node in source.nodes("function_declaration")]

    def _read_expression(self, text: str) -> tuple[Source, Node]:
        source = parse("value.go", "go", f"{HEAD}{text.strip()}\n")
        values = list(source.nodes("var_spec"))
        listed = values[0].child_by_field_name("value") if len(values) == 1 else None
        if (
            source.root.has_error
            or source.root.named_child_count != 2
            or listed is None
            or listed.named_child_count != 1
        ):
            raise ValueError("not one expression")
        return source, listed.named_children[0]


def split_list(text: str) -> list[str]:
    """At commas outside of brackets and strings."""
    parts, depth, quote, start = list[str](), 0, "", 0
    for at, sign in enumerate(text):
        if quote:
            quote = "" if sign == quote and text[at - 1] != "\\" else quote
        elif sign in "'\"`":
            quote = sign
        elif sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
        elif sign == "," and not depth:
            parts.append(text[start:at].strip())
            start = at + 1
    return [*parts, text[start:].strip()]


def _type_of(source: Source, node: Node) -> str:
    match node.type:
        case "composite_literal" | "type_conversion_expression":
            written = node.child_by_field_name("type")
            return "".join(source.text(written).split()) if written else ""
        case "unary_expression" if source.text(node).startswith("&"):
            return f"&{_type_of(source, node.named_children[-1])}"
        case "call_expression":
            function = node.child_by_field_name("function")
            return source.text(function) if function else ""
    return ""


def _read(source: Source, node: Node) -> object:
    reader = READERS.get(node.type)
    if reader is None:
        raise ValueError(f"{node.type} is no literal")
    return reader(source, node)


def _read_integer(source: Source, node: Node) -> int:
    text = source.text(node).replace("_", "")
    return int(text, 8) if re.fullmatch(r"0\d+", text) else int(text, 0)


def _read_rune(source: Source, node: Node) -> int:
    body = source.text(node)[1:-1]
    return ord(decode_escape(body) if body.startswith("\\") else body)


def _read_piece(source: Source, node: Node) -> str:
    text = source.text(node)
    return decode_escape(text) if node.type == "escape_sequence" else text


def _read_signed(source: Source, node: Node) -> object:
    sign, value = source.text(node)[:1], _read(source, node.named_children[-1])
    if sign == "&" and isinstance(value, list | dict):
        return value
    if sign in "+-" and isinstance(value, int | float) and not isinstance(value, bool):
        return -value if sign == "-" else value
    raise ValueError("no literal")


def _read_composite(source: Source, node: Node) -> object:
    body = node.child_by_field_name("body")
    if body is None:
        raise ValueError("no literal")
    return _read_body(source, body, keyed=_type_of(source, node).startswith("map["))


def _read_body(source: Source, node: Node, *, keyed: bool = False) -> object:
    items = [child for child in node.named_children if child.type != "comment"]
    if not items:
        return {} if keyed else []
    if all(item.type == "keyed_element" for item in items):
        pairs = [[child.named_children[0] for child in item.named_children] for item in items]
        return {_read_key(source, key): _read(source, value) for key, value in pairs}
    if any(item.type == "keyed_element" for item in items):
        raise ValueError("no plain literal")
    return [_read(source, item.named_children[0]) for item in items]


def _read_key(source: Source, node: Node) -> str | int | float | bool:
    if node.type == "identifier":
        return source.text(node)
    value = _read(source, node)
    if not isinstance(value, str | int | float):
        raise ValueError("no plain key")
    return value


def _read_conversion(source: Source, node: Node) -> object:
    """`int64(3)`, `[]byte("ab")`."""
    kind = _type_of(source, node)
    operand = node.child_by_field_name("operand")
    if operand is None:
        given = node.child_by_field_name("arguments")
        if given is None or given.named_child_count != 1 or not BASIC.match(kind):
            raise ValueError("a call is no literal")
        operand = given.named_children[0]
    elif kind not in ("[]byte", "[]rune"):
        raise ValueError("no plain conversion")
    return _read(source, operand)


def _head(source: Source, node: Node) -> FunctionHead:
    named, given = node.child_by_field_name("name"), node.child_by_field_name("parameters")
    name, found = source.text(named) if named else "", list[Parameter]()
    if node.child_by_field_name("type_parameters"):
        return FunctionHead(name, None, generic=True)
    for spot in given.named_children if given else ():
        written = spot.child_by_field_name("type")
        names = [source.text(child) for child in spot.named_children if child.type == "identifier"]
        if not names:
            return FunctionHead(name, None)
        found += [Parameter(each, "".join(source.text(written).split()) if written else "") for each in names]
    return FunctionHead(name, tuple(found))


READERS: dict[str, Callable[[Source, Node], object]] = {
    "int_literal": _read_integer,
    "float_literal": lambda source, node: float(source.text(node).replace("_", "")),
    "interpreted_string_literal": lambda source, node: "".join(_read_piece(source, c) for c in node.named_children),
    "raw_string_literal": lambda source, node: source.text(node)[1:-1],
    "rune_literal": _read_rune,
    "true": lambda source, node: True,
    "false": lambda source, node: False,
    "nil": lambda source, node: NIL,
    "parenthesized_expression": lambda source, node: _read(source, node.named_children[0]),
    "unary_expression": _read_signed,
    "composite_literal": _read_composite,
    "literal_value": _read_body,
    "type_conversion_expression": _read_conversion,
    "call_expression": _read_conversion,
}
