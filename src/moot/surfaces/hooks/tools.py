"""What a tool call is about to do: its route, and the words for it."""

import os
import re
from typing import NamedTuple

from moot.routing.answer import Route, Sight, action
from moot.routing.command import command_route
from moot.routing.patterns import names
from moot.routing.secrets import place_sight, secret_sights
from moot.routing.statements import sql_sights
from moot.routing.tasks import CHANGES, DEPLOYS, DESTROYS, READS, SECURES, parts
from moot.surfaces.hooks.wire import BadInput, HookCall

EDITS = frozenset(("Write", "Edit", "MultiEdit", "NotebookEdit"))
LOOKS = names("""
    Glob Grep LS TodoWrite TodoRead WebSearch Task Agent BashOutput KillShell KillBash ExitPlanMode
    EnterPlanMode AskUserQuestion Skill SlashCommand ListMcpResourcesTool ReadMcpResourceTool ToolSearch
""")
"""Tools that change nothing themselves; what a subagent does comes by here again, tool by tool."""
LONGEST_CONTEXT = 4000
READ_WORDS = READS | {"find", "fetch", "read", "resolve", "count", "browse", "snapshot", "screenshot", "navigate"}
WRITE_WORDS = CHANGES | {"write", "insert", "post", "comment", "fork", "close", "execute", "click", "fill", "append"}


class Deed(NamedTuple):
    route: Route
    action: str
    """In words: what is debated, counted and logged."""
    context: str = ""


def deed_of(call: HookCall) -> Deed:
    command = call.given.get("command") or call.given.get("cmd")
    if call.tool == "Bash" or (isinstance(command, str) and call.tool not in EDITS):
        if not isinstance(command, str) or not command.strip():
            raise BadInput(f"the call of {call.tool} has no command")
        about = call.given.get("description")
        return Deed(
            command_route(command), command, f"It is said to: {about}" if isinstance(about, str) and about else ""
        )
    if not call.tool:
        raise BadInput("the call names no tool")
    if call.tool in EDITS:
        return edit(call)
    if call.tool in ("Read", "NotebookRead"):
        path = _path(call)
        return Deed(action([Sight("read"), *secret_sights("cat", [path], [])]), f"read the file {path}")
    if call.tool == "WebFetch":
        return fetch(str(call.given.get("url", "")))
    if call.tool in LOOKS:
        return Deed(action([Sight("read")]), call.tool)
    return other(call)


def edit(call: HookCall) -> Deed:
    path = _path(call)
    sights = [place_sight(path)]
    if path.startswith(("/", "~", "../")) and sights[0].level == "low" and not path.startswith(("/tmp/", "/var/tmp/")):
        sights.append(Sight("medium", "scope", path, f"{path} lies outside the project"))
    text = next((v for k in ("new_string", "content", "new_source") if isinstance(v := call.given.get(k), str)), "")
    verb = "write the file" if call.tool == "Write" else "edit the file"
    return Deed(action(sights), f"{verb} {path}", f"The new text:\n{text[:LONGEST_CONTEXT]}" if text else "")


def _path(call: HookCall) -> str:
    """The path as seen from the project."""
    given = str(call.given.get("file_path") or call.given.get("notebook_path") or call.given.get("path") or "")
    if given.startswith("/") and call.folder.startswith("/"):
        near = os.path.relpath(os.path.normpath(given), os.path.normpath(call.folder))
        return os.path.normpath(given) if near.startswith("..") else near
    return os.path.normpath(given) if given else ""


def fetch(url: str) -> Deed:
    inside = re.match(r"https?://(?:169\.254\.169\.254|metadata\.google\.internal)", url, re.IGNORECASE)
    seen = Sight("high", "security", url, "it asks the machine for its credentials") if inside else Sight("read")
    return Deed(action([seen]), f"fetch {url}")


def other(call: HookCall) -> Deed:
    """Tools of MCP servers and tools nobody has told us about: their names say what they do."""
    name = call.tool.rsplit("__", 1)[-1]
    found = set(parts(name.replace("_", " ")))
    statement = next((v for k in ("sql", "query", "statement") if isinstance(v := call.given.get(k), str)), "")
    said = f"call the tool {call.tool}" + (f" with {statement}" if statement else "")
    if statement and ("sql" in call.given or (re.match(r"\s*(?:\w+\s+){1,3}", statement) and _looks_sql(statement))):
        return Deed(action(sql_sights(statement)), said)
    for words, level, group, why in ROWS:
        if found & words:
            sight = Sight(level, group, call.tool, f"the tool {call.tool} {why}" if why else "")  # type: ignore[arg-type]
            return Deed(action([sight]), said, _arguments(call))
    return Deed(action([Sight("low")]), said, _arguments(call))


ROWS: tuple[tuple[frozenset[str], str, str, str], ...] = (
    (DESTROYS | {"kill"}, "high", "destructive", "takes something away"),
    (DEPLOYS | {"merge"}, "high", "deployment", "changes what others get"),
    (SECURES, "high", "security", "is about credentials or rights"),
    (WRITE_WORDS, "medium", "change", "changes something others may use"),
    (READ_WORDS, "read", "", ""),
)


def _looks_sql(text: str) -> bool:
    return bool(
        re.match(r"\s*(?:select|insert|update|delete|drop|alter|create|truncate|with|grant|explain)\b", text, re.I)
    )


def _arguments(call: HookCall) -> str:
    shown = ", ".join(f"{key}={str(value)[:200]!r}" for key, value in list(call.given.items())[:8])
    return f"Its arguments: {shown}" if shown else ""
