"""Where a digest is used: it may be replaced only if it is merely displayed."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from moot.scan.calls import CALLS, MEMBERS, read_call
from moot.scan.change import RewriteRefused
from moot.scan.rewrites.choices import is_chosen_by
from moot.scan.syntax import Source, inside, words

OWN = words(
    "hexdigest digest update copy encode decode upper lower hex strip Sum Write toString toUpperCase toLowerCase"
)
"""Methods of a hash or digest that return one again."""
PASSING = words("str b64encode hexlify format bytes Sprintf Sprint EncodeToString String join b16encode repr")
SHOWING = words(
    "print write writelines info debug warning error log Print Println Printf Fprintf Fprintln Fprint WriteString Copy"
)
WRAPPING = words(
    "parenthesized_expression tuple interpolation string binary_operator binary_expression template_substitution "
    "template_string expression_list argument_list arguments await slice_expression"
)
ALONE = words("expression_statement")
NAMING = words(
    "assignment augmented_assignment short_var_declaration variable_declarator assignment_expression var_spec"
)
DEPTH = 4


def require_shown_only(source: Source, node: Node) -> None:
    """Raises if the digest may be compared, stored or sent to somebody who knows the old one."""
    if is_chosen_by(source, node, r"(?i)md5|sha|hash|algo|digest|method|kind|type"):
        raise RewriteRefused("which digest is made is chosen by whoever calls this")
    _follow(source, node, DEPTH)


def _follow(source: Source, node: Node, depth: int) -> None:
    current = node
    while (parent := current.parent) is not None:
        if parent.type in MEMBERS:
            whole = parent.parent
            if whole is None or whole.type not in CALLS or read_call(source, whole).method not in OWN:
                raise RewriteRefused("the digest is used in a way that may count on the old one")
            current = whole
        elif parent.type in CALLS:
            method = read_call(source, parent).method
            if method in SHOWING:
                return _require_seen(source, parent)
            if method not in PASSING | OWN:
                raise RewriteRefused("the digest is given to other code, which may count on the old one")
            current = parent
        elif parent.type in WRAPPING:
            _check_operator(source, parent)
            current = parent
        elif parent.type in NAMING:
            return _follow_name(source, parent, current, depth)
        elif parent.type in ALONE:
            return
        else:
            raise RewriteRefused("whoever gets the digest may compare it with one of the old kind")
    raise RewriteRefused("whoever gets the digest may compare it with one of the old kind")


def _require_seen(source: Source, shown: Node) -> None:
    """Raises if it is written into a text that this function puts together: whoever gets that may compare it."""
    args = read_call(source, shown).args
    into = source.text(args[0]).lstrip("&") if args and source.text(shown).startswith("fmt.F") else ""
    about = source.text(source.scope(shown).node)
    if into and re.search(rf"\b{re.escape(into)}\b[^\n]*\b(?:strings\.Builder|bytes\.(?:Buffer|NewBuffer))", about):
        raise RewriteRefused("the digest is part of a text that others may compare it with")


def _check_operator(source: Source, node: Node) -> None:
    operator = node.child_by_field_name("operator")
    if operator is not None and source.text(operator) not in ("+", "%"):
        raise RewriteRefused("the digest is compared or computed with")


def _follow_name(source: Source, holder: Node, value: Node, depth: int) -> None:
    left = holder.child_by_field_name("left") or holder.child_by_field_name("name")
    target = left.named_children[0] if left is not None and left.type == "expression_list" else left
    if target is None or target.type != "identifier" or depth == 0 or value.start_byte <= target.start_byte:
        raise RewriteRefused("the digest is kept where others may compare it with one of the old kind")
    for use in _uses(source, target):
        _follow(source, use, depth - 1)


def _uses(source: Source, target: Node) -> Iterator[Node]:
    """Uses of the name in its function."""
    word = source.text(target)
    for node in inside(source.scope(target).node, 50_000):
        if node.type != "identifier" or source.text(node) != word or node.start_byte == target.start_byte:
            continue
        holder = node.parent
        written = holder is not None and holder.type in NAMING and _is_target(holder, node)
        if not written:
            yield node


def _is_target(holder: Node, node: Node) -> bool:
    left = holder.child_by_field_name("left") or holder.child_by_field_name("name")
    return left is not None and left.start_byte <= node.start_byte < left.end_byte
