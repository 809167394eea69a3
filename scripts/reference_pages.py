"""Write docs/http.md from the server's OpenAPI document and docs/schema.md from the store's tables."""

import sys
from pathlib import Path
from typing import Any

from sqlalchemy import Column, Table

from moot.edge.store.tables import metadata
from moot.surfaces.server.app import build_app

DOCS = Path(__file__).resolve().parents[1] / "docs"
MADE = "This page is made from the code by `make docs`."
SESSIONS = "debate_sessions"
METHODS = ("get", "post", "put", "patch", "delete")
MEANT = {
    "debate_sessions": "a session: what was asked, its status and its outcome",
    "debate_turns": "a reply of a seat, raw and parsed",
    "code_versions": "a version of the code, with its diff",
    "debate_logs": "an action: tokens, time, error",
    "journal": "an entry of the hash chain, which resume reads and audit checks",
    "gates": "a question to a person, and the decision",
    "notices": "a message to a webhook about a gate",
    "lessons": "what earlier sessions learnt",
    "agent_records": "how often an agent was right",
    "tokens": "an access token of the server, as a digest",
    "tombstones": "what is left of a deleted session",
    "workers": "a worker of a fleet",
    "model_leases": "a place in a model's limit of parallel calls",
}


def write_http() -> str:
    document = build_app(None).openapi()
    schemas = document.get("components", {}).get("schemas", {})
    lines = ["# HTTP reference", "", f"{MADE} [The server](server.md) explains tokens, events and limits.", ""]
    for path, methods in document["paths"].items():
        for method in METHODS:
            if method in methods:
                lines += describe_operation(path, method, methods[method])
    lines += [*describe_errors(document["paths"]), "## Bodies", ""]
    for name in sorted(schemas):
        lines += describe_schema(name, schemas[name])
    return "\n".join(lines).rstrip() + "\n"


def describe_operation(path: str, method: str, operation: dict[str, Any]) -> list[str]:
    lines = [f"## {method.upper()} {path}", ""]
    if summary := operation.get("summary"):
        lines += [f"{summary}.", ""]
    if given := operation.get("parameters"):
        lines += ["| parameter | in | type | |", "|---|---|---|---|"]
        lines += [
            f"| `{one['name']}` | {one['in']} | {describe_type(one.get('schema', {}))} | {cell(one)} |" for one in given
        ]
        lines.append("")
    body = operation.get("requestBody", {}).get("content", {})
    for kind, content in body.items():
        lines += [f"Body: {describe_type(content.get('schema', {}))} (`{kind}`).", ""]
    good = [(status, answer) for status, answer in operation["responses"].items() if status < "400"]
    answers = [f"{status}: {answer.get('description', '').rstrip('.').lower()}" for status, answer in good]
    return [*lines, f"Answers {'; '.join(answers)}.", ""]


def describe_errors(paths: dict[str, Any]) -> list[str]:
    """Every operation may answer with these."""
    found: dict[str, str] = {}
    for methods in paths.values():
        for operation in methods.values():
            found |= {code: one.get("description", "") for code, one in operation["responses"].items() if code >= "400"}
    rows = [f"| {status} | {found[status]} |" for status in sorted(found)]
    return ["## Errors", "", "| status | meaning |", "|---|---|", *rows, ""]


def describe_schema(name: str, schema: dict[str, Any]) -> list[str]:
    lines = [f"### {name}", ""]
    if about := schema.get("description"):
        lines += [" ".join(about.split()), ""]
    fields = schema.get("properties", {})
    if not fields:
        return [*lines, f"{describe_type(schema)}.", ""]
    required = set(schema.get("required", ()))
    lines += ["| field | type | |", "|---|---|---|"]
    for field, value in fields.items():
        star = ", required" if field in required else ""
        lines.append(f"| `{field}` | {describe_type(value)}{star} | {cell(value)} |")
    return [*lines, ""]


