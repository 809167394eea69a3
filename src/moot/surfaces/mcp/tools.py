"""Tool definitions: one per protocol, and three about sessions. Every definition costs tokens in each conversation, so
schemas hold types and descriptions only."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from mcp_types import Tool, ToolAnnotations
from pydantic import ValidationError

from moot.core.errors import UsageError
from moot.core.types import Value
from moot.edge.files.sources import decode_source
from moot.protocols import PROTOCOLS, AnyProtocol
from moot.surfaces.extensions import find_extension
from moot.surfaces.server.client_rights import MACHINE_RULES
from moot.surfaces.server.requests import Begin, begin_body
from moot.surfaces.session.input_fields import fields_of
from moot.surfaces.session.request_bodies import ANY_FILES, body_of, check_path

LONGEST_WAIT = 50
"""Seconds; some clients time out after a minute."""
SIMPLE = ("flag", "whole", "number", "choice")
"""Kinds of rules listed in a schema."""
SELDOM = ("edition", "argue_below", "anew", "adjust", "episodes", "records", "search_files")
"""Rules that a call may set, but that are not worth their tokens in every conversation."""
KEPT = ("type", "description", "enum", "items", "properties", "required", "additionalProperties", "anyOf")
WAIT = {"type": "boolean", "description": "false: poll get_session"}
MAX_USD = {"type": "number", "description": "most to spend"}
SESSION = {"type": "string", "description": "session id"}
FILES = {"type": "object", "additionalProperties": {"type": "string"}}
FROM_PROJECT = "path -> text; empty: read the file"


SHOWN = {"session": "string", "status": "string", "verdict": "string", "caveats": "array", "report": "string"}
"""The fields of `SessionView` that every definition names. A client may find the others there, and `next`."""


class SessionView(Value):
    """A session as clients see it. Fields have no descriptions, because the schema is part of every tool."""

    session: str
    protocol: str
    status: Literal["running", "waiting", "paused", "completed", "failed", "cancelled"]
    verdict: str = ""
    caveats: tuple[str, ...] = ()
    report: str = ""
    next: str = ""
    result: dict[str, Any] | None = None


def list_tools(*, local: bool) -> list[Tool]:
    """`local`: the client is on this machine, so its files can be named."""
    view = object_schema({name: {"type": kind} for name, kind in SHOWN.items()}, "session", "status")
    harmless = ToolAnnotations(destructive_hint=False)
    made = [
        Tool(
            name=protocol.name,
            description=protocol.summary,
            input_schema=input_schema(protocol, local=local),
            output_schema=view,
            annotations=harmless,
        )
        for protocol in PROTOCOLS.values()
    ]
    wait = {"type": "integer", "description": f"seconds to wait for its end, at most {LONGEST_WAIT}"}
    full = {"type": "boolean", "description": "with the whole result as JSON"}
    failure = {
        "task": {"type": "string", "description": "the same words each time"},
        "error": {"type": "string"},
        "approach": {"type": "string", "description": "what was tried"},
    }
    return [
        *made,
        Tool(
            name="get_session",
            description="Where a session stands, and its report once it has ended (waiting: for a person).",
            input_schema=object_schema({"session": SESSION, "wait": wait, "full": full}, "session"),
            output_schema=view,
            annotations=ToolAnnotations(read_only_hint=True),
        ),
        Tool(
            name="approve_gate",
            description="Ask the user what a session waits for: a gate, questions, contested choices. You cannot.",
            input_schema=object_schema({"session": SESSION}, "session"),
            output_schema=view,
            annotations=harmless,
        ),
        Tool(
            name="report_failure",
            description="Count a failed attempt at a task. Says when to vet it, and when to stop and ask the user.",
            input_schema=object_schema(failure, "task", "error"),
            annotations=harmless,
        ),
    ]


def input_schema(protocol: AnyProtocol, *, local: bool) -> dict[str, Any]:
    """The input fields, the simple rules, and call options."""
    schema = shrink(body_type(protocol).model_json_schema())
    for name, field in schema["properties"].items():
        if is_files(field) and local:
            own_words = field["description"].removesuffix(ANY_FILES)
            schema["properties"][name] = {
                **field,
                "description": own_words + ("; " if own_words else "") + FROM_PROJECT,
            }
    rules = ", ".join(each.name for each in fields_of(protocol.rules) if is_offered(each.name, each.kind))
    own = {"rules": {"type": "object", "description": rules}, "max_usd": MAX_USD, "wait": WAIT}
    return {**schema, "properties": {**own, **schema["properties"]}}


def is_offered(name: str, kind: str) -> bool:
    return kind in SIMPLE and name not in (*MACHINE_RULES, *SELDOM)


def body_type(protocol: AnyProtocol) -> type[Value]:
    return find_extension(protocol.name).body or body_of(protocol)


def object_schema(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


def shrink(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema without titles, defaults and bounds, which the call checks anyway."""
    made: dict[str, Any] = _shrink(schema, schema.get("$defs", {}))
    return made


