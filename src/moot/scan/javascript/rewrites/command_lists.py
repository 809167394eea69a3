"""Commands of JavaScript that a shell reads become a program with a list of arguments."""

from collections.abc import Sequence

from tree_sitter import Node

from moot.scan.bindings import Binding, origins
from moot.scan.calls import SourceCall, imports, read_call
from moot.scan.change import Change, RewriteRefused, replace_node, require_node
from moot.scan.edits import Edit
from moot.scan.javascript.rewrites.functions import (
    find_receiver,
    list_callers,
    list_parameters,
)
from moot.scan.javascript.rewrites.module import before
from moot.scan.javascript.rewrites.sql import FUNCTIONS, template
from moot.scan.marks import marks
from moot.scan.shell import Word, check_one_word, words
from moot.scan.strings import StringHole, Text, build, constant_text, unwrap
from moot.scan.syntax import Source, inside
from moot.scan.syntax import words as word_set

UNFOLLOWED = 4
DID = "gets a list of arguments and no shell reads it"
PLAIN = {"child_process.exec": "execFile", "child_process.execSync": "execFileSync"}


def run_file(source: Source, node: Node) -> Change:
    call = read_call(source, node)
    new = PLAIN.get(call.name)
    maker = None if new else _find_promised(source, node)
    if (new is None and maker is None) or not call.args:
        raise RewriteRefused(f"there is no plain replacement for {call.name}")
    if not all(same_for_both(source, unwrap(arg)) for arg in call.args[1:]):
        raise RewriteRefused("the call has options of its own")
    edits = _split(source, call.args[0], node)
    if maker is not None:
        return Change((*edits, *_promise_file(source, node, maker)), f"execFile {DID}")
    return Change((*edits, *_rename_call(source, node, call.method, new or "")), f"{new} {DID}")


def run_guarded_file(source: Source, node: Node) -> Change:
    """As `run_file`, where a program would read a value with a hyphen as an option."""
    change = run_file(source, node)
    home = find_home(source, read_call(source, node).args[0])
    value = (
        unwrap(home.value) if home is not None and home.value is not None else unwrap(read_call(source, node).args[0])
    )
    alone = [word[0] for word in read_words(source, value) if len(word) == 1]
    holes = [
        part.node
        for part in alone
        if isinstance(part, StringHole) and part.node.type in ("identifier", "member_expression")
    ]
    statement = require_node(source.statement(node), "the command is run outside of a statement")
    if not holes or source.scope(statement) is not source.scope(node):
        raise RewriteRefused("the command is run outside of a statement")
    test = " || ".join(f'String({source.text(hole)}).startsWith("-")' for hole in holes)
    guard = f'if ({test}) {{ throw new Error("a value begins with a hyphen, as an option does"); }}'
    return Change((*change.edits, before(source, statement, guard)), f"{change.did}, and no value is an option")


def _find_promised(source: Source, node: Node) -> Binding | None:
    """Where `const run = promisify(exec)` is."""
    callee = node.child_by_field_name("function")
    if callee is None or callee.type != "identifier":
        return None
    found = origins(source, callee)
    value = found[0].value if len(found) == 1 and found[0].kind == "set" else None
    if value is None or value.type != "call_expression" or read_call(source, value).method != "promisify":
        return None
    given = read_call(source, value).args
    text = source.text(given[0]) if len(given) == 1 else ""
    named = text == "exec" or text.endswith(".exec")
    return found[0] if named and found[0].node.type == "variable_declarator" else None


