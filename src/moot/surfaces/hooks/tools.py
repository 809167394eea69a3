"""What a tool call would do: its route and description. One table of tools for all clients."""

import os
import re
import shlex
from collections.abc import Mapping
from typing import NamedTuple

from moot.routing.answer import Route, Sight, action, guards
from moot.routing.command import command_route
from moot.routing.patterns import Lazy, names
from moot.routing.secrets import place_sight, secret_sights
from moot.routing.self_protection import DECIDES
from moot.routing.statements import sql_sights
from moot.routing.tasks import CHANGES, DEPLOYS, DESTROYS, READS, SECURES, parts
from moot.surfaces.hooks.places import is_own, own_sights
from moot.surfaces.hooks.wire import BadInput, HookCall

SHELLS = names(
    "bash shell local_shell exec_command unified_exec run_shell_command runterminalcommand run_in_terminal powershell"
)
WRITES = names("write write_file create_file create")
EDITS = names("""
    edit multiedit notebookedit replace replace_string_in_file multi_replace_string_in_file insert_edit_into_file
    edit_file editfiles edit_notebook_file strreplace search_replace str_replace_editor str_replace
""")
PATCHES = names("apply_patch applypatch")
DELETES = names("delete delete_file deletefile")
LOOKERS = names("read notebookread read_file readfile read_many_files view grep grep_search search_file_content")
FETCHES = names("webfetch web_fetch fetch_webpage fetch")
LOOKS = names("""
    glob ls todowrite todoread websearch task agent bashoutput killshell killbash exitplanmode enterplanmode
    askuserquestion skill slashcommand listmcpresourcestool readmcpresourcetool toolsearch
    list_directory list_dir google_web_search web_search file_search filesearch semantic_search codebase_search
    codebase get_errors problems write_todos update_plan manage_todo_list get_terminal_output runsubagent
    search_subagent taskoutput view_image semanticsearch readlints updatecurrentstep
""")
"""Tools that change nothing themselves; calls of subagents come through the hook again."""
PATHS = (
    "file_path", "filePath", "notebook_path", "notebookPath", "absolute_path", "target_file", "relative_workspace_path",
    "dir_path", "path", "paths", "files", "include", "include_pattern", "includePattern", "glob",
)  # fmt: skip
TEXTS = ("content", "contents", "new_string", "newString", "new_source", "newCode", "code", "file_text", "new_str")
PATCHED = re.compile(
    r"^[ \t]*\*\*\*[ \t]*(Add|Update|Delete)[ \t]+File:(.+)$|^[ \t]*\*\*\*[ \t]*Move[ \t]+to:(.+)$",
    re.MULTILINE | re.IGNORECASE,
)
MOST_FILES = 500
MOST_STRINGS = 1000
LONGEST_PATH = 4096
BARE = Lazy(r"(?:^|[;&|]\s*|\s)(?:\S*/)?(?:(?:ba|z|da|k|fi)?sh(?:\s+-[il]+)*|python[\d.]*(?:\s+-i)?|node|irb|lua)\s*$")
"""An interactive program. Codex can type into it without telling any hook."""
MCP = re.compile(r"mcp__|mcp_|MCP:", re.IGNORECASE)
LONGEST_CONTEXT = 4000
READ_WORDS = READS | {"find", "fetch", "read", "resolve", "count", "browse", "snapshot", "screenshot", "navigate"}
WRITE_WORDS = CHANGES | {"write", "insert", "post", "comment", "fork", "close", "execute", "click", "fill", "append"}


class Deed(NamedTuple):
    route: Route
    action: str
    """The description that is debated, counted and logged."""
    context: str = ""
    known: bool = True
    """False for an unknown tool."""
    notes: tuple[str, ...] = ()
    """What was found besides the command line: scripts it runs, what it would delete and how much."""


