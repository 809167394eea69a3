"""Recognises parameters that are requests, responses and messages: by framework convention, type and decorator.

Such a parameter is bound, at the start of its function, to one name for all frameworks (`req`, `res`, `ctx`, …); the
rules use only that name.
"""

from collections.abc import Sequence

from moot.scan.engine.ir import Assign, Attr, Call, Const, Define, Expr, Import, Name, Param, Stmt
from moot.scan.javascript.reader import JavaScriptReader
from moot.scan.syntax import words

REQUEST_NAMES = words("req request _req _request")
REQUEST_TYPES = words("Request NextApiRequest NextRequest IncomingMessage FastifyRequest ExpressRequest AuthRequest")
RESPONSE_NAMES = words("res response _res resp")
RESPONSE_TYPES = words("Response NextApiResponse ServerResponse ExpressResponse")
REPLY_NAMES = words("reply h")
CONTEXT_TYPES = words("Context ParameterizedContext KoaContext")
EVENT_TYPES = words("APIGatewayProxyEvent APIGatewayEvent APIGatewayProxyEventV2 LambdaFunctionURLEvent")
DECORATED = {
    "Query": "req.query", "Body": "req.body", "Param": "req.params", "Headers": "req.headers", "Req": "req",
    "Request": "req", "Cookies": "req.cookies", "UploadedFile": "req.file", "Res": "res", "Response": "res",
}  # fmt: skip
KNOWN_PARTS = words(
    "query body params headers cookies url originalUrl path file files rawBody nextUrl rawHeaders param get "
    "header json "
    "text formData payload hostname host other"
)
# Set by the server, or not freely chosen by the sender.
OWN_PARTS = words(
    "user session app log logger id ip ips method protocol secure xhr fresh stale route baseUrl subdomains res next "
    "socket connection httpVersion auth account db i18n t locale lang language context container isAuthenticated "
    "isUnauthenticated login logIn logout logOut flash csrfToken token userId user_id tenant org organization on once "
    "off emit pipe unpipe end abort destroy setTimeout aborted complete signedCookies timedout startTime requestId "
    "correlationId traceId config models services service prisma knex mongo redis io permissions roles role "
    "currentUser "
    "admin is accepts acceptsCharsets acceptsEncodings acceptsLanguages range resume pause read setEncoding signal "
    "length constructor hasOwnProperty sessionID sessionStore client server raw entity scope jwt decoded isAdmin "
    "removeListener removeAllListeners addListener listeners trailers statusCode aborted timeout clone cache mode "
    "credentials redirect referrer integrity keepalive bodyUsed geo storage repository dataSources loaders"
)
QUIET_EVENTS = words("connect connection disconnect disconnecting error close open end drain finish ping pong")
MAX_PARAMETERS = 32
"""Maximum parameters of a handler: each is compared with all others."""
RESOLVER_FIRST = words("parent root obj source _ _parent _root _source _obj __ rootValue")


def bind_handler_params(name: str, params: Sequence[Param]) -> list[Stmt]:
    """Statements that bind the parameters of a handler to their common names."""
    plain = [param for param in params if param.name != "self"][:MAX_PARAMETERS]
    found: list[Stmt] = []
    asked = False
    for place, param in enumerate(plain):
        origin = _by_decorator(param) or _request(param) or _by_shape(name, plain, place)
        if origin is None and asked:
            origin = _answer(param)
        asked = asked or origin == "req"
        if origin is not None:
            found.extend(_bind_origin(param, origin))
    return found


def _bind_origin(param: Param, origin: str) -> list[Stmt]:
    """Binds `q` to `req.query`: reads the root name, then its parts."""
    root, *parts = origin.split(".")
    value: Expr = Name(param.at, param.name)
    for part in parts:
        value = Attr(param.at, value, part)
    imported: list[Stmt] = [Import(param.at, param.name, root, root)]
    return [*imported, Assign(param.at, (Name(param.at, param.name),), value)] if parts else imported


def _by_decorator(param: Param) -> str | None:
    """`@Query("id") id`"""
    note = param.annotation
    if not isinstance(note, Call) or not isinstance(note.func, Name):
        return None
    return DECORATED.get(note.func.id)


def _type(param: Param) -> str:
    note = param.annotation
    if isinstance(note, Attr):
        return note.name
    return note.id if isinstance(note, Name) else ""


def _request(param: Param) -> str | None:
    kind = _type(param)
    if kind in EVENT_TYPES:
        return "event"
    if kind in CONTEXT_TYPES:
        return "ctx"
    return "req" if kind in REQUEST_TYPES or param.name in REQUEST_NAMES else None


def _answer(param: Param) -> str | None:
    if _type(param) in RESPONSE_TYPES or param.name in RESPONSE_NAMES:
        return "res"
    return "reply" if param.name in REPLY_NAMES else None


def _by_shape(name: str, params: Sequence[Param], place: int) -> str | None:
    """Koa's `(ctx, next)`, a cloud function's `(event, context)`, a resolver's `(parent, args, context)`."""
    names = [param.name for param in params]
    here = names[place]
    if here == "parameter 0" and names[1:2] and names[1] in RESPONSE_NAMES | REPLY_NAMES:
        # Destructured in place: `({query}, res) => …`.
        return "req"
    if place == 0 and (here == "ctx" or (here == "context" and names[1:2] == ["next"])):
        return "ctx"
    if place == 0 and here == "event" and (name == "handler" or names[1:2] in (["context"], ["_context"])):
        return "event"
    if place == 1 and here in ("args", "_args") and names[0] in RESOLVER_FIRST:
        return "graphql.args"
    return None


def part_of_request(reader: JavaScriptReader, base: Expr, name: str) -> Expr:
    """The source that `req.<name>` belongs to. A part that nothing in this file sets was put there by an unknown
    parser, mostly from the request itself: it counts as a part of `req.other`."""
    if not isinstance(base, Name) or base.id != "req" or name in KNOWN_PARTS or name in OWN_PARTS:
        return base
    if name in reader.set_on_request:
        return base
    return Attr(base.at, base, "other")


def bind_listener(reader: JavaScriptReader, call: Call) -> Call:
    """A listener whose event tells its argument: messages of other pages or sockets, entries of archives."""
    if not isinstance(call.func, Attr) or len(call.args) < 2 or call.func.name not in LISTENERS:
        return call
    event, listener = call.args[0], call.args[1]
    if not isinstance(event, Const) or not isinstance(event.value, str) or not isinstance(listener, Name):
        return call
    origin = _event_origin(call.func, event.value)
    if origin is not None:
        reader.before = [_name_parameter(stmt, listener.id, origin) for stmt in reader.before]
    return call


LISTENERS = words("on once addEventListener addListener")


def _event_origin(func: Attr, event: str) -> str | None:
    if event == "message" and func.name == "addEventListener":
        return "message_event"
    if event == "entry":
        return "archive.entry"
    if _is_socket(func.base) and event not in QUIET_EVENTS:
        return "socket.data"
    return None


def _is_socket(base: Expr) -> bool:
    return isinstance(base, Name) and base.id in ("socket", "ws", "wss", "webSocket", "websocket")


def _name_parameter(stmt: Stmt, name: str, origin: str) -> Stmt:
    """The listener with its first parameter bound to this name."""
    if not isinstance(stmt, Define) or stmt.function.name != name or not stmt.function.params:
        return stmt
    function = stmt.function
    return Define(stmt.at, function._replace(body=(*_bind_origin(function.params[0], origin), *function.body)))
