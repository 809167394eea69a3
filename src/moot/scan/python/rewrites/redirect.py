"""Restricts redirects to the same host."""

import re
from collections.abc import Iterable, Iterator

from tree_sitter import Node

from moot.scan.bindings import changes
from moot.scan.calls import imports, read_call
from moot.scan.change import Change, RewriteRefused, replace_node, require_node
from moot.scan.edits import Edit
from moot.scan.python.rewrites.module import function, member, module
from moot.scan.python.rewrites.text import before
from moot.scan.rewrites.choices import leave_own_host, leave_wrapper
from moot.scan.syntax import Source

LOCAL_PATH = '''
def local_path(address, page):
    """Where the address leads from this page, on this host only."""
    place = urlsplit(urljoin(f"http://localhost{page}", str(address).strip().replace("\\\\", "/")))
    return "/" + urlunsplit(("", "", place.path.lstrip("/"), place.query, place.fragment))
'''
REDIRECTS = frozenset({"flask.redirect", "werkzeug.utils.redirect"})


def same_host(source: Source, node: Node) -> Iterator[Change]:
    """Resolves the URL as a browser would and keeps only its path on this host."""
    call = read_call(source, node)
    if call.method == "send_header" and "self" in source.scope(node).parameters:
        yield _send_path(source, node, require_node(call.arg(1, "value"), "the address is not here"))
        return
    if call.name not in REDIRECTS:
        raise RewriteRefused(f"there is no plain replacement for {call.name}")
    leave_wrapper(source, node)
    target = require_node(call.arg(0, "location"), "the address is not here")
    if re.match(r"(?:self\.)?_?(?:options|opts|config|settings)\b", source.text(target)):
        raise RewriteRefused("an option says where it leads, which the program chooses itself")
    leave_own_host(source, target)
    statement = require_node(source.statement(node), "the redirect stands outside of a statement")
    if source.scope(statement) is not source.scope(node) or statement.type not in (
        "return_statement",
        "expression_statement",
    ):
        raise RewriteRefused("the redirect is part of a larger statement")
    if changes(source, source.scope(node), "target"):
        raise RewriteRefused("'target' means something else here")
    request, added = _flask(source, "request", statement)
    named = [member(source, "urllib.parse", name, statement) for name in ("urljoin", "urlsplit", "urlunsplit")]
    join, split, unsplit = (name for name, _ in named)
    new = f'"/" + {unsplit}(("", "", target.path.lstrip("/\\\\"), target.query, target.fragment))'
    edits = (
        replace_node(target, new),
        before(source, statement, f"target = {split}({join}({request}.url, {source.text(target)}))"),
        *added,
        *_import_line(edit for _, edits in named for edit in edits),
    )
    yield Change(edits, "visitors are only sent to pages of the same host")


def _send_path(source: Source, node: Node, target: Node) -> Change:
    """For handlers of http.server, which know the path that was asked for."""
    text = source.text(source.root)
    if not re.search(r"\bBaseHTTPRequestHandler\b|\bSimpleHTTPRequestHandler\b", text):
        raise RewriteRefused("the page that was asked for is not known here")
    named = [member(source, "urllib.parse", name, node) for name in ("urljoin", "urlsplit", "urlunsplit")]
    if [name for name, _ in named] != ["urljoin", "urlsplit", "urlunsplit"]:
        raise RewriteRefused("the functions of urllib.parse have other names here")
    helper = function(source, "local_path", LOCAL_PATH, node)
    imported = _import_line(edit for _, edits in named for edit in edits)
    new = replace_node(target, f"local_path({source.text(target)}, self.path)")
    return Change((new, *imported, *helper), "visitors are only sent to pages of the same host")


def _flask(source: Source, name: str, at: Node) -> tuple[str, tuple[Edit, ...]]:
    if "flask" in imports(source) and imports(source)["flask"] == "flask":
        local, added = module(source, "flask", at)
        return f"{local}.{name}", added
    return member(source, "flask", name, at)


def _import_line(edits: Iterable[Edit]) -> Iterator[Edit]:
    """One import line for several names of one module."""
    found = list(edits)
    if found:
        names = ", ".join(edit.new.strip().rpartition(" ")[2] for edit in found)
        first = found[0].new
        yield Edit(found[0].start, found[0].end, first.replace(first.strip().rpartition(" ")[2], names))
