"""Changes that only the user can decide on, shown and never applied: stored values, keys and rights depend on them."""

import re
from difflib import ndiff

from tree_sitter import Node

from moot.scan.calls import read_call
from moot.scan.change import Change, Rewrite, RewriteRefused, replace_node, require_node
from moot.scan.edits import Edit, apply_edits
from moot.scan.go.rewrites import handle_discarded, sql_by_question
from moot.scan.go.rewrites.module import package
from moot.scan.go.rewrites.settings import use_sha256 as go_sha256
from moot.scan.javascript.rewrites import use_sha256 as javascript_sha256
from moot.scan.javascript.rewrites.sql import sql_by_question as script_sql_by_question
from moot.scan.javascript.rewrites.state import log_error as script_log_error
from moot.scan.python.rewrites import use_sha256 as python_sha256
from moot.scan.python.rewrites.module import module
from moot.scan.python.rewrites.state import log_error
from moot.scan.rewrites.modes import OTHERS
from moot.scan.syntax import Source, inside

NAMED = re.compile(r"[A-Za-z_]\w*")
MODE = re.compile(r"(0[oO]?)([0-7]{3,4})")
MOST_LINES = 4


def name_secret(source: Source, node: Node) -> Change:
    """The secret comes from the environment, under the name that the code has for it."""
    statement = require_node(source.statement(node), "the secret has no name")
    for pair in inside(statement, 200):
        left = pair.child_by_field_name("left") or pair.child_by_field_name("name")
        value = pair.child_by_field_name("right") or pair.child_by_field_name("value")
        if left is None or value is None or not NAMED.fullmatch(source.text(left)):
            continue
        return _read_from_environment(source, value, re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", source.text(left)).upper())
    raise RewriteRefused("the secret has no name")


def _read_from_environment(source: Source, value: Node, name: str) -> Change:
    did = "the secret comes from the environment"
    added: tuple[Edit, ...] = ()
    if source.language == "python":
        local, added = module(source, "os", source.root)
        new = f'{local}.environ["{name}"]'
    elif source.language == "go":
        local, added = package(source, "os")
        new = f'{local}.Getenv("{name}")'
    else:
        new = f"process.env.{name}"
    return Change((replace_node(value, new), *added), did)


def keep_to_owner(source: Source, node: Node) -> Change:
    given = read_call(source, node).args if node.type in ("call", "call_expression") else ()
    for arg in reversed(given):
        if written := MODE.fullmatch(source.text(arg)):
            mode = int(written[2], 8) & ~OTHERS
            return Change((replace_node(arg, f"{written[1]}{mode:o}"),), "only the owner has rights")
    raise RewriteRefused("the mode is not written here")


def write_suggestion(source: Source, change: Change, rule: str) -> str:
    """The new lines of a change, and when they would do."""
    after = apply_edits(source.data, change.edits).decode("utf-8", "replace")
    before = source.data.decode("utf-8", "replace")
    lines = [line[2:].strip() for line in ndiff(before.splitlines(), after.splitlines()) if line.startswith("+ ")]
    lines = [line for line in lines if line]
    if not lines or len(lines) > MOST_LINES:
        return ""
    return f" Suggested, {LEADS.get(rule, OLD_VALUE)}: " + ", ".join(f"`{line}`" for line in lines) + "."


OLD_VALUE = "if nothing else depends on the old value"
PLACEHOLDERS = "if the driver writes placeholders as ? (PostgreSQL: $1, $2)"
SEEN = "if the error is worth seeing"
LEADS = {
    "go-sql-string": PLACEHOLDERS,
    "javascript-sql-string": PLACEHOLDERS,
    "python-swallowed-error": SEEN,
    "javascript-swallowed-error": SEEN,
    "go-discarded-error": "if the rest is wrong after this error",
}
SUGGESTIONS: dict[str, Rewrite] = {
    "python-weak-hash": python_sha256,
    "javascript-weak-hash": javascript_sha256,
    "go-weak-hash": go_sha256,
    "python-hardcoded-secret": name_secret,
    "javascript-hardcoded-secret": name_secret,
    "go-hardcoded-secret": name_secret,
    "go-sql-string": sql_by_question,
    "javascript-sql-string": script_sql_by_question,
    "python-file-mode": keep_to_owner,
    "javascript-file-mode": keep_to_owner,
    "go-file-mode": keep_to_owner,
    "python-swallowed-error": log_error,
    "javascript-swallowed-error": script_log_error,
    "go-discarded-error": handle_discarded,
}
