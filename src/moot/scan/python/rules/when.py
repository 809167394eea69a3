"""Conditions of the Python rules."""

import re
from collections.abc import Callable

from moot.core.secret_patterns import PRINTED
from moot.scan.engine.fold import UNKNOWN
from moot.scan.engine.rulebook import Sink, Site
from moot.scan.engine.values import BUILT, HEADERS, SHARED, VALUED, Val
from moot.scan.regex_growth import anchor_pattern, measure_growth
from moot.scan.rule import Rule
from moot.scan.rules.secrets import PLACEHOLDER
from moot.scan.rules.when import finds, is_dated_line, is_guessable, is_named_by_caller

SURE = 0.7
"""The confidence of a web request, above parameters and command line."""
MEDIUM = 0.5
ANY_CALLER = 0.3
"""Minimum confidence where a parameter of any caller is bad enough."""
ADDRESS = r"(?i)ur[il]|link|endpoint|webhook|callback|host$"
TARGET = r"(?i)ur[il]|next|target|return|dest|location|goto|continue"
FREE_TEXT = r"(?i)^parameter (?!.*(?:type|mime|length|size|stat|code|tag|charset|encoding|date|modif|range|headers?\b))"
PACKED = r"(?i)^parameter (?:\w*body|payload|upload\w*|request\w*|compressed\w*|blob)\b"
PERSON = r"(?i)user|login|e?mail|input|query|comment|agent|referr?er"
"""Parameters that alone are a possible flaw: what is fetched, where a visitor is sent, what is logged."""
LOG_OWNERS = (
    "logging", "logging.getLogger()", "logging.Logger()", "loguru.logger", "structlog.get_logger()",
    "structlog.getLogger()", "celery.utils.log.get_task_logger()", "twisted.python.log", "absl.logging",
    "flask.current_app.logger", "flask.Flask().logger", "quart.current_app.logger", "quart.Quart().logger",
    "logger", "log", "LOG", "LOGGER", "_logger", "self.logger", "self.log", "self._logger", "app.logger",
)  # fmt: skip
LOG_CALLS = (
    "info", "warning", "warn", "error", "debug", "critical", "exception", "log", "fatal", "trace", "success", "msg",
)  # fmt: skip
LOGGERS = " ".join(f"{owner}.{call}" for owner in LOG_OWNERS for call in LOG_CALLS)
PRINTED_SECRET = re.compile(PRINTED)
HARMLESS_LOADERS = ("SafeLoader", "CSafeLoader", "BaseLoader", "CBaseLoader", "safe_load")
LDAP_FILTER = re.compile(r"['\"]\s*\((?:[&|!]\s*\()?\w+=")


def sink(rule: Rule, kind: str, names: str, *args: int | str, **more: object) -> Sink:
    return Sink(rule, kind, tuple(names.split()), args, **more)  # type: ignore[arg-type]


def is_const(value: Val | None, *wanted: object) -> bool:
    return (
        value is not None and value.const is not UNKNOWN and any(value.const is w or value.const == w for w in wanted)
    )


def when_keyword(keyword: str, *wanted: object) -> Callable[[Site], bool]:
    return lambda site: is_const(site.arg(keyword), *wanted)


def is_statement(site: Site) -> bool:
    """The constant text around the value is SQL, or the value is certainly untrusted."""
    value = site.arg(0, "query", "sql", "statement", "operation")
    return value is not None and ("sql" in value.marks or any(taint.strength >= SURE for taint in value.taints))


def has_sql_text(site: Site) -> bool:
    """The constant text around the value is SQL: the name of the call alone says little."""
    places: tuple[int | str, ...] = (0, 1, "query", "sql", "statement", "operation", "stmt", "QueryString", "Sql")
    values = [site.arg(place) for place in places]
    return any(
        value is not None and "sql" in value.marks and any("sql" not in taint.ended for taint in value.taints)
        for value in values
    )


def is_clause(site: Site) -> bool:
    """A condition with a value in its text, where the library takes expressions."""
    return any(value is not None and VALUED in value.marks for value in (site.arg(0), site.arg(1)))


PLAIN_AGAIN = ("striptags", "unescape")
"""Methods of markup that return a plain text."""