def _shrink(schema: Any, known: Mapping[str, Any]) -> Any:
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _shrink(known[schema["$ref"].rpartition("/")[2]], known)
    made = {key: value for key, value in schema.items() if key in KEPT and value is not False}
    if "anyOf" in made:
        choices = [each for each in made.pop("anyOf") if each != {"type": "null"}]
        small = [_shrink(each, known) for each in choices]
        made = {**made, **small[0]} if len(small) == 1 else {**made, "anyOf": small}
    if "properties" in made:
        made["properties"] = {name: _shrink(each, known) for name, each in schema["properties"].items()}
    for key in ("items", "additionalProperties"):
        if key in made:
            made[key] = _shrink(made[key], known)
    return made


def is_files(field: Mapping[str, Any]) -> bool:
    return all(field.get(key) == value for key, value in FILES.items())


# --- arguments of a call


def read_call(protocol: AnyProtocol, arguments: Mapping[str, Any], folder: Path | None) -> Begin:
    """The request of a call. `folder`: where named files are read from; None: nowhere."""
    fields = body_type(protocol).model_fields
    given = {name: value for name, value in arguments.items() if name in fields}
    own = {name: value for name, value in arguments.items() if name not in fields and name != "wait"}
    if strange := set(own) - {"rules", "max_usd"}:
        raise UsageError(f"{protocol.name} has no argument {min(strange)!r}; it has {', '.join(fields)}")
    if folder is not None:
        schema = shrink(body_type(protocol).model_json_schema())
        files = {name for name, each in schema["properties"].items() if is_files(each)}
        given = {name: read_files(value, folder) if name in files else value for name, value in given.items()}
    request: dict[str, Any] = {"protocol": protocol.name, "input": given}
    if own.get("rules") is not None:
        request["rules"] = own["rules"]
    if own.get("max_usd") is not None:
        request["budget"] = {"max_usd": own["max_usd"]}
    try:
        return begin_body(protocol).model_validate(request)
    except ValidationError as error:
        slips = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors(include_url=False)[:5]]
        raise UsageError("; ".join(slips)) from None


def read_files(given: Any, folder: Path) -> Any:
    if not isinstance(given, dict):
        return given
    return {path: read_project_file(path, folder) if text == "" else text for path, text in given.items()}


def read_project_file(path: str, folder: Path) -> str:
    """A file below the folder, with links resolved."""
    found = (folder / check_path(path)).resolve()
    if not found.is_relative_to(folder.resolve()) or not found.is_file():
        raise UsageError(f"there is no file {path!r} in the project {str(folder)!r}; give its text")
    try:
        data = found.read_bytes()
    except OSError as error:
        raise UsageError(f"{path!r} cannot be read: {error.strerror}") from None
    return decode_source(data, path) if data.strip() else ""