def describe_type(schema: dict[str, Any]) -> str:
    if reference := schema.get("$ref"):
        name = reference.rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    for word in ("anyOf", "oneOf", "allOf"):
        if word in schema:
            return " or ".join(dict.fromkeys(describe_type(one) for one in schema[word]))
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    if schema.get("type") == "array":
        return f"list of {describe_type(schema.get('items', {}))}"
    if schema.get("type") == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"map to {describe_type(schema['additionalProperties'])}"
    return str(schema.get("type", "any"))


def cell(value: dict[str, Any]) -> str:
    about = " ".join(str(value.get("description") or "").split()).replace("|", "\\|")
    return f"deprecated; {about}" if value.get("deprecated") else about


def write_schema() -> str:
    tables = sorted(
        metadata.tables.values(), key=lambda table: list(MEANT).index(table.name) if table.name in MEANT else 99
    )
    lines = ["# Database schema", "", f"{MADE} [Store](store.md) says where the database is.", ""]
    lines += ["[Sessions](sessions.md#tables) explains the columns that people ask about.", ""]
    links = {table.name: list_links(table) for table in tables}
    lines += draw_tables([table for table in tables if links[table.name] or table.name == SESSIONS], links)
    alone = ", ".join(f"`{table.name}`" for table in tables if not links[table.name] and table.name != SESSIONS)
    lines += ["The diagram has the keys only. A dotted line is a reference that the database does not enforce."]
    lines += [f"Not drawn, because they belong to no session: {alone}.", ""]
    for table in tables:
        lines += describe_table(table)
    return "\n".join(lines).rstrip() + "\n"


def list_links(table: Table) -> list[str]:
    """Its lines to other tables."""
    keys = sorted(table.foreign_keys, key=lambda key: key.parent.name)
    links = [f"{key.column.table.name} ||--o{{ {table.name} : {key.parent.name}" for key in keys]
    loose = "session_id" in table.columns and not table.columns["session_id"].foreign_keys
    return [*links, f"{SESSIONS} ||..o{{ {table.name} : session_id"] if loose else links


def draw_tables(tables: list[Table], links: dict[str, list[str]]) -> list[str]:
    lines = [
        "```mermaid",
        "erDiagram",
        "    direction LR",
        *(f"    {link}" for table in tables for link in links[table.name]),
    ]
    for table in tables:
        keys = [column for column in table.columns if mark(column) or column.name == "session_id"]
        columns = [f"        {kind_of(column)} {column.name}{mark(column)}" for column in keys]
        lines += [f"    {table.name} {{", *columns, "    }"]
    return [*lines, "```", ""]


def describe_table(table: Table) -> list[str]:
    about = f"A row for each {MEANT[table.name].removeprefix('a ').removeprefix('an ')}." if table.name in MEANT else ""
    lines = [f"## {table.name}", "", *([about, ""] if about else []), "| column | type | |", "|---|---|---|"]
    for column in table.columns:
        notes = ["key"] if column.primary_key else []
        notes += [f"→ `{key.column.table.name}.{key.column.name}`" for key in column.foreign_keys]
        notes += [] if column.nullable or column.primary_key else ["required"]
        lines.append(f"| `{column.name}` | {kind_of(column)} | {', '.join(notes)} |")
    return [*lines, ""]


def kind_of(column: "Column[Any]") -> str:
    kind = getattr(column.type, "impl_instance", column.type)
    return str(getattr(kind, "__visit_name__", type(kind).__name__)).lower()


def mark(column: "Column[Any]") -> str:
    return " PK" if column.primary_key else " FK" if column.foreign_keys else ""


PAGES = {"http.md": write_http, "schema.md": write_schema}

if __name__ == "__main__":
    for name, write in PAGES.items():
        if len(sys.argv) < 2 or name in sys.argv[1:]:
            (DOCS / name).write_text(write(), encoding="utf-8")
