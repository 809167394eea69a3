"""Input fields by kind: code, tests, text, numbers, choices."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from moot.core.protocol import Option
from moot.core.types import Code, Tests
from moot.edge.files.sources import Gathered, Origins, from_text, parse_language, read_code, read_tests

Kind = Literal["code", "tests", "text", "flag", "whole", "number", "choice", "words", "pairs", "data"]
KINDS: Mapping[Any, Kind] = {Code: "code", Tests: "tests", str: "text", bool: "flag", int: "whole", float: "number"}


@dataclass(frozen=True)
class InputField:
    name: str
    kind: Kind
    info: FieldInfo
    option: Option

    @property
    def required(self) -> bool:
        return self.info.is_required()

    @property
    def flag(self) -> str:
        return self.option.flag or f"--{self.name.replace('_', '-')}"

    @property
    def help(self) -> str:
        said = self.option.help or self.info.description or self.name.replace("_", " ")
        return said if self.option.help else f"{said[:1].upper()}{said[1:].rstrip('.')}."


def fields_of(kind: type[BaseModel]) -> list[InputField]:
    """The fields that a caller gives, in order."""
    found = [InputField(name, _kind(info.annotation), info, _option(info)) for name, info in kind.model_fields.items()]
    return [each for each in found if not each.option.derived]


def options_in(rules: type[BaseModel]) -> list[InputField]:
    """The rules that have a flag."""
    return [each for each in fields_of(rules) if each.option != Option()]


def _option(info: FieldInfo) -> Option:
    return next((each for each in info.metadata if isinstance(each, Option)), Option())


def _kind(annotation: Any) -> Kind:
    if get_origin(annotation) is Annotated:
        return _kind(get_args(annotation)[0])
    if choices_of(annotation):
        return "choice"
    if get_origin(annotation) in (Union, UnionType):
        inner = [each for each in get_args(annotation) if each is not NoneType]
        return _kind(inner[0]) if len(inner) == 1 else "data"
    if get_origin(annotation) is dict and choices_of(get_args(annotation)[0]):
        return "pairs"
    if get_origin(annotation) in (tuple, list) and get_args(annotation)[0] is str:
        return "words"
    return KINDS.get(annotation, "data")


def choices_of(annotation: Any) -> tuple[Any, ...]:
    """The values of a `Literal`, or of a union of them; else empty."""
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    if get_origin(annotation) not in (Union, UnionType):
        return ()
    parts = [choices_of(each) for each in get_args(annotation) if each is not NoneType]
    return tuple(dict.fromkeys(value for part in parts for value in part)) if all(parts) else ()


# --- reading values


Source = str | Path | Sequence[Path] | Code


def gather_code(source: Source, language: str | None) -> Gathered:
    """Code from a text, one or several paths, or a `Code`."""
    match source:
        case Code():
            return Gathered(source)
        case str():
            return Gathered(Code(files=(from_text(source, parse_language(language)),)))
        case Path():
            return read_code([str(source)], language, None, bytes)
        case _:
            return read_code([str(path) for path in source], language, None, bytes)


def gather_tests(source: str | Path | Tests) -> Tests:
    """Tests from a path, or the tests themselves."""
    return source if isinstance(source, Tests) else read_tests(str(source))


def paths_of(source: Source) -> Sequence[Path]:
    return () if isinstance(source, str | Code) else (source,) if isinstance(source, Path) else source


@dataclass(frozen=True)
class Material:
    """Field values with their files read, and the paths of these files."""

    values: dict[str, Any]
    origins: Origins
    paths: tuple[str, ...] = ()


def read_material(kind: type[BaseModel], given: Mapping[str, Any], language: str | None = None) -> Material:
    """The values of a local caller: paths are read, everything else is kept."""
    values, origins, paths = dict(given), dict[str, tuple[str, str]](), list[str]()
    for each in fields_of(kind):
        value = given.get(each.name)
        if value is None or each.kind not in ("code", "tests"):
            continue
        if each.kind == "tests":
            values[each.name] = gather_tests(value)
        else:
            gathered = gather_code(value, language)
            values[each.name] = gathered.code
            origins |= gathered.origins
        if not isinstance(value, Code | Tests) and not (each.kind == "code" and isinstance(value, str)):
            paths += [str(path) for path in (value if isinstance(value, list | tuple) else [value])]
    return Material(values, origins, tuple(paths))
