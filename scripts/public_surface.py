"""Keep tests/data/public_surface.json, the list of what a program may rely on: `python scripts/public_surface.py`.

It adds what is new. What is gone stays listed, and a test fails, until `--breaking` drops it; that takes a new major
version in src/moot/__init__.py. docs/stability.md says what the list promises.
"""

import dataclasses
import inspect
import json
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

import moot
from moot.core.events import Event
from moot.protocols import PROTOCOLS
from moot.surfaces.cli.app import load_entry
from moot.surfaces.cli.menu import LISTED, SHORT
from moot.surfaces.mcp.tools import SessionView, list_tools
from moot.surfaces.server.app import build_app
from moot.surfaces.session.settings import all_settings

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "tests" / "data" / "public_surface.json"
EXTENDING = ROOT / "docs" / "extending.md"
IMPORTED = re.compile(r"^from (moot[\w.]+) import (.+)$", re.MULTILINE)
EXIT_CODE = re.compile(r"(\d+)(?=:)|(?<=, )(\d+)(?= inconclusive)")

Surface = dict[str, list[str]]


def list_surface() -> Surface:
    found = {
        "commands": list_commands(),
        "exit codes": [f"{p.name}: {code}" for p in PROTOCOLS.values() for code in find_codes(p.exit_codes)],
        "settings": [setting.key for setting in all_settings()],
        "result fields": [f"{p.name}: {path}" for p in PROTOCOLS.values() for path in list_fields(p.result)],
        "event fields": [
            f"{kind.__name__}: {name}"
            for kind in get_args(Event)
            for name, f in kind.model_fields.items()
            if not f.exclude
        ],
        "http": list_http(),
        "mcp": list_mcp(),
        "library": list_library(),
        "packages": list_package_contract(),
    }
    return {name: sorted(set(lines)) for name, lines in found.items()}


def find_codes(described: str) -> list[str]:
    return [first or second for first, second in EXIT_CODE.findall(described)]


def list_commands() -> list[str]:
    """Every command, by its full name and by its short one, with its options and arguments."""
    lines = []
    for name, entry in {**LISTED, **SHORT}.items():
        if entry.home:
            lines += list_options(name, load_entry(name, entry, []))
        for inner, each in entry.inside.items():
            lines += list_options(f"{name} {inner}", load_entry(inner, each, []))
            for deeper, most in each.inside.items():
                lines += list_options(f"{name} {inner} {deeper}", load_entry(deeper, most, []))
    return lines


def list_options(name: str, command: Any) -> list[str]:
    """Arguments by their number: their names are only shown."""
    arguments = sum(param.param_type_name == "argument" for param in command.params)
    lines = [name, *(f"{name} <{number + 1}>" for number in range(arguments))]
    lines += [f"{name} {flag}" for param in command.params for flag in list_flags(param)]
    for inner, each in getattr(command, "commands", {}).items():
        lines += list_options(f"{name} {inner}", each)
    return lines


def list_flags(param: Any) -> list[str]:
    return [flag for flag in (*param.opts, *param.secondary_opts) if flag.startswith("-") and flag != "--help"]


def list_fields(model: Any) -> Iterator[str]:
    """The paths of its JSON: `votes[].ballots[].voter`."""
    schema = model.model_json_schema(mode="serialization")
    yield from walk(schema, schema.get("$defs", {}), "", ())


def walk(part: dict[str, Any], known: dict[str, Any], path: str, within: tuple[str, ...]) -> Iterator[str]:
    if name := part.get("$ref", "").rpartition("/")[2]:
        if name not in within:
            yield from walk(known[name], known, path, (*within, name))
        return
    for word in ("anyOf", "oneOf", "allOf"):
        for each in part.get(word, ()):
            yield from walk(each, known, path, within)
    if isinstance(part.get("items"), dict):
        yield from walk(part["items"], known, f"{path}[]", within)
    if isinstance(part.get("additionalProperties"), dict):
        yield from walk(part["additionalProperties"], known, f"{path}{{}}", within)
    for field, value in part.get("properties", {}).items():
        below = f"{path}.{field}".lstrip(".")
        yield below
        yield from walk(value, known, below, within)


def list_http() -> list[str]:
    """Requests with their parameters, and the fields of every body that is named in the document."""
    document = build_app(None).openapi()
    lines = []
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            request = f"{method.upper()} {path}"
            given = [one["name"] for one in operation.get("parameters", ()) if one["in"] != "path"]
            lines += [request, *(f"{request} ?{name}" for name in given)]
    for name, schema in document["components"]["schemas"].items():
        lines += [f"{name}: {field}" for field in schema.get("properties", {})]
    return lines


def list_mcp() -> list[str]:
    tools = list_tools(local=True)
    inputs = [f"{tool.name} {field}" for tool in tools for field in tool.input_schema.get("properties", {})]
    return [tool.name for tool in tools] + inputs + [f"→ {field}" for field in SessionView.model_fields]


def list_library() -> list[str]:
    """What `from moot import …` gives, with parameters or fields."""
    return [line for name in moot.__all__ for line in describe_name(name, getattr(moot, name))]


def list_package_contract() -> list[str]:
    """What the page about packages imports."""
    lines = []
    for module, names in IMPORTED.findall(EXTENDING.read_text("utf-8")):
        for name in names.split(", "):
            lines += describe_name(f"{module}.{name}", getattr(import_module(module), name))
    return lines


def describe_name(name: str, given: Any) -> list[str]:
    if isinstance(given, type):
        return [name, *(f"{name}: {member}" for member in list_members(given))]
    if callable(given):
        return [name, *(f"{name}({parameter})" for parameter in inspect.signature(given).parameters)]
    return [name]


def list_members(kind: type) -> list[str]:
    if hasattr(kind, "model_fields"):
        return list(kind.model_fields)
    fields = [field.name for field in dataclasses.fields(kind)] if dataclasses.is_dataclass(kind) else []
    return fields + [name for name, value in vars(kind).items() if inspect.isfunction(value) and name[0] != "_"]


def find_gone(kept: Surface, now: Surface) -> list[str]:
    return [f"{part}: {line}" for part, lines in kept.items() for line in lines if line not in set(now.get(part, ()))]


def major(version: str) -> int:
    return int(version.partition(".")[0])


def main(arguments: list[str]) -> int:
    file = json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else {"version": moot.__version__, "surface": {}}
    kept, now = file["surface"], list_surface()
    gone = find_gone(kept, now)
    if gone and arguments != ["--breaking"]:
        sys.stderr.write("gone, but kept in the list (--breaking drops it):\n" + "".join(f"  {one}\n" for one in gone))
        now = {part: sorted({*now.get(part, ()), *kept.get(part, ())}) for part in {**now, **kept}}
    elif gone and major(moot.__version__) <= major(file["version"]):
        sys.stderr.write(f"a breaking change needs a major version above {file['version']}\n")
        return 1
    # What is gone still holds for the version that had it, until it is dropped.
    version = file["version"] if gone and arguments != ["--breaking"] else moot.__version__
    text = json.dumps({"version": version, "surface": now}, indent=1, ensure_ascii=False)
    KEPT.write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