def _promise_file(source: Source, node: Node, maker: Binding) -> list[Edit]:
    """`execFileAsync` beside `execAsync`, made in the same way."""
    callee = require_node(node.child_by_field_name("function"), "the call has no name")
    statement = require_node(source.statement(maker.node), "the function is made elsewhere")
    value = require_node(maker.value, "the function is made elsewhere")
    given = read_call(source, value).args[0]
    made = source.slice(value.start_byte, given.end_byte - len("exec")) + "execFile)"
    name = "execFileAsync"
    line = f"const {name} = {made};"
    edits = [replace_node(callee, name)]
    if line in source.data.decode("utf-8", "replace"):
        return edits
    if any(n.type == "identifier" and source.text(n) == name for n in inside(source.root, 200_000)):
        raise RewriteRefused(f"{name!r} means something else here")
    if given.type == "identifier":
        edits += _import_beside(source, "exec", "execFile")
    return [*edits, Edit(statement.end_byte, statement.end_byte, f"\n{line}")]


def _import_beside(source: Source, old: str, new: str) -> list[Edit]:
    if any(real == f"child_process.{new}" for real in imports(source).values()):
        return []
    for specifier in source.nodes("import_specifier", "shorthand_property_identifier_pattern"):
        if source.text(specifier) == old:
            return [Edit(specifier.end_byte, specifier.end_byte, f", {new}")]
    raise RewriteRefused("the import cannot be extended")


def _rename_call(source: Source, node: Node, old: str, new: str) -> list[Edit]:
    """Renames the callee, and imports the new name if names are imported one by one."""
    callee = require_node(node.child_by_field_name("function"), "the call has no name")
    if callee.type == "member_expression":
        return [replace_node(require_node(callee.child_by_field_name("property"), "the call has no name"), new)]
    known = next((alias for alias, real in imports(source).items() if real == f"child_process.{new}"), None)
    if known is not None:
        return [replace_node(callee, known)]
    if source.text(callee) != old:
        raise RewriteRefused("the import cannot be extended")
    return [replace_node(callee, new), *_import_beside(source, old, new)]


def _split(source: Source, arg: Node, node: Node) -> list[Edit]:
    """The program comes from the call, the arguments from where the command was built."""
    home = find_home(source, arg)
    value = unwrap(require_node(home.value, "the text is not here")) if home is not None else unwrap(arg)
    program, *rest = read_words(source, value)
    arguments = f"[{', '.join(write_argument(source, word) for word in rest)}]"
    if home is None:
        return [replace_node(arg, f"{write_argument(source, program)}, {arguments}")]
    return [
        replace_node(require_node(home.value, "the text is not here"), arguments),
        replace_node(arg, f"{write_argument(source, program)}, {source.text(arg)}"),
    ]


def find_home(source: Source, arg: Node) -> Binding | None:
    """The assignment of a command that is kept in a variable, which nothing else reads."""
    inner = unwrap(arg)
    if inner.type != "identifier":
        return None
    found = origins(source, inner)
    if len(found) != 1 or found[0].kind != "set" or found[0].value is None:
        raise RewriteRefused("the text is put together in several steps")
    home, made = found[0], source.scope(found[0].node)
    if sum(n.type in NAMED and source.text(n) == home.name for n in inside(made.node, 50_000)) > 2:
        raise RewriteRefused(f"{home.name!r} is used in more places than this one")
    if made is not source.scope(inner) and not source.text(require_node(home.node.parent, "")).startswith("const"):
        raise RewriteRefused("the text is built in another function")
    return home


NAMED = word_set("identifier shorthand_property_identifier shorthand_property_identifier_pattern")


def read_words(source: Source, value: Node) -> list[Word]:
    """The arguments of a command line, or of a list that is joined by blanks."""
    parts = _list_joined(source, value)
    if parts is None:
        found = words(source, marks(source, build(source, value, UNFOLLOWED)))
    else:
        found = [word for part in parts for word in _read_part(source, part)]
    if not found:
        raise RewriteRefused("the program itself is not constant")
    return found