def stays_markup(site: Site) -> bool:
    return site.member() not in PLAIN_AGAIN


FOR_MAKERS = re.compile(r"(?i)\b(?:\w+[._])?(?:debug|dev|develop\w*|testing)\b")


def is_path(site: Site) -> bool:
    """Not the uploaded file itself, which `zipfile.ZipFile` and `tarfile.open` read as well."""
    path = site.arg(0, "file", "path", "filename_or_fp", "path_or_file", "filename")
    taints = path.taints if path is not None else ()
    return not taints or any(not UPLOADED.search(taint.origin) for taint in taints)


UPLOADED = re.compile(r"\.(?:files|FILES)(?:\|(?!.*filename|[^|]+\|name$).*|\[.*\])?$")


def is_for_visitors(site: Site) -> bool:
    """Unless the function asks whether the program runs for its makers."""
    return not finds(FOR_MAKERS, site.around())


def when_literal(place: int) -> Callable[[Site], bool]:
    """A hard-coded key."""

    def check(site: Site) -> bool:
        key = site.arg(place, "key", "secret_key")
        text = key.const if key is not None else None
        if isinstance(text, bytes):
            text = text.decode("latin-1")
        return isinstance(text, str) and bool(text) and not PLACEHOLDER.search(text)

    return check


def easy_login(site: Site) -> bool:
    """A placeholder password counts where a connection is opened with it."""
    password, user = site.arg("passwd", "password"), site.arg("user", "username")
    text = password.const if password is not None else None
    known = user is not None and isinstance(user.const, str)
    return known and isinstance(text, str) and re.fullmatch(r"\w{4,40}", text) is not None and bool(
        PLACEHOLDER.search(text)
    )  # fmt: skip


def has_named_keyword(site: Site, keyword: str, last: str) -> bool:
    value = site.arg(keyword)
    return value is not None and value.name.endswith(last)


def parses_only(site: Site) -> bool:
    """`compile(text, name, "exec", ast.PyCF_ONLY_AST)` gives a tree; nothing can run it as it is."""
    flags = site.arg(3, "flags")
    return is_const(flags, 0x400) or (flags is not None and flags.name.endswith("PyCF_ONLY_AST"))


def is_shared_folder(site: Site) -> bool:
    """A guessable name in a shared folder, opened for writing."""
    path, mode = site.arg(0, "file"), site.arg(1, "mode")
    writes = mode is not None and isinstance(mode.const, str) and bool(re.search("[wa+]", mode.const))
    return writes and (_is_in_shared_folder(path) or _is_guessed_in_shared_folder(site, path))


def is_shared_path(site: Site) -> bool:
    """`Path("/tmp/name").write_text(…)`"""
    return _is_in_shared_folder(site.setting(site.receiver, 0) or site.receiver)


def _is_guessed_in_shared_folder(site: Site, path: Val | None) -> bool:
    around = site.around() or site.text()
    if path is None or SHARED not in path.marks:
        return False
    return is_guessable(around) or is_named_by_caller([taint.origin for taint in path.taints], around)


def _is_in_shared_folder(path: Val | None) -> bool:
    return path is not None and isinstance(path.const, str) and path.const.startswith(("/tmp/", "/var/tmp/"))


def unsafe_loader(site: Site) -> bool:
    loader = site.arg(1, "Loader")
    return loader is None or not loader.name.endswith(HARMLESS_LOADERS)


def reads_a_file(site: Site) -> bool:
    stream = site.arg(0, "stream")
    unsafe = site.name.startswith("yaml.unsafe") or unsafe_loader(site)
    return unsafe and stream is not None and not stream.taints and "open" in stream.name


COOKIE_JAR = re.compile(r"(?i)(?:jar|cookies?)(?:\(\))?$")


def is_response_cookie(site: Site) -> bool:
    """A server sets a cookie by name and value; a client's jar is given a cookie."""
    jar = (
        COOKIE_JAR.search(site.receiver.name) is not None or COOKIE_JAR.search(site.name.rpartition(".")[0]) is not None
    )
    return not jar and (site.count > 1 or site.arg("key", "name", "value", "**") is not None)


def plain_cookie(site: Site) -> bool:
    if not is_response_cookie(site):
        return False
    secure = site.arg("secure", 6)
    return "**" not in str(site.arg("**")) and (secure is None or is_const(secure, False, None))