def deed_of(call: HookCall, env: Mapping[str, str]) -> Deed:
    if not call.tool:
        raise BadInput("the call names no tool")
    try:
        return _deed(call, env)
    except BadInput:
        raise
    except Exception as problem:  # unknown, so not taken for harmless
        why = f"cannot tell what it does: {type(problem).__name__}: {problem}"
        return Deed(
            action([Sight("medium", "unclear", call.tool, why)]), f"call the tool {call.tool}", _arguments(call)
        )


def _deed(call: HookCall, env: Mapping[str, str]) -> Deed:
    name = call.tool.lower()
    if name in SHELLS:
        return shell(call, env)
    for kinds, judge in KINDS:
        if name in kinds:
            return judge(call)
    if isinstance(call.given.get("command") or call.given.get("cmd"), str | list):
        return shell(call, env)
    return other(call)


def shell(call: HookCall, env: Mapping[str, str]) -> Deed:
    line = command_of(call)
    if not line:
        raise ValueError("it has no command that could be read")
    if line.lstrip().startswith("*** Begin Patch"):
        return patch(call)
    about = call.given.get("description") or call.given.get("explanation")
    said = f"It is said to: {about}" if isinstance(about, str) and about else ""
    route = command_route(line)
    if call.client == "codex" and BARE.search(line) and route.stakes == "low":
        why = "what is typed into it afterwards is not seen by any hook"
        return Deed(action([Sight("medium", "unclear", line[:80], why)]), line, said)
    if route.bypass and "/" not in line:  # most calls: no file is read and no module for it loaded
        return Deed(route, line, said)
    from pathlib import Path

    from moot.edge.command_inspection import look_at_command

    folder = os.path.join(os.path.abspath(call.folder or os.curdir), find_named_folder(call))
    here = command_route(f"cd {shlex.quote(os.path.realpath(folder))} && {line}")
    if guards(here) and not guards(route):  # `echo x >> settings.json`, inside `.claude`
        route = here
    if not route.bypass and not guards(route) and (own := own_sights(line, folder, env)):
        route = action(own)
    try:
        looked = look_at_command(line, Path(folder), env)
    except Exception as problem:
        why = f"the files it works with could not be read: {type(problem).__name__}: {problem}"
        unclear = Sight("medium", "unclear", line[:80], why)
        return Deed(route if route.stakes == "high" else action([unclear]), line, said, notes=(why,))
    return Deed(route if guards(route) else looked.route, line, said, notes=looked.notes)


def command_of(call: HookCall) -> str:
    """Everything that the call would run, as one text."""
    found = [call.given.get(key) for key in ("command", "cmd")]
    texts = [_line(each) if isinstance(each, list) else each for each in found]
    whole = "\n".join(text for text in texts if isinstance(text, str) and text.strip())
    words = call.given.get("args", call.given.get("arguments"))
    return f"{whole} {shlex.join(map(str, words))}" if whole and isinstance(words, list) else whole


def _line(words: list[object]) -> str:
    return str(words[0]) if len(words) == 1 else shlex.join(map(str, words))


def find_named_folder(call: HookCall) -> str:
    """The folder that the call names, besides the client's."""
    found = (call.given.get(key) for key in ("cwd", "workdir", "directory", "dir_path"))
    return next((each for each in found if isinstance(each, str) and each), "")


def edit(call: HookCall) -> Deed:
    paths = _paths(call)
    if not paths:
        raise ValueError("it names no file that could be read")
    text = next((v for key in TEXTS if isinstance(v := call.given.get(key), str)), "")
    verb = "write the file" if call.tool.lower() in WRITES else "edit the file"
    sights = [sight for path in paths for sight in _judge_write(call, path)]
    return Deed(
        action(sights), f"{verb} {', '.join(paths)}", f"The new text:\n{text[:LONGEST_CONTEXT]}" if text else ""
    )


