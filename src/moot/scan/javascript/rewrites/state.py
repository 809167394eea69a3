"""Rewrites of JavaScript: secret comparison, lost errors, switches."""

import re

from tree_sitter import Node

from moot.scan.bindings import origins
from moot.scan.calls import read_call
from moot.scan.change import Change, Rewrite, RewriteRefused, replace_node, require_node
from moot.scan.javascript.rewrites.functions import list_parameters
from moot.scan.javascript.rewrites.module import before, function, require_module
from moot.scan.javascript.rewrites.settings import options
from moot.scan.strings import StringHole, build, constant_text, unwrap
from moot.scan.syntax import FUNCTIONS, Source, inside

SAME_SECRET = """const sameSecret = ({given}) => {{
  if (typeof left !== "string" || typeof right !== "string") return left === right;
  const digest = ({text}) => {crypto}.createHash("sha256").update(text).digest();
  return {crypto}.timingSafeEqual(digest(left), digest(right));
}};"""
DATA = r"(?i)json|parse|load|deserial|config|settings|options|state|data|payload"
"""Names of functions and values that say that data is read, which programs write as JSON."""
ORDINARY = re.compile(
    r"\b(?:unlink|rm|rmdir|mkdir|l?stat|access|readFile|readlink|realpath|readdir)(?:Sync)?\(|\bkill\(|ignore\w*"
)
OTHER_TEXT = re.compile(r"(?i)serialize-?javascript|serialized|devalue|uneval|tosource")
"""Writers of dates, expressions and `undefined`, which are no JSON."""
PROTOTYPES = ('"__proto__"', '"constructor"', '"prototype"')
WINDOWS = frozenset({"npm", "npx", "yarn", "pnpm", "tsc"})
"""Programs that are scripts on Windows, found there only by a shell."""


def compare_by_digest(source: Source, node: Node) -> Change:
    """Compares texts by their digests; anything else is compared as before."""
    node = _comparison(source, node)
    operator = source.text(require_node(node.child_by_field_name("operator"), "the operator is not here"))
    left = require_node(node.child_by_field_name("left"), "the comparison is not here")
    right = require_node(node.child_by_field_name("right"), "the comparison is not here")
    crypto, added = require_module(source, "crypto", node)
    typed = source.language == "typescript"
    given, text = ("left: unknown, right: unknown", "text: string") if typed else ("left, right", "text")
    helper = function(source, "sameSecret", SAME_SECRET.format(given=given, text=text, crypto=crypto))
    new = f"sameSecret({source.text(left)}, {source.text(right)})"
    edits = (*added, *helper, replace_node(node, new if operator == "===" else f"!{new}"))
    return Change(edits, "the comparison takes the same time wherever the two differ")


def _comparison(source: Source, node: Node) -> Node:
    """The comparison at the start of the finding: around the compared value, or the first part of a longer test."""
    start, current = node.start_byte, node
    while current.parent is not None and current.parent.start_byte == start:
        current = current.parent
    for inner in inside(current, 400):
        operator = inner.child_by_field_name("operator")
        if inner.start_byte == start and operator is not None and source.text(operator) in ("===", "!=="):
            return inner
    raise RewriteRefused("only === and !== are rewritten")


def log_error(source: Source, node: Node) -> Change:
    """The error is still ignored, but logged."""
    body = require_node(node.child_by_field_name("body"), "the handler is not here")
    name = node.child_by_field_name("parameter")
    if name is not None and name.type != "identifier":
        raise RewriteRefused("the error is taken apart")
    if not re.search(rb"\bconsole\.(?:error|warn)\b", source.data):
        raise RewriteRefused("nothing here says how errors are told")
    steps = node.parent.child_by_field_name("body") if node.parent is not None else None
    if steps is not None and ORDINARY.search(source.text(steps)):
        raise RewriteRefused("this may fail in ordinary use, as when there is no such file")
    error = source.text(name) if name is not None else "error"
    taken = "" if name is not None else f"({error}) "
    return Change(
        (replace_node(body, f"{taken}{{ console.error({error}); }}"),), "the error is logged before it is passed over"
    )


def entities_off(source: Source, node: Node) -> Change:
    value = require_node(node.child_by_field_name("value"), "the switch is not here")
    if node.type != "pair" or source.text(value) != "true":
        raise RewriteRefused("the switch is not written here")
    return Change((replace_node(value, "false"),), "the parser leaves entities alone")


def no_shell(source: Source, node: Node) -> Change:
    """A constant program needs no shell for its arguments."""
    call = read_call(source, node)
    given = [unwrap(arg) for arg in call.args]
    program = constant_text(source, given[0]) if given else None
    if program is None or not re.fullmatch(r"[\w./-]+", program) or program in WINDOWS:
        raise RewriteRefused("the program is one that a shell has to find")
    if len(given) != 3 or given[1].type != "array" or given[2].type != "object":
        raise RewriteRefused("the arguments are given in another way")
    constants = [text for n in given[1].named_children if (text := constant_text(source, n)) is not None]
    if not all(re.fullmatch(r"[\w./:=@%+,-]*", text) for text in constants):
        raise RewriteRefused("an argument is written for the shell")
    flag = options(source, given[2]).get("shell")
    if flag is None or source.text(flag) != "true":
        raise RewriteRefused("the shell is named, or the program is one itself")
    return Change((replace_node(flag, "false"),), "the program gets its arguments as they are and no shell reads them")


