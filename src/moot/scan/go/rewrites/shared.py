"""Adds locks to shared Go variables, if a lock provably suffices and cannot deadlock."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from moot.scan.calls import imports
from moot.scan.change import Change, Rewrite, RewriteRefused, require_node
from moot.scan.edits import Edit
from moot.scan.go.rewrites.module import names as names_of
from moot.scan.go.rewrites.module import package
from moot.scan.syntax import Source, inside

CHANGES = frozenset({"assignment_statement", "inc_statement", "dec_statement"})
BUILT_IN = frozenset({"append", "len", "cap", "min", "max", "string", "int", "int64", "float64", "byte"})
CALM = BUILT_IN | {"make", "new", "delete", "copy", "clear", "panic"}
BLOCKING = frozenset({"func_literal", "go_statement", "defer_statement", "send_statement", "select_statement"})
MAX_NODES = 20_000


def add_mutex(source: Source, node: Node) -> Change:
    """Puts a mutex around every use in the goroutine; other uses must come before it starts or after it was waited
    for."""
    closure = require_node(_around(node, "func_literal"), "the change is in no function literal")
    start = require_node(_around(closure, "go_statement"), "the function is not started as a goroutine")
    block = require_node(closure.child_by_field_name("body"), "the function has no body")
    names = _find_changed(source, closure)
    top, home = _top(source, start, names)
    _require_apart(source, home, top, closure, names)
    lock = _free_name(source, ("mu", "guard", "sharedMu"))
    sync, added = package(source, "sync")
    edits = [_before(source, top, f"var {lock} {sync}.Mutex")]
    for statement in _uses(source, block, names):
        edits += [_before(source, statement, f"{lock}.Lock()"), _after(source, statement, f"{lock}.Unlock()")]
    return Change((*edits, *added), f"a mutex guards {', '.join(sorted(names))}")


def _find_changed(source: Source, closure: Node) -> set[str]:
    """Outer variables that the goroutine writes."""
    own: set[str] = set()
    for node in inside(closure, MAX_NODES):
        if node.type in ("short_var_declaration", "range_clause"):
            left = node.child_by_field_name("left")
            own |= {source.text(n) for n in inside(left, 50) if n.type == "identifier"} if left is not None else set()
        elif node.type in ("parameter_declaration", "var_spec", "const_spec"):
            own |= {source.text(name) for name in node.children_by_field_name("name")}
    changed = {
        source.text(_root(target))
        for node in inside(closure, MAX_NODES)
        if node.type in CHANGES
        for target in _targets(node)
    }
    found = changed - own - {"_"}
    if not found:
        raise RewriteRefused("what is changed is not a variable of the function around")
    return found


def _targets(statement: Node) -> list[Node]:
    left = statement.child_by_field_name("left")
    return left.named_children if left is not None else statement.named_children[:1]


def _root(target: Node) -> Node:
    while target.type in ("selector_expression", "index_expression", "parenthesized_expression"):
        target = target.named_children[0]
    if target.type != "identifier":
        raise RewriteRefused("what is changed is reached through something else")
    return target


def _top(source: Source, start: Node, names: set[str]) -> tuple[Node, Node]:
    """The statement that starts the goroutines, in the block where all the variables are declared."""
    top: Node = start
    while top.parent is not None:
        if top.parent.type == "statement_list":
            earlier = [n for n in top.parent.named_children if n.end_byte <= top.start_byte]
            if names <= {name for statement in earlier for name in _find_declared(source, statement)}:
                return top, top.parent
        if top.type in ("function_declaration", "method_declaration", "func_literal"):
            break
        top = top.parent
    raise RewriteRefused("the variables are not all declared in one block before the goroutine")


def _find_declared(source: Source, statement: Node) -> set[str]:
    if statement.type == "short_var_declaration":
        return {source.text(n) for n in _targets(statement)}
    if statement.type != "var_declaration":
        return set()
    specs = (n for n in inside(statement, 200) if n.type == "var_spec")
    return {source.text(name) for spec in specs for name in spec.children_by_field_name("name")}


def _require_apart(source: Source, home: Node, top: Node, closure: Node, names: set[str]) -> None:
    """Raises unless the variables are used outside only before the start or after the wait."""
    later = [n for n in home.named_children if n.start_byte >= top.end_byte]
    waits = [n for n in later if re.search(r"\b\w+\.Wait\(\)", source.text(n)) and n.type != "for_statement"]
    if not waits:
        raise RewriteRefused("nothing waits for the goroutine")
    for use in _find_named(source, home, names):
        in_goroutine = closure.start_byte <= use.start_byte < closure.end_byte
        if in_goroutine or use.start_byte >= waits[0].end_byte:
            continue
        if use.start_byte >= top.start_byte or _around(use, "func_literal", home) is not None:
            raise RewriteRefused(f"{source.text(use)!r} is also used outside of the goroutine while it runs")
        if use.parent is not None and use.parent.type == "unary_expression":
            raise RewriteRefused(f"the address of {source.text(use)!r} is taken")


def _uses(source: Source, block: Node, names: set[str]) -> list[Node]:
    """The statements of the goroutine that use the variables; each must be short and sure to end."""
    found: dict[int, Node] = {}
    for use in _find_named(source, block, names):
        statement = use
        while statement.parent is not None and statement.parent.type != "statement_list":
            statement = statement.parent
        if statement.type not in CHANGES or not _is_plain(source, statement):
            raise RewriteRefused("the variable is used in more than plain assignments")
        found[statement.start_byte] = statement
    return list(found.values())


def _is_plain(source: Source, statement: Node) -> bool:
    for node in inside(statement, MAX_NODES):
        callee = node.child_by_field_name("function") if node.type == "call_expression" else None
        if node.type in BLOCKING or (node.type == "unary_expression" and source.text(node).startswith("<-")):
            return False
        if node.type == "call_expression" and (callee is None or source.text(callee) not in BUILT_IN):
            return False
    return True


def _find_named(source: Source, root: Node, names: set[str]) -> Iterator[Node]:
    return (n for n in inside(root, MAX_NODES) if n.type == "identifier" and source.text(n) in names)


def _around(node: Node, kind: str, until: Node | None = None) -> Node | None:
    parent = node.parent
    while parent is not None and parent.type != kind:
        if until is not None and parent.id == until.id:
            return None
        parent = parent.parent
    return parent


def _free_name(source: Source, names: tuple[str, ...]) -> str:
    taken = names_of(source)
    free = [name for name in names if name not in taken]
    if not free:
        raise RewriteRefused("no name is left for the lock")
    return free[0]


def _before(source: Source, statement: Node, line: str) -> Edit:
    return Edit(statement.start_byte, statement.start_byte, f"{line}\n{_indent(source, statement)}")


def _after(source: Source, statement: Node, line: str) -> Edit:
    return Edit(statement.end_byte, statement.end_byte, f"\n{_indent(source, statement)}{line}")


def _indent(source: Source, statement: Node) -> str:
    line = source.data.rfind(b"\n", 0, statement.start_byte) + 1
    indent = source.slice(line, statement.start_byte)
    end = source.data.find(b"\n", statement.end_byte)
    rest = source.slice(statement.end_byte, end if end >= 0 else len(source.data)).strip()
    if indent.strip() or b"\r" in source.data or (rest and not rest.startswith("//")):
        raise RewriteRefused("the statement shares its line with something else")
    return indent


def hold_lock(source: Source, node: Node) -> Change:
    """Holds the lock of the other methods during a method that calls nothing and is called by no other."""
    method = require_node(_around(node, "method_declaration"), "the field is used outside of a method")
    body = require_node(method.child_by_field_name("body"), "the method has no body")
    name = source.text(require_node(method.child_by_field_name("name"), "the method has no name"))
    owner = require_node(method.child_by_field_name("receiver"), "the method has no receiver")
    receiver = re.fullmatch(r"\(\s*(\w+)\s+\*(\w+)\s*\)", source.text(owner))
    if receiver is None:
        raise RewriteRefused("the method works on a copy")
    if not _is_plain(source, body) or any(n.type == "for_statement" for n in inside(body, MAX_NODES)):
        raise RewriteRefused("the method does more than read and assign")
    if re.search(rf"\.{re.escape(name)}\b", source.data.decode("utf-8", "replace")):
        raise RewriteRefused("the method is called in this file, maybe with the lock held")
    lock = _lock_of(source, receiver[2])
    _require_calm(source, lock)
    first = next((n for n in body.named_children[:1] for n in (n.named_children or [n])), None)
    indent = _indent(source, require_node(first, "the method is empty"))
    place = require_node(first, "the method is empty").start_byte
    text = f"{receiver[1]}.{lock}.Lock()\n{indent}defer {receiver[1]}.{lock}.Unlock()\n{indent}"
    return Change((Edit(place, place, text),), f"the method holds {lock} as the others do")


def _require_calm(source: Source, lock: str) -> None:
    """Raises if a function that holds the lock calls code of the program: that may come back to the method."""
    known = {alias for alias, real in imports(source).items() if "." not in real.partition("/")[0]}
    for function in source.nodes("function_declaration", "method_declaration"):
        if f".{lock}.Lock()" not in source.text(function):
            continue
        for call in (n for n in inside(function, MAX_NODES) if n.type == "call_expression"):
            callee = source.text(require_node(call.child_by_field_name("function"), "none"))
            own = callee.rpartition(".")[0].endswith(f".{lock}") or callee in CALM
            if not own and callee.partition(".")[0] not in known:
                raise RewriteRefused("code that is called with the lock held may call this method")


def _lock_of(source: Source, kind: str) -> str:
    found: set[str] = set()
    for method in source.nodes("method_declaration"):
        receiver = source.text(require_node(method.child_by_field_name("receiver"), "none"))
        own = re.fullmatch(rf"\(\s*(\w+)\s+\*{kind}\s*\)", receiver)
        if own is not None:
            found |= set(re.findall(rf"\b{own[1]}\.(\w+)\.Lock\(\)", source.text(method)))
    if len(found) != 1:
        raise RewriteRefused("it cannot be told which lock guards the field")
    return found.pop()


def move_add(source: Source, node: Node) -> Change:
    """Moves `wg.Add(1)` from the start of a goroutine to the line before its `go`."""
    closure = require_node(_around(node, "func_literal"), "the call is in no function literal")
    start = require_node(_around(closure, "go_statement"), "the function is not started as a goroutine")
    body = require_node(closure.child_by_field_name("body"), "the function has no body")
    first = next((n for n in inside(body, 50) if n.type == "expression_statement"), None)
    call = source.text(node)
    if first is None or source.text(first) != call or not re.fullmatch(r"\w+\.Add\(\d+\)", call):
        raise RewriteRefused("it is not the first thing the goroutine does")
    if source.slice(body.start_byte + 1, first.start_byte).strip():
        raise RewriteRefused("it is not the first thing the goroutine does")
    _indent(source, first)
    line = source.data.rfind(b"\n", 0, first.start_byte) + 1
    end = source.data.find(b"\n", first.end_byte) + 1
    edits = (_before(source, start, call), Edit(line, end))
    return Change(edits, "the goroutine is counted before it is started")


def copy_loop_variables(source: Source, node: Node) -> Change:
    """Copies the loop variables in each iteration, as Go 1.22 does by itself."""
    loop = require_node(_around(node, "for_statement"), "the goroutine is in no loop")
    body = require_node(loop.child_by_field_name("body"), "the loop has no body")
    heads = [n for n in loop.named_children if n.type in ("range_clause", "for_clause")]
    lefts = [left for head in heads for n in inside(head, 40) if (left := n.child_by_field_name("left")) is not None]
    names = [source.text(n) for n in (lefts[0].named_children if lefts else []) if n.type == "identifier"]
    used = {source.text(n) for n in inside(node, MAX_NODES) if n.type == "identifier"}
    wanted = [name for name in names if name in used and name != "_"]
    changed = [t for n in inside(body, MAX_NODES) if n.type in CHANGES for t in _targets(n)]
    if not wanted or any(source.text(target) in wanted for target in changed):
        raise RewriteRefused("the loop's variable is changed inside it")
    made = [n.child_by_field_name("left") for n in inside(body, MAX_NODES) if n.type == "short_var_declaration"]
    if {source.text(n) for left in made if left is not None for n in left.named_children} & set(wanted):
        raise RewriteRefused("the loop has a variable of the same name inside it")
    first = next((n for n in inside(body, 50) if n.parent is not None and n.parent.type == "statement_list"), None)
    edits = tuple(_before(source, require_node(first, "the loop is empty"), f"{name} := {name}") for name in wanted)
    return Change(edits, "every goroutine has its own copy of the loop's variable")


REWRITES: dict[str, Rewrite] = {
    "go-goroutine-race": add_mutex,
    "go-unguarded-write": hold_lock,
    "go-unguarded-read": hold_lock,
    "go-waitgroup-add": move_add,
    "go-loop-capture": copy_loop_variables,
}