def patch(call: HookCall) -> Deed:
    """`apply_patch`: every file that it adds, changes, moves or deletes."""
    found = "\n".join(strings_of(call.given))
    named = dict.fromkeys((kind.title(), (path or moved).strip()) for kind, path, moved in PATCHED.findall(found))
    if not named or len(named) > MOST_FILES:
        raise ValueError("it holds no patch that could be read" if not named else f"it patches {len(named)} files")
    touched = [(kind, _near(path, call.folder)) for kind, path in named]
    sights = [sight for _, path in touched for sight in _judge_write(call, path)]
    gone = [path for kind, path in touched if kind == "Delete"]
    sights += [Sight("medium", "destructive", path, f"it deletes {path}") for path in gone]
    said = ", ".join(f"{kind.lower() or 'move to'} {path}" for kind, path in touched)
    return Deed(action(sights), f"patch files: {said}", f"The patch:\n{found[:LONGEST_CONTEXT]}")


def delete(call: HookCall) -> Deed:
    line = shlex.join(["rm", *_paths(call)])
    return Deed(command_route(line), line)


def look(call: HookCall) -> Deed:
    paths = _paths(call)
    led = [os.path.realpath(os.path.join(call.folder or os.curdir, os.path.expanduser(path))) for path in paths]
    shown = [path for path in (*paths, *led) if len(path) <= LONGEST_PATH]
    sights = [Sight("read"), *(sight for path in shown for sight in secret_sights("cat", [path], []))]
    return Deed(action(sights), f"{call.tool} {', '.join(paths)}".strip())


def fetch(call: HookCall) -> Deed:
    found = call.given.get("url") or call.given.get("urls") or call.given.get("prompt") or ""
    said = " ".join(map(str, found)) if isinstance(found, list) else str(found)
    inside = re.search(r"https?://(?:169\.254\.169\.254|metadata\.google\.internal)", said, re.IGNORECASE)
    seen = Sight("high", "security", said, "it asks the machine for its credentials") if inside else Sight("read")
    return Deed(action([seen]), f"fetch {said}")


def only_looks(call: HookCall) -> Deed:
    return Deed(action([Sight("read")]), call.tool)


KINDS = (
    (WRITES | EDITS, edit), (PATCHES, patch), (DELETES, delete), (LOOKERS, look), (FETCHES, fetch), (LOOKS, only_looks),
)  # fmt: skip


def other(call: HookCall) -> Deed:
    """Tools of MCP servers and unknown tools, judged by name and arguments."""
    known = bool(MCP.match(call.tool))
    name = re.split(r"__|:", call.tool)[-1]
    found = set(parts(re.sub(r"[_\-.]", " ", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name))))
    if "moot" in call.tool.lower() and found & DECIDES:
        seen = Sight("high", "guard", call.tool, f"the tool {call.tool} decides what a person should decide")
        return Deed(action([seen]), f"call the tool {call.tool}", _arguments(call))
    texts = strings_of(call.given)
    statement = "; ".join(text for text in texts if _looks_sql(text))
    said = f"call the tool {call.tool}" + (f" with {statement[:LONGEST_CONTEXT]}" if statement else "")
    if guarded := [sight for text in texts if len(text) <= LONGEST_PATH for sight in _find_guarded(call, text, found)]:
        return Deed(action(guarded), said, _arguments(call), known)
    if statement:
        return Deed(action(sql_sights(statement)), said, _arguments(call), known)
    method = next((v for k in ("method", "http_method") if isinstance(v := call.given.get(k), str)), "").upper()
    if method == "DELETE":
        seen = Sight("high", "destructive", f"{call.tool} DELETE", f"the tool {call.tool} sends an HTTP DELETE")
        return Deed(action([seen]), said, _arguments(call), known)
    hidden = [sight for path in _paths(call) for sight in secret_sights("cat", [path], [])]
    for words, level, group, why in ROWS:
        if found & words:
            sight = Sight(level, group, call.tool, f"the tool {call.tool} {why}" if why else "")  # type: ignore[arg-type]
            written = [s for path in _paths(call) for s in _judge_write(call, path)] if words is WRITE_WORDS else []
            return Deed(action([sight, *hidden, *written]), said, _arguments(call))
    return Deed(action([Sight("low"), *hidden]), said, _arguments(call), known)


