"""Splits a shell command line into arguments."""

import re
from collections.abc import Sequence
from typing import TypeAlias

from tree_sitter import Node

from moot.scan.bindings import origins
from moot.scan.change import RewriteRefused
from moot.scan.marks import Mark
from moot.scan.sql import Part
from moot.scan.strings import StringHole, constant_text, unwrap
from moot.scan.syntax import Source
from moot.scan.syntax import words as word_set

Word: TypeAlias = tuple[Part, ...]
ONE_WORD = word_set(
    "path file filename filepath dir directory folder host hostname ip addr address url uri domain name username "
    "user email id pid uid gid port branch tag repo image container package pkg module key device interface iface "
    "target source src dst dest destination archive script program server node volume bucket table database db "
    "version ref commit sha hash number count size index num log logfile outfile infile output input out word term "
    "keyword text message title label query comment description subject caption account login group owner service "
    "unit process zone width height quality format ext extension timeout seconds duration prefix suffix remote "
    "subnet network fqdn mac lines limit depth level max min year month day date in outpath"
)
"""Last words of names that hold a single argument."""
ONE = frozenset({"%d", "%x", "%q"})
"""Verbs that write one word."""
QUOTED = re.compile(r"\b(?:quote|shellescape|escapeshellarg|basename|str\(int|int)\(")
BUILT_IN = word_set(
    "cd source . export eval exec ulimit alias type set command read wait umask exit trap unset time if for "
    "while until case function : let jobs bg fg builtin declare local shift times getopts hash return break "
    "continue history dir copy del cls start move md rd ren"
)
SIMPLE = re.compile(r"[A-Za-z0-9_./:=@%+,\-]")
WORD = re.compile(rf"{SIMPLE.pattern}+")


def words(source: Source, marks: Sequence[Mark], *, begun: bool = False) -> list[Word]:
    """The arguments of a simple command; refuses anything that needs a shell. An unquoted value is one argument only if
    it certainly is: the shell would split a string of options. `begun`: the program came before."""
    found: list[Word] = []
    current: list[Part] | None = None
    quote = ""
    quoted: list[StringHole] = []
    for mark in marks:
        if mark.hole is not None and quote:
            quoted.append(mark.hole)
        if mark.hole is None and mark.text in ("'", '"') and quote in ("", mark.text):
            quote = "" if quote else mark.text
            current = current or []
        elif mark.hole is None and not quote and mark.text in (" ", "\t"):
            if current is not None:
                found.append(tuple(current))
            current = None
        else:
            current = _extend_word(current or [], mark, quote)
    if quote:
        raise RewriteRefused("a quote in the command is not closed")
    if current is not None:
        found.append(tuple(current))
    if not begun:
        _check_program(found)
    alone = [word[0] for word in found if len(word) == 1 and isinstance(word[0], StringHole) and word[0] not in quoted]
    for hole in alone:
        check_one_word(source, hole)
    return found


def check_one_word(source: Source, hole: StringHole) -> None:
    if _may_be_empty(source, hole):
        raise RewriteRefused(
            f"{source.text(hole.node)!r} may be empty, which a shell leaves out and a list of arguments does not"
        )
    if not is_one_word(source, hole):
        raise RewriteRefused(
            f"{source.text(hole.node)!r} may hold several words, which a shell takes apart and a list of arguments "
            "does not"
        )


EMPTY = re.compile(r"""(?:\|\||\?\?|:|=)\s*(?:""|''|``)""")


def _may_be_empty(source: Source, hole: StringHole) -> bool:
    node = hole.node
    values = [source.text(node), *_list_defaults(source, node)]
    if node.type == "identifier":
        values += [source.text(b.value) for b in origins(source, node) if b.value is not None]
    return any(EMPTY.search(value) for value in values)


def are_words(name: str) -> bool:
    """Whether each item of a list of this name is one argument: `paths`."""
    last = re.findall(r"[A-Za-z]+", name) or [""]
    return any(last[-1].lower() == ending.format(word) for word in ONE_WORD for ending in ("{}s", "{}es"))


