"""Code of scripting languages that a command would run: what it deletes, and which programs it starts."""

import re
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from moot.routing.answer import Sight
from moot.routing.command import command_sights
from moot.routing.statements import code_sights, shell_strings, sql_sights

if TYPE_CHECKING:
    import ast

PYTHON_STARTERS = {
    "subprocess": {"run", "call", "check_call", "check_output", "Popen", "getoutput", "getstatusoutput"},
    "os": {"system", "popen", "execv", "execvp", "execl", "execlp", "execve", "spawnl", "spawnv", "posix_spawn"},
    "pty": {"spawn"},
    "asyncio": {"create_subprocess_exec", "create_subprocess_shell"},
}
JS_STARTS = re.compile(
    r"\bchild_process\b|\bexeca\b|\bshelljs\b|\bDeno\.(?:run|Command)\b|\bBun\.(?:spawn|\$)|\bfrom ['\"]zx"
)
JS_CALLS = re.compile(r"\b(?:execSync|exec|execa|execaCommand|spawnSync|spawn|execFile|execFileSync)\s*\(\s*(.)")
JS_LITERAL = re.compile(r"\(\s*(['\"`])((?:[^\\`'\"$]|\\.)*)\1\s*(?:,\s*\[((?:\s*['\"][^'\"]*['\"]\s*,?)*)\s*\])?")
JS_COMMENTS = re.compile(r"(\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*')|/\*.*?\*/|(?<!:)//[^\n]*", re.DOTALL)
HASH_COMMENTS = re.compile(r"(?m)^[ \t]*#(?!!).*$")
STARTS = Sight("medium", "unclear", "starts programs", "it starts programs that are only known when it runs")
MOST_CALLS = 200
PATIENCE = 50_000
"""Characters of code that patterns search; the router takes no more either."""


class Finding(NamedTuple):
    sight: Sight
    line: int = 0
    """From 1; 0 if unknown."""
    command: str = ""
    """The shell line in which it was seen, if code starts one."""


def code_findings(text: str, kind: str) -> list[Finding]:
    if kind == "sql":
        return locate_findings(sql_sights(text), text)
    if kind == "python":
        return python_findings(text)
    if kind == "javascript":
        return javascript_findings(text)
    return other_findings(text)


def locate_findings(sights: list[Sight], text: str) -> list[Finding]:
    return [Finding(sight, line_of(sight.what, text)) for sight in sights]


def in_lines(code: str) -> str:
    """Break long lines for patterns that search a whole line: bundled code has only one."""
    return re.sub(r"[^\n]{2000}", "\\g<0>\n", code)[:PATIENCE]


def line_of(what: str, text: str) -> int:
    at = text.find(what) if what else -1
    return text.count("\n", 0, at) + 1 if at >= 0 else 0


def ordinary(sights: list[Sight]) -> list[Sight]:
    """Drop what is suspicious on a command line but normal in a program: passing its environment on, reading its
    settings."""
    return [s for s in sights if "shows the environment" not in s.why and not re.fullmatch(r"\.env['\"]", s.what)]


# --- Python


def python_findings(text: str) -> list[Finding]:
    try:
        return _python_findings(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        unreadable = Sight("medium", "unclear", "unreadable code", "it is not valid Python")
        return [Finding(unreadable), *locate_findings(code_sights(in_lines(text)), text)]


def _python_findings(text: str) -> list[Finding]:
    """By syntax: words in comments and docstrings do nothing."""
    import ast
    import warnings

    with warnings.catch_warnings():  # about the style of somebody else's script
        warnings.simplefilter("ignore")
        tree = ast.parse(text)
    nodes = list(ast.walk(tree))
    modules = _modules(nodes)
    starts = [found for node in nodes for found in _find_started_programs(node, modules)]
    for node in nodes:
        _without_docstring(node)
    return [*locate_findings(ordinary(code_sights(in_lines(ast.unparse(tree)))), text), *starts]


def _modules(nodes: "list[ast.AST]") -> dict[str, str]:
    """Local names of what starts programs: `import subprocess as sp`, `from os import system`."""
    import ast

    found = {name: name for name in PYTHON_STARTERS}
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.asname: alias.name for alias in node.names if alias.asname}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    return found


