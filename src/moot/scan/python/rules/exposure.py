"""The text of an unexpected error in an answer of a web server: paths, queries and versions are in it."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from moot.scan.calls import modules, read_call
from moot.scan.python.rules import flaws as flaw
from moot.scan.rule import RuleMatch
from moot.scan.syntax import Source, inside, nth, words

WEB = words("flask quart django fastapi starlette aiohttp sanic bottle tornado rest_framework falcon pyramid")
ANSWERS = words(
    "jsonify make_response Response JsonResponse HttpResponse HttpResponseServerError HTTPException JSONResponse "
    "PlainTextResponse HTMLResponse json_response abort HTTPInternalServerError json text"
)
BROAD = re.compile(r"^(?:\w+\.)*(?:Exception|BaseException)$")
FAILED = re.compile(r"\b500\b|INTERNAL_SERVER_ERROR|InternalServerError|HttpResponseServerError|ServerError")
HANDLER = re.compile(
    r"@(?:\w+\.)*(?:app_)?(?:errorhandler|exception_handler)\(\s*(?:\w+\.)*(?:Exception|BaseException|500)\s*\)"
)
FOR_MAKERS = re.compile(r"(?i)\b(?:\w+[._])?(?:debug|dev|develop\w*|testing)\b")


def find_shown_errors(source: Source) -> Iterator[RuleMatch]:
    if modules(source).isdisjoint(WEB):
        return
    if b"format_exc" in source.data:
        yield from (RuleMatch(flaw.EXPOSED, node) for node in source.nodes("return_statement") if _traces(source, node))
    for name, body in _list_handlers(source):
        if FOR_MAKERS.search(source.text(source.scope(body).node)):
            continue
        seen = -1
        for node in inside(body):
            if node.start_byte >= seen and _shows(source, node, name):
                seen = node.end_byte
                yield RuleMatch(flaw.EXPOSED, node)


def _list_handlers(source: Source) -> Iterator[tuple[str, Node]]:
    """The names of unexpected errors, and the code that handles them."""
    for clause in source.nodes("except_clause"):
        value = clause.child_by_field_name("value")
        if value is None or value.type != "as_pattern" or len(value.named_children) != 2:
            continue
        caught, name = value.named_children
        if BROAD.match(source.text(caught)):
            yield source.text(name), clause.named_children[-1]
    for node in source.nodes("decorated_definition"):
        function = node.child_by_field_name("definition")
        body = function.child_by_field_name("body") if function is not None else None
        given = function.child_by_field_name("parameters") if function is not None else None
        handles = any(HANDLER.match(source.text(child)) for child in node.named_children if child.type == "decorator")
        if handles and body is not None and given is not None and given.named_child_count:
            last = given.named_children[-1]
            yield re.split(r"\W", source.text(last))[0], body


def _traces(source: Source, node: Node) -> bool:
    """`return {"trace": traceback.format_exc()}` in a route: the framework makes JSON of it."""
    value = nth(node, 0)
    scope = source.scope(node).node
    if value is None or value.type != "dictionary" or FOR_MAKERS.search(source.text(scope)):
        return False
    decorated = scope.parent is not None and scope.parent.type == "decorated_definition"
    traced = any(
        part.type == "call" and read_call(source, part).name == "traceback.format_exc" for part in inside(value)
    )
    return decorated and traced


def _shows(source: Source, node: Node, name: str) -> bool:
    """`return jsonify(error=str(e)), 500`, `raise HTTPException(500, detail=str(e))`"""
    if node.type not in ("return_statement", "raise_statement") or not FAILED.search(source.text(node)):
        return False
    answers = [call for call in inside(node, 400) if call.type == "call" and _is_answer(source, call)]
    return any(_tells(source, part, name) for call in answers for part in inside(call, 400))


def _is_answer(source: Source, call: Node) -> bool:
    return read_call(source, call).method in ANSWERS


def _tells(source: Source, part: Node, name: str) -> bool:
    if part.type == "call":
        call = read_call(source, part)
        return call.method in ("str", "repr") and len(call.args) == 1 and source.text(call.args[0]) == name
    return (
        part.type == "interpolation"
        and re.fullmatch(rf"\{{\s*{re.escape(name)}\s*(?:![rs])?\s*\}}", source.text(part)) is not None
    )
