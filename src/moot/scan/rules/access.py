"""State-changing routes without a login, although neighbours in the file require one."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from moot.core.types import Language
from moot.scan.calls import calls, modules
from moot.scan.rule import Rule, RuleMatch
from moot.scan.strings import constant_text
from moot.scan.syntax import Source

GUARD = re.compile(
    r"(?i)login|auth|permission|jwt|token|admin|role|protect|secured|current_?user|verify|logged|api_?key|ensure|"
    r"guard|passport|restrict|require|\bacl\b|user_passes|session"
)
"""Names of decorators, dependencies and middleware that restrict access."""
CHECKS_ITSELF = re.compile(
    r"(?i)current_user|session|\b40[13]\b|authoriz|authentic|permission|token|api_?key|verify|login|logged|hmac|"
    r"signature|forbidden|(?:g|req|request|ctx|this|self)\.(?:state\.)?(?:user|auth)\b|jwt|passw|PermissionDenied|"
    r"is_?admin|owner"
)
FOR_EVERYBODY = re.compile(
    r"(?i)log-?(?:in|out)|sign|regist|auth|token|passw|reset|forgot|verif|confirm|hook|callback|health|ping|status|"
    r"metrics|public|contact|subscri|search|static|error|csrf|install|setup|feedback|track|consent|refresh|session|"
    r"account/new|users?/new|join|invite|graphql|rpc|query"
)
FOR_ALL_PYTHON = re.compile(
    r"before_request|(?:APIRouter|FastAPI|include_router|Blueprint)\([^)]{0,2000}dependencies|decorators\s*=|"
    r"LoginRequiredMiddleware|add_middleware|permission_classes"
)
FOR_ALL_SCRIPTS = re.compile(
    r"(?i)\.(?:use|all)\(\s*(?:['\"`][^'\"`]*['\"`]\s*,\s*)?[\w.()]{0,80}(?:auth|login|protect|ensure|verify|jwt|guard|"
    r"require[A-Z]|session|acl|is[A-Z]\w*In)|addHook\(|preHandler"
)
"""Middleware that guards all routes of the file."""
CHANGES = re.compile(r"(?i)^(?:post|put|patch|delete)$")
METHODS = re.compile(r"(?i)methods\s*=\s*[\[({][^\])}]*['\"](?:post|put|patch|delete)")
ROUTES = re.compile(r"^@\s*+(?:\w*+\.)*+(\w++)\(\s*(?:path\s*=\s*)?[rRfFbB]?['\"]([^'\"]*)['\"]")
VERBS = ("route", "api_route", "get", "post", "put", "patch", "delete")
ADMIN = re.compile(r"(?i)(?:^|/)admin(?:$|[/_-])")
WRITES = re.compile(r"request\.method\s*==\s*['\"](?:POST|PUT|DELETE)|request\.POST\b")
RECEIVER = re.compile(r"(?i)(?:^|\.)(?:app|server|api|\w*router|\w*routes?)$")
DEPENDS = re.compile(r"(?:Depends|Security)\(([^)]*)")
MAX_TEXT = 6000


def access_rule(language: Language) -> Rule:
    prefix = "javascript" if language == "typescript" else language
    return Rule(
        f"{prefix}-missing-auth", "auth", "medium", 862,
        "Missing authentication: a route that changes data or is for administrators requires no login",
        "Whoever knows the address sends the request without logging in.",
        "Guard it like the routes beside it.", 0.45,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class WebRoute:
    node: Node
    address: str
    changes: bool
    guarded: bool
    body: str

    @property
    def matters(self) -> bool:
        return self.changes or bool(ADMIN.search(self.address))

    @property
    def is_open(self) -> bool:
        """Neither guarded nor meant to be public."""
        return (
            self.matters
            and not self.guarded
            and not CHECKS_ITSELF.search(self.body)
            and not FOR_EVERYBODY.search(self.address)
        )


def find_unguarded_views(source: Source) -> Iterator[RuleMatch]:
    if not modules(source).isdisjoint(WEB):
        yield from _odd_ones(source, [*_find_decorated(source), *_django(source)], FOR_ALL_PYTHON)


WEB = frozenset({"flask", "fastapi", "django", "quart", "sanic", "bottle", "starlette", "flask_login"})


def find_unguarded_routes(source: Source) -> Iterator[RuleMatch]:
    yield from _odd_ones(source, list(_express(source)), FOR_ALL_SCRIPTS)


def _odd_ones(source: Source, routes: list[WebRoute], for_all: re.Pattern[str]) -> Iterator[RuleMatch]:
    """Only if guarding is usual in the file: at least as many guarded routes as open ones, and one that matters or two
    of any kind. Most files guard nothing and are not searched."""
    guarded = [route for route in routes if route.guarded]
    if not guarded or for_all.search(_all(source)):
        return
    opened = [route for route in routes if route.is_open]
    habit = len(guarded) >= max(len(opened), 1) and (len(guarded) > 1 or any(route.matters for route in guarded))
    if habit:
        yield from (RuleMatch(access_rule(source.language), route.node) for route in opened)


def _all(source: Source) -> str:
    return source.data.decode("utf-8", "replace")


def _find_decorated(source: Source) -> Iterator[WebRoute]:
    """`@app.route("/x", methods=["POST"])` of Flask, `@router.post("/x")` of FastAPI."""
    for node in source.nodes("decorated_definition"):
        definition = node.child_by_field_name("definition")
        if definition is None or definition.type != "function_definition":
            continue
        decorators = [source.text(child)[:MAX_TEXT] for child in node.named_children if child.type == "decorator"]
        found = [(text, route) for text in decorators if (route := ROUTES.match(text)) and route[1] in VERBS]
        if not found:
            continue
        text, route = found[0]
        head = source.text(definition.child_by_field_name("parameters") or definition)
        others = [other for other in decorators if other != text]
        guarded = any(GUARD.search(other) for other in others) or _depends(f"{head} {text}")
        changes = bool(CHANGES.match(route[1])) or bool(METHODS.search(text))
        yield WebRoute(definition, route[2], changes, guarded, _body(source, definition))


def _depends(text: str) -> bool:
    """FastAPI: `user = Depends(current_user)`."""
    return any(GUARD.search(found) for found in DEPENDS.findall(text))


def _django(source: Source) -> Iterator[WebRoute]:
    """Views are routed elsewhere, so their name has to do."""
    if "django" not in modules(source):
        return
    for node in source.nodes("function_definition"):
        name, parameters = node.child_by_field_name("name"), node.child_by_field_name("parameters")
        if name is None or parameters is None or not re.match(r"\(\s*request\b", source.text(parameters)):
            continue
        above = node.parent if node.parent is not None and node.parent.type == "decorated_definition" else None
        decorators = [source.text(c) for c in above.named_children if c.type == "decorator"] if above else []
        body = _body(source, node)
        guarded = any(GUARD.search(text) for text in decorators)
        yield WebRoute(node, source.text(name), bool(WRITES.search(body)), guarded, body)


def _express(source: Source) -> Iterator[WebRoute]:
    """`router.post("/x", guard, handler)`"""
    by_method = calls(source)
    for verb in ("get", "post", "put", "patch", "delete"):
        for call in by_method.get(verb, ()):
            address = constant_text(source, call.args[0]) if len(call.args) > 1 else None
            if address is None or not address.startswith("/") or not RECEIVER.search(call.name.rpartition(".")[0]):
                continue
            middle = " ".join(source.text(arg)[:200] for arg in call.args[1:-1])
            body = source.text(call.args[-1])[:MAX_TEXT]
            guarded = bool(GUARD.search(middle)) or bool(re.match(r"\w*(?:auth|login|protect)\w*\(", body))
            yield WebRoute(call.node, address, verb != "get", guarded, body)


def _body(source: Source, function: Node) -> str:
    body = function.child_by_field_name("body")
    return source.text(body)[:MAX_TEXT] if body is not None else ""