def _without_docstring(node: "ast.AST") -> None:
    import ast

    if isinstance(node, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        body = [
            part
            for part in node.body
            if not (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant) and _is_text(part.value.value))
        ]
        node.body = body or [ast.Pass()]


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _find_started_programs(node: "ast.AST", modules: dict[str, str]) -> list[Finding]:
    import ast

    if not isinstance(node, ast.Call):
        return []
    name = ast.unparse(node.func) if isinstance(node.func, ast.Name | ast.Attribute) else ""
    first, dot, more = name.partition(".")
    module, _, verb = f"{modules.get(first, first)}{dot}{more}".rpartition(".")
    if name in ("exec", "eval", "compile") and node.args and not isinstance(node.args[0], ast.Constant):
        why = "it runs code that is only known when it runs"
        return [Finding(Sight("medium", "unclear", name, why), node.lineno)]
    if verb not in PYTHON_STARTERS.get(module, ()):
        return []
    command = _literal(node.args[0]) if node.args else None
    if verb in ("create_subprocess_exec", "execl", "execlp"):
        parts = [_literal(part) for part in node.args]
        command = " ".join(part for part in parts if part) if all(parts) else None
    if command is None:
        return [Finding(STARTS, node.lineno)]
    return [Finding(sight, node.lineno, command) for sight in command_sights(command)]


def _literal(node: "ast.expr") -> str | None:
    """A literal command; unknown parts are allowed except in the program's name."""
    import ast
    import shlex

    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.List | ast.Tuple) and node.elts:
        words = [part.value if isinstance(part, ast.Constant) else None for part in node.elts]
        if isinstance(words[0], str):
            return " ".join(shlex.quote(word) if isinstance(word, str) else "$?" for word in words)
        if ast.unparse(node.elts[0]) == "sys.executable":
            return " ".join(["python", *(shlex.quote(w) if isinstance(w, str) else "$?" for w in words[1:])])
    return None


# --- JavaScript


def javascript_findings(text: str) -> list[Finding]:
    code = JS_COMMENTS.sub(lambda m: m[1] or re.sub(r"[^\n]", "", m[0]), text[:PATIENCE])
    # A template is not a shell's backtick, and `.exec` of a pattern starts nothing.
    found = locate_findings(ordinary(code_sights(in_lines(code.replace("`", '"')))), text)
    if not JS_STARTS.search(code):
        return found
    calls = list(islice(JS_CALLS.finditer(code), MOST_CALLS))
    for call in calls:
        line = code.count("\n", 0, call.start()) + 1
        literal = JS_LITERAL.match(code, code.index("(", call.start()))
        if literal is None:
            found.append(Finding(STARTS, line))
            continue
        command = " ".join([literal[2], *re.findall(r"['\"]([^'\"]*)['\"]", literal[3] or "")])
        found += [Finding(sight, line, command) for sight in command_sights(command)]
    return found if calls else [*found, Finding(STARTS)]


# --- other languages


def other_findings(text: str) -> list[Finding]:
    """Ruby, Perl, PHP and others: what the router knows of any code, and strings that look like commands."""
    code = in_lines(HASH_COMMENTS.sub("", text))
    sights, strings = ordinary(code_sights(code)), shell_strings(code)
    if strings is not None:
        sights.append(Sight("medium", "unclear", "code that starts programs", "the code starts programs"))
    for said in (strings or [])[:MOST_CALLS]:
        if re.match(r"[\w./~-]+(?:\s|$)", said):
            sights += [sight for sight in command_sights(said) if sight.group != "unclear"]
    return locate_findings(sights, text)
