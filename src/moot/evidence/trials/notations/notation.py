"""What a notation can do."""

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from moot.core.types import Language

ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "a": "\a", "0": "\0"}
HEXADECIMAL = re.compile(r"[xuU]\{?([0-9a-fA-F]+)\}?$")
GOES_ON = re.compile(r"\w|\s*(?:[+*/%^<>]|=|-\s*[\d(]|\.\d|\[)")
"""What follows a literal if it is only the beginning of an expression."""


@dataclass(frozen=True)
class CallParts:
    name: str
    values: tuple[object, ...]
    types: tuple[str, ...] = ()
    """As written, where the language writes them: `[]int`."""
    keywords: str = ""
    """As written."""


@dataclass(frozen=True)
class Parameter:
    name: str
    type: str = ""


@dataclass(frozen=True)
class FunctionHead:
    """A function at top level; `parameters` is None if they cannot be filled in by position."""

    name: str
    parameters: tuple[Parameter, ...] | None
    generic: bool = False


@dataclass(frozen=True)
class Special:
    """A value that plain data has no word for: `undefined`, `new Set([1])`, an error of Go."""

    kind: str
    items: tuple[object, ...] = ()


class Notation(ABC):
    language: ClassVar[Language]
    sample: ClassVar[str]
    """A test as this language writes it, for a function `f`."""
    advice: ClassVar[str] = ""
    """How to write values, for prompts."""

    @abstractmethod
    def read_call(self, text: str) -> CallParts | None:
        """None unless it is one call and all its arguments are literals."""

    @abstractmethod
    def read_value(self, text: str) -> object:
        """Raises `ValueError`."""

    @abstractmethod
    def write_value(self, value: object, kind: str = "") -> str:
        """`kind`: the type to write, where the language writes one."""

    @abstractmethod
    def list_functions(self, code: str) -> list[FunctionHead]: ...

    @abstractmethod
    def find_leading(self, text: str) -> str | None:
        """The literal at the beginning of a text, in canonical form."""

    @property
    def pattern(self) -> str:
        return self.sample.replace("f(2)", "call").replace("4", "value")

    def write_call(self, parts: CallParts) -> str:
        types = parts.types or ("",) * len(parts.values)
        written = ", ".join(self.write_value(value, kind) for value, kind in zip(parts.values, types, strict=True))
        return f"{parts.name}({written})"

    def unify_call(self, text: str) -> str | None:
        """The call in canonical form."""
        parts = self.read_call(text)
        return self.write_call(parts) if parts else None


def find_closing(text: str, opening: int) -> int | None:
    """The position after the closing bracket, ignoring strings."""
    depth, quote = 0, ""
    at = opening
    while at < len(text):
        sign = text[at]
        if quote:
            at += sign == "\\"
            quote = "" if sign == quote else quote
        elif sign in "'\"":
            quote = sign
        elif sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1
    return None


def decode_escape(text: str) -> str:
    r"""`\n`, `\x41`, `\u{1f600}`: the character that it stands for."""
    body = text.removeprefix("\\")
    if found := HEXADECIMAL.match(body):
        return chr(int(found[1], 16))
    return ESCAPES.get(body, body)
