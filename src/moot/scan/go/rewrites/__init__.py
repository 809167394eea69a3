"""Rewrites of Go code that preserve its behaviour."""

import re
from collections.abc import Sequence

from tree_sitter import Node

from moot.scan.bindings import changes
from moot.scan.calls import SourceCall, imports, read_call
from moot.scan.change import Change, Rewrite, RewriteRefused, replace_node, require_node
from moot.scan.edits import Edit
from moot.scan.go.rewrites.answers import zero
from moot.scan.go.rewrites.module import add_import, drop_import, is_left_unused
from moot.scan.go.rewrites.types import is_declared_string
from moot.scan.rewrites.choices import is_chosen_by, leave_announced, leave_choices, leave_configured
from moot.scan.rewrites.drivers import UNKNOWN, go_placeholder
from moot.scan.rewrites.query import Dialect, parameterise_query
from moot.scan.rules.errors import (
    ERROR_METHODS,
    ERROR_ONLY,
    SERVING,
    VALUE_AND_ERROR,
    Discard,
    discards,
    result_types,
)
from moot.scan.sql import Part
from moot.scan.strings import StringHole
from moot.scan.syntax import Scope, Source, nth

ORDINARY = frozenset(
    {"os.Remove", "os.RemoveAll", "os.Mkdir", "os.Symlink", "os.Link", "os.Stat", "os.Lstat", "os.ReadDir"}
)
OPTIONAL = re.compile(r"\b(?:FormValue|Getenv|PostFormValue|Cookie|LookupEnv|Query\(\)\.Get|URL\.Query|Header\.Get)\b")


def sql(source: Source, node: Node) -> Change:
    call, arg = read_query(source, node)
    change = parameterise_query(source, call, arg, read_dialect(source))
    return Change((*change.edits, *drop_unused_fmt(source, change.edits)), change.did)


def sql_by_question(source: Source, node: Node) -> Change:
    """For a driver that is not known."""
    call, arg = read_query(source, node)
    try:
        read_placeholder(source)
    except RewriteRefused as why:
        if str(why) == UNKNOWN:
            return parameterise_query(source, call, arg, make_dialect(numbered=False))
    raise RewriteRefused("the driver is known, and the query is left for another reason")


def read_query(source: Source, node: Node) -> tuple[SourceCall, Node]:
    """The call that runs a query, and the text of it."""
    call = read_call(source, node)
    index = 1 if call.method.endswith("Context") else 0
    if len(call.args) != index + 1 or call.method.startswith("Prepare"):
        raise RewriteRefused("only a call with the SQL text alone is rewritten")
    return call, call.args[index]


def read_dialect(source: Source) -> Dialect:
    return make_dialect(numbered=read_placeholder(source) == "$")


def read_placeholder(source: Source) -> str:
    return go_placeholder(source.project, source.data.decode("utf-8", "replace"))


def make_dialect(*, numbered: bool) -> Dialect:
    return Dialect(
        (lambda number: f"${number}") if numbered else (lambda number: "?"), _format_arguments, _compose_text,
        as_text=_as_text, double_quotes=not numbered,
    )  # fmt: skip


def _as_text(source: Source, hole: StringHole) -> str:
    """Binds a string as it is, anything else as formatted text."""
    text = source.text(hole.node)
    return text if hole.start < 0 or is_declared_string(source, hole.node) else f"fmt.Sprint({text})"


def _format_arguments(values: Sequence[str]) -> str:
    return "".join(f", {value}" for value in values)


def _compose_text(source: Source, parts: Sequence[Part]) -> str:
    """`"%" + name + "%"`; what Sprintf formatted may not be a string, so it is converted."""
    return " + ".join(quote_text(part) if isinstance(part, str) else _text(source, part) for part in parts)


def quote_text(text: str) -> str:
    if re.search(r'["\\\n]', text):
        raise RewriteRefused("the value cannot be written as one string")
    return f'"{text}"'


def _text(source: Source, hole: StringHole) -> str:
    return source.text(hole.node) if hole.start < 0 else f"fmt.Sprint({source.text(hole.node)})"


