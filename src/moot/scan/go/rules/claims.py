"""Go code that looks first and acts afterwards, or that many requests run at once."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from moot.scan.calls import calls
from moot.scan.go.rules.flaws import CLAIM, HANDLER_RACE
from moot.scan.rule import RuleMatch
from moot.scan.rules.claims import AskedPath, find_made
from moot.scan.syntax import Source, inside

ASKED = re.compile(r"\bos\.(?:Stat|Lstat)\(([^()]++(?:\([^()]*+\)[^()]*+)?+)\)")
THERE = re.compile(r"\berr\w*\s*==\s*nil|!os\.IsNotExist\(|!errors\.Is\(\w+,\s*(?:os|fs)\.ErrNotExist\)")
REFUSES = re.compile(r"^\{\s*return\b(?!\s+nil\s*\})[^}]*\}$", re.DOTALL)
MADE = ("WriteFile", "Create", "OpenFile", "Mkdir", "Rename", "Symlink")
HANDLES = re.compile(r"\bhttp\.ResponseWriter\b|\*?\b(?:gin\.Context|fiber\.Ctx)\b|\becho\.Context\b")
LOCKS = re.compile(r"\.R?Lock\(|(?i:once|group|flight)\w*\.Do\(")
OWNED = re.compile(r"^(\w+)\.[\w.]+(?:\[.*\])?$", re.DOTALL)


def find_claims(source: Source) -> Iterator[RuleMatch]:
    """`if _, err := os.Stat(path); err == nil { return ErrTaken }` and then `os.WriteFile(path, …)`"""
    if asked := list(_list_asked(source)):
        yield from find_made(CLAIM, asked, _list_made(source))


def _list_asked(source: Source) -> Iterator[AskedPath]:
    for node in source.nodes("if_statement"):
        body = node.child_by_field_name("consequence")
        head = source.slice(node.start_byte, body.start_byte) if body is not None else ""
        asked = ASKED.search(head)
        if asked is not None and body is not None and THERE.search(head) and REFUSES.match(source.text(body)):
            yield AskedPath(asked[1].strip(), node.end_byte, source.scope(node).node.end_byte)


def _list_made(source: Source) -> Iterator[tuple[str, Node]]:
    for call in (call for name in MADE for call in calls(source).get(name, ())):
        if call.name.startswith(("os.", "io/ioutil.")) and call.args and "O_EXCL" not in source.text(call.node):
            yield source.text(call.args[0]), call.node


def find_handler_races(source: Source) -> Iterator[RuleMatch]:
    """`func (c *Counter) ServeHTTP(w http.ResponseWriter, r *http.Request) { c.hits[r.URL.Path]++ }`"""
    for method in source.nodes("method_declaration"):
        given, body = method.child_by_field_name("parameters"), method.child_by_field_name("body")
        if given is None or body is None or not HANDLES.search(source.text(given)):
            continue
        owner = _name_receiver(source, method)
        if owner and not LOCKS.search(source.text(body)):
            yield from (RuleMatch(HANDLER_RACE, node) for node in inside(body) if _changes(source, node, owner))


def _name_receiver(source: Source, method: Node) -> str:
    receiver = method.child_by_field_name("receiver")
    found = re.match(r"\(\s*(\w+)\s+\*", source.text(receiver)) if receiver is not None else None
    return found[1] if found else ""


def _changes(source: Source, node: Node, owner: str) -> bool:
    """`s.count++`, `s.users[name] = user`: a plain field that is set may be anything."""
    if node.type in ("inc_statement", "dec_statement"):
        return _is_own(source, node.named_children[0], owner)
    if node.type != "assignment_statement":
        return False
    left = node.child_by_field_name("left")
    target = left.named_children[0] if left is not None and left.named_child_count else None
    grows = source.text(node.children[1]) not in ("=", ":=") if node.child_count > 1 else False
    return target is not None and (grows or target.type == "index_expression") and _is_own(source, target, owner)


def _is_own(source: Source, target: Node, owner: str) -> bool:
    found = OWNED.match(source.text(target))
    return found is not None and found[1] == owner
