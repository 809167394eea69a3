"""Code that somebody chose on purpose: under a condition, in an error handler, in a library of its own."""

import re

from tree_sitter import Node

from moot.scan.bindings import origins
from moot.scan.change import RewriteRefused
from moot.scan.strings import StringHole, build, unwrap
from moot.scan.syntax import FUNCTIONS, Source, words

UNFOLLOWED = 4
CONDITIONS = words(
    "if_statement elif_clause conditional_expression ternary_expression match_statement switch_statement "
    "expression_switch_statement"
)
HANDLERS = words("except_clause catch_clause")


def is_chosen_by(source: Source, node: Node, pattern: str) -> bool:
    """Whether an enclosing condition matches these words."""
    return any(re.search(pattern, condition) for condition in conditions(source, node))


def conditions(source: Source, node: Node) -> list[str]:
    """Enclosing conditions within the function, nearest first; an error handler counts as one."""
    found: list[str] = []
    current = node
    while (parent := current.parent) is not None and parent.type not in FUNCTIONS:
        if parent.type in CONDITIONS:
            test = parent.child_by_field_name("condition") or parent.child_by_field_name("subject")
            test = test or (parent.named_children[1] if parent.type == "conditional_expression" else None)
            found.append(source.text(test) if test is not None else source.text(parent))
        elif parent.type in HANDLERS:
            found.append("except")
        current = parent
    return found


def name_function(source: Source, node: Node) -> str:
    """The function around it; `const log = (message) => …` has the name of its variable."""
    scope = source.scope(node)
    holder = scope.node.parent
    named = holder.child_by_field_name("name") or holder.child_by_field_name("key") if holder is not None else None
    return scope.name or (source.text(named) if named is not None else "")


WITHIN = words(
    "boolean_operator binary_expression conditional_expression ternary_expression lambda arrow_function "
    "function_expression list_comprehension set_comprehension dictionary_comprehension generator_expression"
)
FIRST_RUNS = words("boolean_operator binary_expression")
SHORT = re.compile(r"and|or|&&|\|\||\?\?")


def require_run(source: Source, node: Node, statement: Node) -> None:
    """Raises unless whoever runs the statement runs this part of it: what is written before the statement always
    runs. `boundary is not None and exists(join(root, boundary))` asks first."""
    current = node
    while (parent := current.parent) is not None and current != statement:
        if parent.type in WITHIN and not (parent.type in FIRST_RUNS and _always_runs(source, parent, current)):
            raise RewriteRefused("whether this part of the statement runs is decided in the statement itself")
        current = parent


def _always_runs(source: Source, parent: Node, part: Node) -> bool:
    operator = parent.child_by_field_name("operator")
    short = operator is not None and SHORT.fullmatch(source.text(operator)) is not None
    return not short or part == parent.named_children[0]


READ = re.compile(r"(?i)csrf|xsrf|lang|locale|theme|consent|timezone")
"""Names of cookies that scripts of the page read."""
FLAGS = re.compile(r"(?is)(?=.*http_?only['\"]?\s*[:=]\s*true)(?=.*same_?site)(?!.*\bsecure['\"]?\s*[:=])")


def leave_plain_cookie(source: Source, node: Node) -> None:
    """Raises if the other flags of a cookie are set: its writer thought of them, and the site may be plain HTTP."""
    if FLAGS.match(source.text(node)):
        raise RewriteRefused("the other flags are set and this one is not, so the site may be served over plain HTTP")


REVIEWED = re.compile(
    r"(?i)(?:#|//|/\*)\s*(?:#?nosec\b|noqa:[^#\n]*\bS\d{3}|nolint:[\w,]*gosec\b|gosec:disable\b|nosemgrep|nosonar"
    r"|eslint-disable-(?:next-)?line[^\n]*\bsecurity)"
)
"""Comments in which somebody tells another scanner that the line is meant."""


REASON = re.compile(
    r"(?i)\b(?:can ?not|can't|cannot|needed|needs|because|so that|otherwise|require[sd]?|instead|due to|on purpose"
    r"|workaround|intentional(?:ly)?|deliberate(?:ly)?|not (?:used|a secret)|no secret)\b"
)


def leave_explained(source: Source, node: Node) -> None:
    """Raises if a comment on the line or right above gives the reason for a setting."""
    statement = source.statement(node)
    above = statement.prev_named_sibling if statement is not None else None
    near = above is not None and statement is not None and above.end_point[0] + 1 >= statement.start_point[0]
    told = source.text(above) if above is not None and above.type == "comment" and near else ""
    comment = re.search(r"(?:#|//).*$", source.line(node))
    if REASON.search(told) or (comment is not None and REASON.search(comment[0])):
        raise RewriteRefused("a comment gives the reason for it")