def is_script_cookie(site: Site) -> bool:
    return (
        is_response_cookie(site)
        and not plain_cookie(site)
        and (site.arg("httponly", 7) is None or is_const(site.arg("httponly", 7), False, None))
    )


def follows_entities(site: Site) -> bool:
    """lxml resolves entities by default; Python's own parsers only with the feature on."""
    parser = site.arg(1, "parser")
    if parser is None:
        return False
    if "make_parser" in parser.name:
        feature = site.setting(parser, "xml.sax.handler.feature_external_ges")
        feature = feature or site.setting(parser, "http://xml.org/sax/features/external-general-entities")
        return feature is not None and not is_const(feature, False, 0, None)
    if "XMLParser" in parser.name and "lxml" in parser.name:
        return not is_const(site.setting(parser, "resolve_entities"), False)
    return False


def lxml_follows(site: Site) -> bool:
    if is_const(site.arg("resolve_entities"), False):
        return False
    parser = site.arg(1, "parser")
    return parser is None or follows_entities(site)


def sax_parser(site: Site) -> bool:
    feature = site.setting(site.receiver, "xml.sax.handler.feature_external_ges")
    feature = feature or site.setting(site.receiver, "http://xml.org/sax/features/external-general-entities")
    return "make_parser" in site.receiver.name and feature is not None and not is_const(feature, False, 0)


def parser_opened(site: Site) -> bool:
    return is_const(site.arg("resolve_entities"), True) or is_const(site.arg("no_network"), False)


def html(site: Site) -> bool:
    kind = site.arg("mimetype", "content_type", "media_type", 3)
    if kind is None and site.name.endswith("Response"):
        kind = site.arg("content_type")
    return kind is None or not isinstance(kind.const, str) or "html" in kind.const


def is_unverified(site: Site) -> bool:
    if is_const(site.arg("verify", 2), False):
        return True
    options = site.arg("options")
    return is_const(site.setting(options, "verify_signature"), False) or no_algorithm(site)


def no_algorithm(site: Site) -> bool:
    algorithms = site.items(site.arg("algorithms", 2))
    return algorithms is not None and any(isinstance(a.const, str) and a.const.lower() == "none" for a in algorithms)


def open_mode(site: Site) -> bool:
    return is_open_mode(site.arg(1, "mode"))


def is_open_mode(mode: Val | None) -> bool:
    return mode is not None and isinstance(mode.const, int) and bool(mode.const & 0o022)


def is_plain_address(address: Val | None) -> bool:
    return address is not None and isinstance(address.const, str) and address.const.startswith("http://")


def is_directory_search(site: Site) -> bool:
    """By the import, or by a filter that was put together."""
    if site.module("ldap3", "ldap") or site.name.startswith("ldap"):
        return True
    given = (site.arg(0), site.arg(1), site.arg(2), site.arg("search_filter"))
    built = any(value is not None and BUILT in value.marks for value in given)
    return built and finds(LDAP_FILTER, site.around())


def is_name_built(site: Site) -> bool:
    """`"uid=" + user + ",ou=people"`: the name of an entry of a directory."""
    name = site.arg(0, "who") if site.name != "ldap3.Connection" else site.arg("user")
    return name is not None and BUILT in name.marks


def is_pattern_built(site: Site) -> bool:
    pattern = site.arg(0, "pattern")
    return pattern is not None and BUILT in pattern.marks


def is_template(site: Site) -> bool:
    """`from_string` of an environment; other classes read their own format with a method of that name."""
    owner = site.name.rpartition(".")[0]
    if "Sandboxed" in owner:
        return False
    return not site.name.endswith(".from_string") or re.search(r"(?i)env|engine|jinja|template|\?", owner) is not None


OWN_LOGGER = re.compile(r"\._?(?:logger|log|LOG|LOGGER)\.\w+$")


LOG_FILE = re.compile(r"(?i)(?:^|[._\W])(?:log|logs|logfile|log_?file|audit\w*|journal)(?:[._\W]|$)")