def is_one_word(source: Source, hole: StringHole) -> bool:
    """Whether a value is certainly meant as one argument, by its name or its type."""
    text = source.text(hole.node)
    values = [text]
    if hole.node.type == "identifier":
        values += [source.text(b.value) for b in origins(source, hole.node) if b.value is not None]
    if hole.spec in ONE:
        return True
    last = re.findall(r"[A-Za-z]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", text)) or [""]
    if is_constant_word(source, hole.node) or _is_number(source, hole.node) or _is_word_by_default(source, hole.node):
        return True
    if _may_be_empty(source, hole):
        return False
    named = last[-1].lower() in ONE_WORD or bool(QUOTED.search(text))
    return named and not any(re.search(r"""\.join\(|["'`][^"'`]*\s[^"'`]*["'`]""", value) for value in values)


def _is_number(source: Source, name: Node) -> bool:
    """A parameter with the type or the default of a number."""
    if name.type != "identifier" or source.language != "python":
        return False
    scope = source.scope(name)
    given = scope.node.child_by_field_name("parameters") if source.text(name) in scope.parameters else None
    word = re.escape(source.text(name))
    written = rf"[(,]\s*{word}\s*(?::\s*(?:int|float)\s*(?:=[^,)]*)?|=\s*-?\d[\d._]*\s*)(?=[,)])"
    return given is not None and re.search(written, source.text(given)) is not None


def _is_word_by_default(source: Source, name: Node) -> bool:
    """`limit` of `(branch, limit = 5)`, `type` of `(host, type = "A")`"""
    return any(re.fullmatch(r"""= (?:\d+|["'][\w./:-]+["'])""", default) for default in _list_defaults(source, name))


def _list_defaults(source: Source, name: Node) -> list[str]:
    """`= 5` of the parameter with this name."""
    found = []
    kinds = ("assignment_pattern", "object_assignment_pattern", "required_parameter")
    for given in source.nodes(*kinds):
        left, right = given.child_by_field_name("left"), given.child_by_field_name("right")
        left = left or given.child_by_field_name("pattern")
        right = right or given.child_by_field_name("value")
        if left is not None and right is not None and source.text(left) == source.text(name):
            found.append(f"= {source.text(right)}")
    return found


def is_constant_word(source: Source, name: Node) -> bool:
    """`flags = "-czf" if compress else "-cf"`: each of its values is written here and is one word."""
    found = origins(source, name) if name.type == "identifier" else []
    values = [b.value for b in found if b.kind == "set" and b.value is not None]
    parts = [part for value in values for part in _list_alternatives(value)]
    texts = [constant_text(source, part) for part in parts]
    return len(values) == len(found) > 0 and all(text is not None and WORD.fullmatch(text) for text in texts)


def _list_alternatives(value: Node) -> list[Node]:
    value = unwrap(value)
    if value.type == "conditional_expression":
        return [each for place in (0, 2) for each in _list_alternatives(value.named_children[place])]
    if value.type == "ternary_expression":
        return [each for place in (1, 2) for each in _list_alternatives(value.named_children[place])]
    return [value]


def _extend_word(current: list[Part], mark: Mark, quote: str) -> list[Part]:
    if mark.hole is not None:
        return [*current, mark.hole]
    plain = mark.text not in ("$", "`", "\\", "!", "\ufffd", "\n") if quote else bool(SIMPLE.fullmatch(mark.text))
    if not plain:
        raise RewriteRefused(f"{mark.text!r} needs a shell")
    if current and isinstance(current[-1], str):
        return [*current[:-1], current[-1] + mark.text]
    return [*current, mark.text]


def _check_program(found: Sequence[Word]) -> None:
    first = found[0] if found else ()
    if len(first) != 1 or not isinstance(first[0], str):
        raise RewriteRefused("the program itself is not constant")
    if "=" in first[0] or first[0] in BUILT_IN:
        raise RewriteRefused(f"{first[0]!r} is a matter of the shell")