def leave_reviewed(source: Source, node: Node) -> None:
    """Raises if a comment on the line, or alone on the line before, says that a person looked at it."""
    begin = source.data.rfind(b"\n", 0, node.start_byte) + 1
    last = source.slice(source.data.rfind(b"\n", 0, max(begin - 1, 0)) + 1, begin).strip()
    if REVIEWED.search(source.line(node)) or (last.startswith(("#", "//", "/*")) and REVIEWED.match(last)):
        raise RewriteRefused("a comment says that somebody looked at it and means it so")


ASKED_FOR = re.compile(r"(?i)\b(?:cfg|conf|config|settings|options|opts)(?:\.\w+)*\(")


def leave_configured(source: Source, node: Node) -> None:
    """Raises if the function asks the configuration, which may name a server of the user's own."""
    if ASKED_FOR.search(source.text(source.scope(node).node)):
        raise RewriteRefused("the configuration names the server, whose certificate may be its own")


UNCHECKED = re.compile(r"(?i)insecure|unverif|untrusted|(?:no|skip|without)_?(?:verif|check)|unsafe|dangerous")
NOT_VERIFIED = re.compile(r"(?i)\b(?:doesn't|does not|don't|do not|without|not|no)\b[^.]{0,30}\bverif")


def leave_announced(source: Source, node: Node, what: str) -> None:
    """Raises if the function says by its name, or in front of its first step, that this is what it is for."""
    scope = source.scope(node)
    body = scope.node.child_by_field_name("body") if scope.name else None
    first = body.named_children[0] if body is not None and body.named_children else None
    about = source.text(first) if first is not None else ""
    said = about.startswith(('"', "'")) and NOT_VERIFIED.search(about)
    if UNCHECKED.search(scope.name) or said:
        raise RewriteRefused(f"the function says that it is for leaving out {what}")


def leave_wrapper(source: Source, node: Node) -> None:
    """Raises if the function is a redirect itself: where it leads is for its callers to say."""
    if re.match(r"(?i)_*redirect(?:_?to)?$", source.scope(node).name):
        raise RewriteRefused("the function is a redirect itself, and its callers say where it leads")


SUMS = words("binary_expression binary_operator")
ASKING = re.compile(r"\b(?:r|req|request|self|ctx|c|args|params|query|form)\b")


def leave_own_host(source: Source, target: Node) -> None:
    """Raises if the address begins with a value that no request brought: `base + r.URL.Path` stays on that host."""
    bound = origins(source, target) if target.type == "identifier" else []
    for text in [each.value for each in bound if each.kind == "set" and each.value is not None] or [target]:
        first = _find_beginning(source, unwrap(text))
        if first is None:
            continue
        known = origins(source, first) if first.type == "identifier" else []
        if not any(ASKING.search(source.text(value)) for value in (first, *(o.value for o in known if o.value))):
            raise RewriteRefused("the address begins with one that the program chooses itself")


def _find_beginning(source: Source, text: Node) -> Node | None:
    """The value that a text begins with, if more follows."""
    first = text
    while first.type in SUMS and (left := first.child_by_field_name("left")) is not None:
        first = unwrap(left)
    pieces = [p for p in build(source, first, UNFOLLOWED).pieces if isinstance(p, StringHole) or p.start < p.end]
    if not pieces or not isinstance(pieces[0], StringHole) or (first is text and len(pieces) < 2):
        return None
    return unwrap(pieces[0].node)


STARTING = re.compile(
    r"(?i)(?:^|[._])(?:(?:get)?cwd(?:\(\))?|pwd|current_?(?:dir\w*|folder)|work(?:ing)?_?(?:dir\w*|folder)|project[._]?(?:path|root|dir))$"
)
"""Names of a folder in which relative names start."""
CONFIGURED = re.compile(r"Config(?:uration)?$")
CLASSES = words("class_definition class_declaration")
ASKED = frozenset({"req", "res", "request", "response", "ctx"})


def leave_start(source: Source, node: Node, folder: str) -> None:
    """Raises if the folder is where a person works, or a class reads its configuration: what is named from there may
    lead out of it. Not in a handler, where somebody else names it."""
    if source.scope(node).parameters & ASKED:
        return
    if STARTING.search(folder) or any(CONFIGURED.search(name) for name in _list_classes(source, node)):
        raise RewriteRefused(f"{folder} is where relative names start, and they may lead out of it")


def _list_classes(source: Source, node: Node) -> list[str]:
    """The names of the classes around it."""
    names: list[str] = []
    outer = node.parent
    while outer is not None:
        name = outer.child_by_field_name("name") if outer.type in CLASSES else None
        names += [source.text(name)] if name is not None else []
        outer = outer.parent
    return names


def leave_choices(source: Source, node: Node, what: str) -> None:
    """Raises if the place is conditional: the code does not say who decides."""
    if any(not re.match(r"\(?__name__\b", test) for test in conditions(source, node)):
        raise RewriteRefused(f"{what} is decided by a condition here, so somebody asks for it")