ROWS: tuple[tuple[frozenset[str], str, str, str], ...] = (
    (DESTROYS | {"kill"}, "high", "destructive", "takes something away"),
    (DEPLOYS | {"merge"}, "high", "deployment", "changes what others get"),
    (SECURES, "high", "security", "is about credentials or rights"),
    (WRITE_WORDS, "medium", "change", "changes something others may use"),
    (READ_WORDS, "read", "", ""),
)


def _judge_write(call: HookCall, path: str) -> list[Sight]:
    """Judges a write to this path, with links resolved."""
    if len(path) > LONGEST_PATH:
        return [Sight("medium", "unclear", path[:80], "its path is longer than any file's")]
    home = os.path.realpath(call.folder or os.curdir)
    whole = os.path.realpath(os.path.join(home, os.path.expanduser(path)))
    led = _near(whole, home)
    sights = [place_sight(path)]
    if led != path and place_sight(led).level != "low":
        sights.append(place_sight(led))
    # Inside `.claude` or `.ssh`, the name alone tells nothing.
    sights += [sight for sight in [place_sight(whole)] if sight.group in ("guard", "security")]
    if is_own(whole, os.environ):
        sights.append(Sight("high", "guard", path, f"{path} belongs to Moot itself"))
    away = [each for each in (path, led) if each.startswith(("/", "~", "../"))]
    outside = not all(each.startswith(("/tmp/", "/var/tmp/")) for each in away)
    if outside and all(sight.level == "low" for sight in sights):
        sights.append(Sight("medium", "scope", path, f"{path} is outside the project"))
    return sights


def strings_of(value: object, deep: int = 0) -> list[str]:
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    found = [text for each in inner for text in strings_of(each, deep + 1)] if deep < 20 else ["…"]
    return found[:MOST_STRINGS]


def _paths(call: HookCall) -> list[str]:
    """The paths of a call, relative to the project."""
    inner = [each for value in call.given.values() if isinstance(value, list) for each in value]
    tables = [call.given, *(each for each in inner if isinstance(each, dict))]  # several edits in one call
    found = [value for table in tables for key in PATHS if (value := table.get(key))]
    texts = [text for value in found for text in (value if isinstance(value, list) else [value])]
    return list(dict.fromkeys(_near(text, call.folder) for text in texts if isinstance(text, str) and text))


def _near(given: str, folder: str) -> str:
    if given.startswith("/") and folder.startswith("/"):
        near = os.path.relpath(os.path.normpath(given), os.path.normpath(folder))
        return os.path.normpath(given) if near.startswith("..") else near
    return os.path.normpath(given) if given else ""


def _find_guarded(call: HookCall, text: str, words: set[str]) -> list[Sight]:
    """A text that names a place of Moot or of a client, for a tool that writes; or the URL of a gate."""
    if re.search(r"/v1/(?:debates/[^/\s]+/(?:approve|reject|answer|gates)|tokens|gates)", text):
        return [Sight("high", "guard", text[:80], "it decides a gate or grants rights")]
    if "\n" in text or words & READ_WORDS:
        return []
    return [sight for sight in _judge_write(call, _near(text, call.folder)) if sight.group == "guard"]


def _looks_sql(text: str) -> bool:
    plain = re.sub(r"/\*.*?\*/|--[^\n]*(?:\n|$)", " ", text[:LONGEST_CONTEXT], flags=re.DOTALL).lstrip(" \t\r\n;(")
    verbs = "select|insert|update|delete|drop|alter|create|truncate|with|grant|revoke|explain|merge|replace"
    return bool(re.match(rf"(?:{verbs})\s+\w", plain, re.IGNORECASE))


def _arguments(call: HookCall) -> str:
    shown = ", ".join(f"{key}={str(value)[:200]!r}" for key, value in list(call.given.items())[:8])
    return f"Its arguments: {shown}" if shown else ""
