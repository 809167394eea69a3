"""What a server tells that only its makers should see: stack traces, its whole environment, listings of folders."""

import re
from bisect import bisect_right
from collections.abc import Iterator

from tree_sitter import Node

from moot.scan.calls import modules
from moot.scan.javascript.rules.flaws import DISCLOSURE
from moot.scan.rule import RuleMatch
from moot.scan.syntax import Source, nth

ANSWERS = re.compile(
    r"(?:^|[.\s])(?:res|resp|response|reply|ctx|c|h|NextResponse|Response)"
    r"(?:\.\w+\([^()]*\))*\.(?:send|json|jsonp|end|write|render|text|html|response)$"
)
"""`res.status(500).json` of Express, `reply.code(500).send` of Fastify, `c.json` of Hono, `h.response` of hapi."""
BODY = re.compile(r"(?:^|\.)(?:ctx|context|this)\.(?:response\.)?body$")
STACK = re.compile(r"\b(?:e|ex|exc|err|error|exception|reason|cause|\w+(?:Err|Error|Exception))\??\.stack\b")
ENVIRONMENT = re.compile(r"\bprocess\.env\b(?!\s*(?:\.|\?\.|\[))")
"""All of it: a variable that is named may be a public one."""
FOR_MAKERS = re.compile(
    r"(?i)NODE_ENV|\b(?:(?:is|in)_?)?(?:dev|develop\w*|debug\w*|prod|production|expose\w*)(?:_?(?:mode|env))?\b"
)
REQUIRED = re.compile(r"require\(\s*['\"]([\w./-]+)['\"]\s*\)")
HANDLERS = frozenset({"errorhandler", "serve-index"})
"""Middleware whose documentation says that it is for development, or lists what lies in a folder."""


def find_exposed(source: Source) -> Iterator[RuleMatch]:
    found: list[RuleMatch] = []
    if b".stack" in source.data or b"process.env" in source.data:
        found += _find_told(source)
    if not modules(source).isdisjoint(HANDLERS):
        found += _find_mounted(source)
    guarded = GuardedParts(source) if found else None
    yield from (match for match in found if guarded is not None and match.node not in guarded)


class GuardedParts:
    """Branches that ask whether this is production."""

    def __init__(self, source: Source) -> None:
        # By the outermost ones: to climb from each node costs the square of the depth.
        self.starts, self.ends = list[int](), list[int]()
        for node in sorted(source.nodes("if_statement", "ternary_expression"), key=lambda node: node.start_byte):
            condition = node.child_by_field_name("condition")
            inner = bool(self.ends) and node.start_byte < self.ends[-1]
            if not inner and condition is not None and FOR_MAKERS.search(source.text(condition)):
                self.starts.append(node.start_byte)
                self.ends.append(node.end_byte)

    def __contains__(self, node: Node) -> bool:
        at = bisect_right(self.starts, node.start_byte) - 1
        return at >= 0 and node.start_byte < self.ends[at]


def _find_told(source: Source) -> Iterator[RuleMatch]:
    for node in source.nodes("call_expression"):
        function, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is not None and given is not None and ANSWERS.search(source.text(function)):
            yield from _judge(source, node, given)
    for node in source.nodes("assignment_expression"):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is not None and right is not None and BODY.search(source.text(left)):
            yield from _judge(source, node, right)


def _judge(source: Source, node: Node, given: Node) -> Iterator[RuleMatch]:
    told = source.text(given)
    if (STACK.search(told) or ENVIRONMENT.search(told)) and not FOR_MAKERS.search(told):
        yield RuleMatch(DISCLOSURE, node)


def _find_mounted(source: Source) -> Iterator[RuleMatch]:
    """`app.use(errorhandler())`"""
    names = {local for local, module in _list_imports(source) if module in HANDLERS}
    for node in source.nodes("call_expression"):
        function = node.child_by_field_name("function")
        if function is not None and source.text(function) in names:
            yield RuleMatch(DISCLOSURE, node)


def _list_imports(source: Source) -> Iterator[tuple[str, str]]:
    for node in source.nodes("variable_declarator"):
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        found = REQUIRED.fullmatch(source.text(value)) if value is not None else None
        if name is not None and found:
            yield source.text(name), found[1]
    for node in source.nodes("import_statement"):
        clause, origin = nth(node, 0), node.child_by_field_name("source")
        if clause is not None and origin is not None:
            yield source.text(clause), source.text(origin).strip("'\"")