def _list_joined(source: Source, value: Node) -> list[Node] | None:
    if value.type != "call_expression" or read_call(source, value).method != "join":
        return None
    receiver, given = find_receiver(value), read_call(source, value).args
    if receiver is None or receiver.type != "array" or len(given) != 1 or constant_text(source, given[0]) != " ":
        return None
    parts = [part for part in receiver.named_children if part.type != "comment"]
    if not parts or constant_text(source, parts[0]) is None or any(part.type == "spread_element" for part in parts):
        raise RewriteRefused("the program itself is not constant")
    return parts


def _read_part(source: Source, part: Node) -> list[Word]:
    built = build(source, part, UNFOLLOWED)
    if any(isinstance(piece, Text) for piece in built.pieces):
        return words(source, marks(source, built), begun=True)
    hole = StringHole(part)
    check_one_word(source, hole)
    return [(hole,)]


def same_for_both(source: Source, node: Node) -> bool:
    """The remaining arguments mean the same to execFile, unless they ask for a shell."""
    if node.type != "object":
        return node.type in (*FUNCTIONS, "identifier")
    keys = [
        pair.child_by_field_name("key") for pair in node.named_children if pair.type != "shorthand_property_identifier"
    ]
    return all(key is not None and source.text(key).strip("\"'") != "shell" for key in keys)


def write_argument(source: Source, word: Word) -> str:
    if len(word) == 1 and isinstance(word[0], StringHole):
        return f"String({source.text(word[0].node)})"
    if all(isinstance(part, str) for part in word):
        text = "".join(part for part in word if isinstance(part, str))
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return template(source, word)


def run_by_helper(source: Source, node: Node) -> Change:
    """`run(command)` of this file hands its parameter to a shell: its callers now give a program and its arguments."""
    call = read_call(source, node)
    new = PLAIN.get(call.name)
    given = unwrap(call.args[0]) if call.args else node
    bound = origins(source, given) if given.type == "identifier" else []
    if new is None or len(bound) != 1 or bound[0].kind != "parameter":
        raise RewriteRefused(f"there is no plain replacement for {call.name}")
    owner, name = bound[0].node, bound[0].name
    callers, parameters = list_callers(source, owner), list_parameters(owner)
    alone = len(parameters) >= 1 and source.text(parameters[0]) == name
    uses = sum(n.type in NAMED and source.text(n) == name for n in inside(owner, 50_000))
    if not callers or not alone or uses != 2 or _is_shared(source, owner, callers):
        raise RewriteRefused("the command is given by others")
    if not all(same_for_both(source, unwrap(arg)) for arg in call.args[1:]):
        raise RewriteRefused("the call has options of its own")
    free = next((n for n in ("args", "argv", "given") if not _is_used(source, owner, n)), None)
    if free is None:
        raise RewriteRefused("the names that are needed mean something else here")
    bare = parameters[0].parent is not None and parameters[0].parent.type == "arrow_function"
    listed = f"({name}, {free})" if bare else f"{name}, {free}"
    edits = [replace_node(parameters[0], listed), Edit(given.end_byte, given.end_byte, f", {free}")]
    edits += _rename_call(source, node, call.method, new)
    for each in callers:
        edits += _split(source, each.args[0], each.node)
    return Change(tuple(edits), f"{new} {DID}")


def _is_used(source: Source, owner: Node, name: str) -> bool:
    return any(n.type in NAMED and source.text(n) == name for n in inside(owner, 50_000))


def _is_shared(source: Source, owner: Node, callers: Sequence[SourceCall]) -> bool:
    """Whether the function is passed on or exported, so that others may call it."""
    first = callers[0].node.child_by_field_name("function")
    name = source.text(first).rpartition(".")[2] if first is not None else ""
    kinds = (*NAMED, "property_identifier")
    uses = sum(n.type in kinds and source.text(n) == name for n in inside(source.root, 200_000))
    exported = owner.parent is not None and "export" in source.slice(
        max(0, owner.parent.start_byte - 20), owner.start_byte
    )
    return exported or uses != len(callers) + 1 or any(not call.args for call in callers)