LOGS = re.compile(r"(?i)(?:^|_)(?:log|audit|journal|history|ledger|trail)(?:_|$)")
ADDS_LINE = re.compile(r"""(?s)open\([^()]*["']a[bt+]?["'].*\.write\(.*\\n["']""")
"""A function that adds lines to a file."""


def is_log_file(site: Site) -> bool:
    """`with open(…) as log_file: log_file.write(line)`: by the name of what is written to."""
    around = site.around()
    if LOG_FILE.search(site.text().partition(".write")[0]) is not None or is_dated_line(site.text(), around):
        return True
    return LOGS.search(site.words().rpartition(" ")[2]) is not None and ADDS_LINE.search(around) is not None


def is_own_logger(site: Site) -> bool:
    """`from app.log import logger`"""
    return OWN_LOGGER.search(site.name) is not None


def writes_headers(site: Site) -> bool:
    text = site.arg(0)
    return text is not None and HEADERS in text.marks


def is_raw_line(site: Site) -> bool:
    """`"%r"` writes line breaks as `\\n`."""
    text = site.arg(0)
    return not (text is not None and isinstance(text.const, str) and "%r" in text.const and "%s" not in text.const)


def logs_secret(site: Site) -> bool:
    """An argument that is named like a secret; words in the text of the message do not count."""
    _, _, given = site.text().partition("(")
    holes = re.findall(r"\{([^{}]*)\}", given) if re.search(r"\bf['\"]", given) else []
    values = re.sub(r"'[^']*'|\"[^\"]*\"", "", given)
    return any(PRINTED_SECRET.search(text) for text in (values, *holes))


def debug(site: Site) -> bool:
    return is_const(site.arg("debug"), True, 1) and site.module("flask", "bottle", "quart", "dash", "werkzeug")


def slow_pattern(site: Site) -> bool:
    return _measure_pattern(site) == "exponential"


def slower_pattern(site: Site) -> bool:
    """Polynomial work: a long text has to come from outside for certain."""
    return _measure_pattern(site) == "polynomial"


def _measure_pattern(site: Site) -> str:
    pattern = site.arg(0) if site.name.startswith("re.") and "()" not in site.name else site.setting(site.receiver, 0)
    text = pattern.const if pattern is not None else None
    if isinstance(text, bytes):
        text = text.decode("latin-1")
    whole = site.name.endswith("fullmatch")
    return measure_growth(anchor_pattern(text, whole)) if isinstance(text, str) else "linear"


WEB_MODULES = ("flask", "django", "fastapi", "bottle", "tornado", "aiohttp", "starlette", "sanic", "quart", "webob")
EMPTY_IN_URL = re.compile(r"^\w[\w+]*://[^/@:]+:@")
OLD_TLS = re.compile(r"PROTOCOL_(?:SSLv[23]|TLSv1(?:_1)?)$")


def old_tls(site: Site) -> bool:
    chosen = site.arg("ssl_version", 0)
    if site.name == "ssl.wrap_socket" and site.arg("cert_reqs") is None:
        return True
    names = [v.name for v in (chosen, site.arg(5), site.arg("ssl_version")) if v is not None]
    return any(OLD_TLS.search(name) or (name.endswith("PROTOCOL_SSLv23") and not _limits(site)) for name in names)


def _limits(site: Site) -> bool:
    """Whether the file says which versions a context speaks that would speak all of them."""
    return site.contains("OP_NO_") or site.contains("minimum_version")


def is_unfiltered(site: Site) -> bool:
    archive = site.setting(site.receiver, 0)
    ours = archive is not None and archive.const is not UNKNOWN
    return site.arg("filter", "members") is None and not ours and not site.is_proved("tarfile.", "path")


PAGE_FILES = ('.html"', ".html'", '.html.j2"', ".html.j2'", '.htm"', ".htm'")


def is_unescaped(site: Site) -> bool:
    """Explicitly off, or left off where pages are rendered: templates of a code generator do not count."""
    choice = site.arg("autoescape")
    if choice is not None:
        return is_const(choice, False)
    return site.module(*WEB_MODULES) or any(site.contains(end) for end in PAGE_FILES)


def all_interfaces(site: Site) -> bool:
    pair = site.items(site.arg(0))
    return bool(pair) and pair is not None and is_const(pair[0], "0.0.0.0", "", "::")
