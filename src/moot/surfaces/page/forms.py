"""The form that starts a session, with the fields of the API's request."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from moot.core.gates import GateRules
from moot.protocols import AnyProtocol
from moot.surfaces.extensions import find_extension
from moot.surfaces.server.client_rights import MACHINE_RULES
from moot.surfaces.server.requests import Budget
from moot.surfaces.session.input_fields import fields_of
from moot.surfaces.session.request_bodies import ANY_FILES, body_of
from moot.surfaces.session.settings import Settings

Control = Literal["line", "text", "flag", "number", "choice", "lines", "files", "group", "data"]
PLAIN: Mapping[Any, Control] = {str: "text", bool: "flag", int: "number", float: "number"}
SHORT = 300
"""Texts up to this length are one line."""
GATES = ("enabled", "points", "timeout", "on_timeout", "answers")


@dataclass(frozen=True)
class FormField:
    name: str
    control: Control
    help: str
    required: bool = False
    default: str = ""
    choices: tuple[str, ...] = ()
    whole: bool = False
    fields: tuple["FormField", ...] = ()
    """The fields of one entry of a list."""

    @property
    def label(self) -> str:
        return self.name.replace("_", " ").capitalize()


@dataclass(frozen=True)
class StartForm:
    protocol: AnyProtocol
    input: tuple[FormField, ...]
    rules: tuple[FormField, ...]
    gates: tuple[FormField, ...]
    budget: tuple[FormField, ...]
    models: str
    """The models of the server's settings."""

    @property
    def cap(self) -> str:
        """The maximum cost, as far as the settings tell."""
        said = {field.name: field.default for field in self.budget if field.default}
        calls = f"{said['max_calls']} calls" if "max_calls" in said else ""
        return " and ".join(filter(None, (calls, f"${said['max_usd']}" if "max_usd" in said else "")))


def build_form(protocol: AnyProtocol, settings: Settings) -> StartForm:
    body = find_extension(protocol.name).body or body_of(protocol)
    rules = {name: value for name, value in settings.rules(protocol.name).items() if name not in MACHINE_RULES}
    gates = settings.gates(protocol.name).model_dump(mode="json", include=set(GATES))
    return StartForm(
        protocol=protocol,
        input=tuple(sorted(list_fields(body), key=lambda field: not field.required)),
        rules=tuple(list_fields(protocol.rules, rules)),
        gates=tuple(list_fields(GateRules, gates)),
        budget=tuple(list_fields(Budget, settings.limits().model_dump(mode="json", include=set(Budget.model_fields)))),
        models=", ".join(settings["model"]),
    )


def list_fields(kind: type[BaseModel], values: Mapping[str, Any] | None = None) -> Iterator[FormField]:
    """`values`: defaults; fields without one are left out."""
    for each in fields_of(kind):
        if values is not None and each.name not in values:
            continue
        default = values[each.name] if values is not None else each.info.default
        control, annotation = _control(each.info.annotation)
        if control == "text" and _longest(each.info.metadata) <= SHORT:
            control = "line"
        yield FormField(
            each.name,
            control,
            each.help if each.info.description not in (None, ANY_FILES) else "",
            each.required,
            _show(default, control),
            tuple(map(str, get_args(annotation))) if control == "choice" else (),
            annotation is int,
            tuple(list_fields(annotation)) if control == "group" else (),
        )


def _longest(metadata: list[Any]) -> int:
    """The maximum length; unlimited text counts as long."""
    return next((each.max_length for each in metadata if hasattr(each, "max_length")), SHORT + 1)


def _control(annotation: Any) -> tuple[Control, Any]:
    """The control for a type, and the type without its wrappers."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _control(inner[0])
    if origin in (Union, UnionType):
        kinds = [_control(each) for each in inner if each is not NoneType]
        plain = [each for each in kinds if each[0] == "lines"]
        return (plain or kinds)[0] if len(kinds) == 1 or plain else ("data", annotation)
    if origin is Literal:
        return "choice", annotation
    if origin in (tuple, list) and inner:
        first = get_args(inner[0])[0] if get_origin(inner[0]) is Annotated else inner[0]
        if first is str:
            return "lines", first
        return ("group", first) if isinstance(first, type) and issubclass(first, BaseModel) else ("data", annotation)
    if origin is dict and inner == (str, str):
        return "files", annotation
    return PLAIN.get(annotation, "data"), annotation


def _show(default: Any, control: Control) -> str:
    if default in (None, PydanticUndefined, "", (), {}, []):
        return ""
    if control == "lines":
        return "\n".join(map(str, default))
    if control == "flag":
        return "true" if default else ""
    return json.dumps(default, default=str) if control == "data" else str(default)