def drop_unused_fmt(source: Source, edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """Removes the import of fmt with its last use."""
    return drop_import(source, "fmt") if is_left_unused(source, "fmt", edits) else ()


LOCAL = re.compile(r"\blocalhost\b|127\.0\.0\.1|\[::1\]")


def tls(source: Source, node: Node) -> Change:
    value = nth(node, 1)
    if node.type == "assignment_statement":
        raise RewriteRefused("settings that were made elsewhere are changed on purpose here")
    leave_choices(source, node, "whether certificates are checked")
    leave_announced(source, node, "the check of certificates")
    around = source.scope(node).node
    setting = require_node(node.parent, "the setting is not here")
    literal = require_node(setting.parent, "the setting is not here")
    if not source.text(literal).startswith("tls.Config{"):
        raise RewriteRefused("the settings are not those of crypto/tls, and may be checked elsewhere")
    above = node.prev_named_sibling
    if "//" in source.line(node) or (above is not None and above.type == "comment"):
        raise RewriteRefused("a comment speaks about it")
    leave_configured(source, node)
    if "ClientAuth" in source.text(setting):
        raise RewriteRefused("a server's own settings check no other server")
    if LOCAL.search(source.text(around)):
        raise RewriteRefused("a server on the same machine needs no certificate")
    if re.search(rb"\b(?:VerifyPeerCertificate|VerifyConnection)\b", source.data):
        raise RewriteRefused("the certificate has a check of its own here")
    return Change((replace_node(require_node(value, "the value is not here"), "false"),), "certificates are checked")


def handle_discarded(source: Source, node: Node) -> Change:
    discard = next((d for d in discards(source) if d.node.start_byte == node.start_byte), None)
    if discard is None or not discard.certain:
        raise RewriteRefused("it cannot be told whether the dropped value is an error")
    _refuse_entangled(source, discard)
    if discard.call.name in ORDINARY:
        raise RewriteRefused(f"{discard.call.name} may fail in ordinary use, as when there is nothing to do")
    if discard.names[:1] != ("_",) and OPTIONAL.search(source.text(discard.call.node)):
        raise RewriteRefused("the value may be absent, and the function goes on without it")
    if _is_detail(source, discard):
        raise RewriteRefused("a detail is read where it is there, and without it the rest would still be right")
    if node.parent is None or node.parent.type not in ("statement_list", "block"):
        raise RewriteRefused("the statement is part of another one")
    scope = source.scope(node)
    local, more = _write_handling(source, discard, scope)
    return Change((*_statement(source, discard, scope, local), *more), "the error is checked")


def _is_detail(source: Source, discard: Discard) -> bool:
    """A text is read as a number or a time in an `if` without an `else`, and the function goes on."""
    block = discard.node.parent.parent if discard.node.parent is not None else None
    outer = block.parent if block is not None else None
    alone = outer is not None and outer.type == "if_statement" and outer.child_by_field_name("alternative") is None
    ends = discard.node.parent is not None and discard.node.parent.named_children[-1].type == "return_statement"
    return alone and not ends and discard.call.name.startswith(("strconv.", "time.Parse", "net/url."))


def _refuse_entangled(source: Source, discard: Discard) -> None:
    """Raises where another error is dealt with, which this one must not replace, and for methods of unknown types."""
    call, following = discard.call, discard.node.next_named_sibling
    known = call.name in ERROR_ONLY | VALUE_AND_ERROR or call.method in ERROR_METHODS | SERVING
    if re.search(r"(?i)//.*\b(?:ignor|best[- ]effort)", source.line(discard.node)):
        raise RewriteRefused("a comment says that it is meant to be lost")
    if "." in call.name and not known:
        raise RewriteRefused("whose method this is, and what it returns, is not known here")
    checked = following is not None and re.match(r"if err\b|return\b.*\berr\b", source.text(following))
    if (checked and not discard.names) or is_chosen_by(source, discard.node, r"\berr\b"):
        raise RewriteRefused("another error is dealt with here, and this one must not take its place")


def _write_handling(source: Source, discard: Discard, scope: Scope) -> tuple[str, tuple[Edit, ...]]:
    """Error handling as code that uses `err`."""
    types = result_types(source, scope.node)
    if types[-1:] == ("error",):
        zeros = [zero(kind) for kind in types[:-1]]
        return f"return {', '.join([*zeros, 'err'])}", ()
    if scope.name == "main" and scope.node.type == "function_declaration":
        return "log.Fatal(err)", () if "log" in imports(source).values() else (add_import(source, "log"),)
    if imports(source).get("log") == "log":
        return f'log.Printf("{discard.call.name}: %v", err)', ()
    raise RewriteRefused("the function has no way to pass an error on")


def _statement(source: Source, discard: Discard, scope: Scope, handling: str) -> list[Edit]:
    node, names = discard.node, discard.names
    newline = "\r\n" if b"\r\n" in source.data else "\n"
    line = source.data.rfind(b"\n", 0, node.start_byte) + 1
    indent = source.slice(line, node.start_byte)
    if indent.strip():
        raise RewriteRefused("the statement shares its line with another one")
    call = source.text(discard.call.node)
    if all(name == "_" for name in names):
        targets = ", ".join((*names[:-1], "err"))
        head = f"if {targets} := {call}; err != nil {{"
        return [replace_node(node, f"{head}{newline}{indent}\t{handling}{newline}{indent}}}")]
    error = _error_name(source, discard, scope)
    left = require_node(node.child_by_field_name("left"), "the targets are not here")
    last = left.named_children[-1]
    handled = re.sub(r"\berr\b", error, handling)
    check = f"{newline}{indent}if {error} != nil {{{newline}{indent}\t{handled}{newline}{indent}}}"
    edits = [replace_node(last, error), Edit(node.end_byte, node.end_byte, check)]
    if node.type == "assignment_statement":
        edits.append(Edit(node.start_byte, node.start_byte, f"var {error} error{newline}{indent}"))
    return edits


def _error_name(source: Source, discard: Discard, scope: Scope) -> str:
    """`err` if the function has none yet, else a fresh name."""
    result = scope.node.child_by_field_name("result")
    named = result is not None and re.search(r"\berr\b", source.text(result))
    others = [b for b in changes(source, scope, "err") if b.node.parent is None or b.node.parent.type != "if_statement"]
    if not named and "err" not in scope.parameters and not others:
        return "err"
    name = re.sub(r"\W", "", discard.names[0]) + "Err"
    taken = sum(bool(changes(source, scope, name + digit)) for digit in ("", "2", "3", "4"))
    return name + ("" if not taken else str(taken + 1))


REWRITES: dict[str, Rewrite] = {
    "go-sql-string": sql,
    "go-tls-verify": tls,
}