def data_only(source: Source, node: Node) -> Change:
    """This library writes plain data as JSON; only functions are lost."""
    call = read_call(source, node)
    if call.name != "node-serialize.unserialize" or len(call.args) != 1:
        raise RewriteRefused(f"there is no plain replacement for {call.name}")
    callee = require_node(node.child_by_field_name("function"), "the call has no name")
    return Change((replace_node(callee, "JSON.parse"),), "only data is read; functions in it stay texts")


def evaluate(source: Source, node: Node) -> Change:
    """`eval("(" + text + ")")` is the old way to parse JSON."""
    call = read_call(source, node)
    built = build(source, call.args[0]) if len(call.args) == 1 else None
    pieces = [p for p in built.pieces if not isinstance(p, StringHole)] if built is not None else []
    texts = [source.slice(p.start, p.end).strip() for p in pieces]
    if call.name != "eval" or built is None or built.home is not None or len(built.holes) != 1:
        raise RewriteRefused("code that is run cannot be replaced by data")
    if [text for text in texts if text] != ["(", ")"]:
        raise RewriteRefused("code that is run cannot be replaced by data")
    value = source.text(built.holes[0].node)
    if OTHER_TEXT.search(source.text(source.scope(node).node)):
        raise RewriteRefused("the text is written by a program that writes more than JSON")
    if not re.search(DATA, f"{value} {source.scope(node).name}"):
        raise RewriteRefused("nothing says that the text is JSON: keys without quotes would no longer be read")
    return Change((replace_node(node, f"JSON.parse({value})"),), "only data is read")


def plain_keys(source: Source, node: Node) -> Change:
    """Skips keys that lead to a prototype; data has no such keys."""
    left = node.child_by_field_name("left")
    index = left.child_by_field_name("index") if left is not None else None
    if left is None or index is None:
        raise RewriteRefused(NO_LOOP)
    if index.type != "identifier":
        return _refuse_way(source, node, left, index)
    key, loop = source.text(index), node.parent
    while loop is not None and not _runs_over(source, loop, key):
        loop = loop.parent
    body = loop.child_by_field_name("body") if loop is not None else None
    if loop is None or body is None or body.type != "statement_block" or not body.named_children:
        raise RewriteRefused(NO_LOOP)
    first = body.named_children[0]
    # An entry called `constructor` leads to a prototype only if what is there already is gone into, in another object
    # than the one whose own entries the loop runs over.
    over, filled = loop.child_by_field_name("right"), left.child_by_field_name("object")
    own = over is not None and filled is not None and source.text(filled) in source.text(over)
    inward = source.text(body).count(source.text(left)) > 1 and not own
    names = PROTOTYPES if inward else PROTOTYPES[:1]
    leave = "continue" if loop.type == "for_in_statement" else "return"
    guard = f"if ({' || '.join(f'{key} === {name}' for name in names)}) {leave};"
    return Change((before(source, first, guard),), f"a {key} that leads to a prototype is passed over")


NO_LOOP = "the key is not one that a loop runs over"


def _runs_over(source: Source, loop: Node, key: str) -> bool:
    """A loop over keys, or the function that `forEach` calls for each."""
    if loop.type == "for_in_statement":
        left = loop.child_by_field_name("left")
        return left is not None and _names(source, left, key)
    outer = loop.parent.parent if loop.parent is not None else None
    called = outer is not None and outer.type == "call_expression" and read_call(source, outer).method == "forEach"
    return called and loop.type in FUNCTIONS and any(_names(source, each, key) for each in list_parameters(loop)[:1])


def _names(source: Source, left: Node, key: str) -> bool:
    """`key` itself, or the first of `[key, value]`."""
    first = left.named_children[0] if left.type == "array_pattern" and left.named_children else left
    return source.text(first) == key


def _refuse_way(source: Source, node: Node, left: Node, index: Node) -> Change:
    """`node[keys[i]]` goes along a way of keys: none of them may lead to a prototype."""
    keys = index.child_by_field_name("object") if index.type == "subscript_expression" else None
    made = origins(source, keys) if keys is not None and keys.type == "identifier" else []
    if keys is None or len(made) != 1 or made[0].kind != "set" or made[0].value is None:
        raise RewriteRefused(NO_LOOP)
    value = unwrap(made[0].value)
    cut = value.type == "call_expression" and read_call(source, value).method in ("split", "match", "filter")
    statement = source.statement(made[0].node)
    if not cut or statement is None or source.scope(statement) is not source.scope(node):
        raise RewriteRefused(NO_LOOP)
    test = " || ".join(f"key === {name}" for name in PROTOTYPES)
    way = source.text(keys)
    guard = f'if ({way}.some((key) => {test})) {{ throw new Error("the way leads to a prototype"); }}'
    place = statement.next_named_sibling
    if place is None:
        raise RewriteRefused(NO_LOOP)
    return Change((before(source, place, guard),), f"no part of {way} leads to a prototype")


REWRITES: dict[str, Rewrite] = {
    "javascript-timing": compare_by_digest,
    "javascript-xxe": entities_off,
    "javascript-program": no_shell,
    "javascript-deserialise": data_only,
    "javascript-eval": evaluate,
    "javascript-prototype": plain_keys,
}
