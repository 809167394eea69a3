"""Quotes the values of a command that needs a shell: pipes, redirections, commands put together step by step."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tree_sitter import Node

from moot.scan.bindings import changes, origins
from moot.scan.calls import read_call
from moot.scan.change import Change, Choices, RewriteRefused, replace_node, require_node
from moot.scan.edits import Edit
from moot.scan.marks import Mark, marks
from moot.scan.python.rewrites.module import module
from moot.scan.shell import are_words, is_constant_word, is_one_word
from moot.scan.strings import StringHole, build, build_kept, constant_text, unwrap
from moot.scan.syntax import Source, inside

UNFOLLOWED = 4
NUMERIC = re.compile(r"%[#0\- +]*\d*(?:\.\d+)?[dioxXfFeEgG]|:[^s]*[dfxX]")
QUOTED = re.compile(r"\b(?:shlex|pipes)\.(?:quote|join)\(|(?<![\w.])quote\(")
WINDOWS = re.compile(r"(?i)\bwin32\b|\bos\.name\b|platform\.system|\bcmd(?:\.exe)?\s*/c|powershell|STARTUPINFO")
NESTED = re.compile(
    r"\b(?:sh|bash|zsh|ksh|dash|su|watch|ssh|docker\s+exec|kubectl\s+exec)\b[^|;&]*['\"]|\beval\b|<<|`|\$\(|\\\$"
)
"""Text that a second shell reads, or that is no plain command."""
SHELLS = re.compile(r"(?:/bin/|/usr/bin/)?(?:ba|z|k|da)?sh")
ENDS_COMMAND = frozenset("|;&(\n")
DID = "each value is one word for the shell"


@dataclass
class ShellState:
    """Where in a command line the reader stands."""

    quote: str = ""
    word: str = ""
    """What stands in the word so far."""
    words: int = 0
    edits: list[Edit] = field(default_factory=list)


def quote_values(source: Source, node: Node) -> Iterator[Change]:
    arg = _find_command(source, node)
    if WINDOWS.search(source.text(source.root)):
        raise RewriteRefused("the program also runs where another shell reads the command")
    local, added = module(source, "shlex", node)
    edits: list[Edit] = []
    for first, value in _list_parts(source, arg):
        edits += _quote_part(source, value, local, first=first)
    if not edits:
        raise RewriteRefused("no value stands in the command")
    unique = list(dict.fromkeys(edits))
    yield Change((*unique, *added), DID)


def _find_command(source: Source, node: Node) -> Node:
    call = read_call(source, node)
    arg = unwrap(require_node(call.arg(0, "args", "cmd", "command"), "the call has no command"))
    if arg.type in ("list", "tuple"):
        texts = [constant_text(source, part) for part in arg.named_children]
        if len(texts) < 3 or texts[1] not in ("-c", "-lc", "-ec") or not SHELLS.fullmatch(texts[0] or ""):
            raise RewriteRefused("the command is a list already")
        return unwrap(arg.named_children[2])
    return arg


def _list_parts(source: Source, arg: Node) -> Iterator[tuple[bool, Node]]:
    """The texts that make up the command, and whether it begins with them."""
    if arg.type != "identifier":
        yield True, arg
        return
    found, scope = origins(source, arg), source.scope(arg)
    if not found or any(b.kind not in ("set", "add") or b.value is None for b in found):
        raise RewriteRefused("the command is put together elsewhere")
    here = all(source.scope(b.node) is scope for b in found)
    if not here or len(found) < len(changes(source, scope, source.text(arg))):
        raise RewriteRefused("the command is put together elsewhere")
    for bound in found:
        yield bound.kind == "set", unwrap(require_node(bound.value, "the command is put together elsewhere"))


def _quote_part(source: Source, value: Node, local: str, *, first: bool) -> list[Edit]:
    if (joined := _join_words(source, value, local)) is not None:
        return joined
    kept = build_kept(source, value)
    built = kept[0] if kept is not None else build(source, value, UNFOLLOWED)
    text = built.literal(source)
    if NESTED.search(text):
        raise RewriteRefused("another shell or a here-document reads a part of the command")
    if not built.holes or (len(built.pieces) == 1 and not first and _is_plain(source, built.holes[0])):
        return []
    found = marks(source, built)
    edits = _walk(source, found, local, first=first)
    changed = kept is not None and any(kept[1].start_byte <= edit.start < kept[1].end_byte for edit in edits)
    if changed and kept is not None and _count_uses(source, kept[1]) != 1:
        raise RewriteRefused("the text of the command is used in more places than this one")
    return edits


def _count_uses(source: Source, constant: Node) -> int:
    holder = constant.parent
    left = holder.child_by_field_name("left") if holder is not None else None
    word = source.text(require_node(left, "the text of the command has no name"))
    return sum(1 for n in inside(source.root, 200_000) if n.type == "identifier" and source.text(n) == word) - 1


def _join_words(source: Source, value: Node, local: str) -> list[Edit] | None:
    """`" ".join(words)` becomes `shlex.join(words)`."""
    call = read_call(source, value) if value.type == "call" else None
    callee = value.child_by_field_name("function")
    glue = callee.child_by_field_name("object") if callee is not None and callee.type == "attribute" else None
    if call is None or call.method != "join" or len(call.args) != 1 or constant_text(source, glue) != " ":
        return None
    given = unwrap(call.args[0])
    if given.type in ("generator_expression", "list_comprehension"):
        body = require_node(given.child_by_field_name("body"), "what is joined is not here")
        if QUOTED.search(source.text(body)):
            return []
        if unwrap(body).type not in ("identifier", "attribute", "subscript", "call"):
            raise RewriteRefused("what is joined is put together there")
        return [replace_node(body, f"{local}.quote({source.text(body)})")]
    for part in _list_joined(source, given):
        text = constant_text(source, part)
        if text is not None and not re.fullmatch(r"[\w./:=@%+,-]*", text):
            raise RewriteRefused("a part of the command is more than one word")
        several = unwrap(part) == given and are_words(source.text(part))
        if text is None and not several and not is_one_word(source, StringHole(part)):
            raise RewriteRefused(f"{source.text(part)!r} may hold several words")
    return [replace_node(value, f"{local}.join({source.text(given)})")]


def _list_joined(source: Source, given: Node) -> Iterator[Node]:
    """The words of a list: those that it begins with and those that are appended."""
    if given.type in ("list", "tuple"):
        for part in given.named_children:
            if part.type in ("list_splat", "comment"):
                part = part.named_children[0] if part.named_children else part
            yield part
        return
    if given.type != "identifier":
        raise RewriteRefused("what is joined is made elsewhere")
    for bound in origins(source, given):
        if bound.kind == "parameter":
            yield given
        elif bound.value is None or unwrap(bound.value).type != "list":
            raise RewriteRefused("what is joined is made elsewhere")
        else:
            yield from (part for part in unwrap(bound.value).named_children if part.type != "comment")
    word = source.text(given)
    for node in inside(source.scope(given).node, 50_000):
        call = read_call(source, node) if node.type == "call" else None
        if call is not None and call.name in (f"{word}.append", f"{word}.extend") and call.args:
            extended = call.args[0].named_children if call.args[0].type in ("list", "tuple") else call.args[:1]
            yield from extended


def _walk(source: Source, found: Sequence[Mark], local: str, *, first: bool) -> list[Edit]:
    state = ShellState(words=0 if first else 1)
    for index, mark in enumerate(found):
        if mark.hole is not None:
            _quote_hole(source, found, index, state, local)
            state.word += "x"
        elif mark.text in ("\\", "\ufffd"):
            raise RewriteRefused("an escape in the command is not understood")
        else:
            _step(state, mark.text)
    if state.quote:
        raise RewriteRefused("a quote in the command is not closed")
    return state.edits


def _step(state: ShellState, char: str) -> None:
    if state.quote or char in ("'", '"'):
        ends, state.word = state.quote == char, state.word + "x"
        state.quote = "" if ends else state.quote or char
    elif char in ENDS_COMMAND and not (char == "&" and state.word.endswith(">")):
        state.word, state.words = "", 0
    elif char in (" ", "\t"):
        state.words, state.word = state.words + bool(state.word), ""
    else:
        state.word += char


def _quote_hole(source: Source, found: Sequence[Mark], index: int, state: ShellState, local: str) -> None:
    mark = found[index]
    hole = mark.hole
    if hole is None or NUMERIC.fullmatch(hole.spec) or is_constant_word(source, hole.node):
        return
    if state.word.endswith("$"):
        raise RewriteRefused("the value is the name of a variable")
    if not state.words and not state.word:
        raise RewriteRefused("the program itself is not constant")
    if _is_plain(source, hole):
        if state.quote:
            raise RewriteRefused("the value is quoted twice")
        return
    if hole.spec not in ("", "%s"):
        raise RewriteRefused(f"the value is formatted with {hole.spec!r}")
    if not state.quote:
        if (joined := _quote_words(source, hole, local)) is not None:
            state.edits += joined
            return
        before, after = (found[at].text if 0 <= at < len(found) else " " for at in (index - 1, index + 1))
        redirected = "".join(each.text or "x" for each in found[:index]).rstrip()[-1:] in (">", "<")
        alone = not redirected and before in (" ", "\t") and after in (" ", "\t", "|", ";", "&", ")", "\n", ">")
        if alone and not is_one_word(source, hole):
            raise RewriteRefused(f"{source.text(hole.node)!r} may hold several words, which the shell takes apart")
    else:
        state.edits += _leave_quotes(source, found, index, state.quote)
    state.edits.append(replace_node(hole.node, _write_quoted(source, hole, local)))


def _write_quoted(source: Source, hole: StringHole, local: str) -> str:
    """Operands of + are text; formatted values may be anything."""
    text = source.text(hole.node)
    return f"{local}.quote({text})" if hole.start < 0 else f"{local}.quote(str({text}))"


def _leave_quotes(source: Source, found: Sequence[Mark], index: int, quote: str) -> list[Edit]:
    """The quotes end before the value and begin again behind it; quotes around it alone go."""
    edits: list[Edit] = []
    for at, step in ((index - 1, -1), (index + 1, 1)):
        beside = found[at]
        if beside.hole is None and beside.text == quote:
            edits.append(Edit(beside.start, beside.end, ""))
            continue
        if beside.hole is not None:
            raise RewriteRefused("values follow each other with no text between")
        written = next(source.slice(m.start, m.end) for m in reversed(found[:index]) if m.text == quote)
        place = beside.end if step < 0 else beside.start
        edits.append(Edit(place, place, written))
    return edits


def _quote_words(source: Source, hole: StringHole, local: str) -> list[Edit] | None:
    """A value that is `" ".join(names)` itself, or holds it."""
    value = unwrap(hole.node)
    if value.type == "identifier":
        made = origins(source, value)
        alone = made[0].value if len(made) == 1 and made[0].kind == "set" else None
        if alone is None:
            return None
        value = unwrap(alone)
    return _join_words(source, value, local)


def _is_plain(source: Source, hole: StringHole) -> bool:
    """Already quoted: `shlex.quote(x)`, or a name for it."""
    texts = [source.text(hole.node)]
    if hole.node.type == "identifier":
        texts = [source.text(b.value) for b in origins(source, hole.node) if b.value is not None] or texts
    return all(QUOTED.search(text) for text in texts)


CHOICES: dict[str, Choices] = {"python-shell": quote_values, "python-os-system": quote_values}
