"""Conditions of the JavaScript rules."""

import re
from collections.abc import Callable

from moot.scan.engine.fold import UNKNOWN
from moot.scan.engine.rulebook import Site, When
from moot.scan.engine.values import PAGE, SHARED, Val
from moot.scan.regex_growth import measure_growth
from moot.scan.rules.secrets import PLACEHOLDER
from moot.scan.rules.when import PRESCRIBED, is_about_password, is_guessable
from moot.scan.syntax import words

DIRECT = 0.5
"""Parameters of functions with unknown callers are below this confidence."""
TEXT_RESULTS = re.compile(
    r"\.(?:toString|strip|join|lower|upper|replace|replace_first|get|concat|substr)\(\)$|^String\(\)$"
)
WEAK_DIGEST = re.compile(r"(?i)^(?:md[245]|sha-?1|rsa-(?:md5|sha1)|ripemd(?:160)?)$")
WEAK_CIPHER = re.compile(r"(?i)^(?:des|rc[24]|bf|blowfish|cast|idea|seed)|-ecb$")
OLD_TLS = re.compile(r"(?i)^(?:sslv[23]|tlsv1(?:[._]1)?)(?:_(?:client_|server_)?method)?$")
SESSION_COOKIE = re.compile(r"(?i)token|sess|auth|jwt|sid$|login|remember")
SHELLS = re.compile(r"(?:^|/)(?:ba|z|da|k)?sh$|cmd(?:\.exe)?$|powershell(?:\.exe)?$|pwsh$")
BROWSERS = (
    "puppeteer",
    "puppeteer-core",
    "playwright",
    "playwright-core",
    "playwright-chromium",
    "phantom",
    "phantomjs",
)


def is_const(value: Val | None, *wanted: object) -> bool:
    if value is None or value.const is UNKNOWN or value.refs:
        return False
    return any(type(value.const) is type(w) and value.const == w for w in wanted)


def text_of(value: Val | None) -> str | None:
    """A constant string, else None."""
    return value.const if value is not None and isinstance(value.const, str) else None


def setting(site: Site, value: Val | None, *path: str | int) -> Val | None:
    for key in path:
        value = site.setting(value, key)
    return value


def every(*conditions: When) -> When:
    return lambda site: all(condition(site) for condition in conditions)


def imports(*modules: str) -> When:
    return lambda site: site.module(*modules)


def of(*starts: str) -> When:
    """A method of the response, or of something reached from it."""
    return lambda site: site.name.startswith(starts)


RESPONSE = re.compile(r"(?:res|reply|ctx)(?:\.(?:response|raw|res|headers))?(?:\.\w+\(\))*\.\w+")


def on_response(site: Site) -> bool:
    """A method of the response itself: `ctx.issues.append` is not one."""
    return RESPONSE.fullmatch(site.name) is not None


def has(place: int, key: str, *wanted: object) -> When:
    return lambda site: is_const(site.setting(site.arg(place), key), *wanted)


def const(place: int, *wanted: object) -> When:
    return lambda site: is_const(site.arg(place), *wanted)


def matches(place: int, pattern: re.Pattern[str]) -> When:
    return lambda site: (text := text_of(site.arg(place))) is not None and bool(pattern.search(text))


def is_built(value: Val | None) -> bool:
    """Untrusted data, or a parameter that becomes part of a string here: passing it on unchanged is the caller's
    responsibility."""
    if value is None or not value.taints:
        return False
    return is_sure(value) or not value.name


def when_built(place: int) -> When:
    return lambda site: is_built(site.arg(place))


def is_page_built(site: Site) -> bool:
    """`$("<li>" + text)` makes elements; any other text selects some."""
    value = site.arg(0)
    return value is not None and PAGE in value.marks and is_built(value)


def when_text_built(place: int) -> When:
    """As `when_built`, but not an object of conditions."""
    return lambda site: is_built(value := site.arg(place)) and value is not None and not value.refs


def sql_text(site: Site) -> bool:
    """The statement text, not its parameters. If any caller may choose the value, the text around it must be SQL,
    because other things have queries too."""
    first = site.arg(0)
    parts = [site.setting(first, key) for key in ("sql", "text", "query")] if first is not None and first.refs else []
    return any(
        part is not None and is_built(part) and ("sql" in part.marks or is_sure(part)) for part in parts or [first]
    )


def is_statement_built(site: Site) -> bool:
    """SQL, whatever library runs it."""
    first = site.arg(0)
    return first is not None and "sql" in first.marks and is_built(first)


def is_sure(value: Val) -> bool:
    return max((taint.strength for taint in value.taints), default=0) >= DIRECT


PLAIN_TYPE = re.compile(
    r"""(?:type|contentType|set|header)\([^()]*['"](?:text/plain|text/csv|text|txt|json|csv|application/\w+)['"]"""
)
"""`res.type("text/plain")`"""


def page(site: Site) -> bool:
    """Text sent as HTML. An object becomes JSON; the result of an unknown function may be anything."""
    if not site.name.startswith("res."):
        return False
    first = site.arg(0)
    if first is None or first.refs or not first.taints or first.name in ("req.body", "req.query", "req.params"):
        return False
    if PLAIN_TYPE.search(site.text().partition("send(")[0]):
        return False
    return not first.name.endswith("()") or bool(TEXT_RESULTS.search(first.name))


DOCUMENT_METHODS = words(
    "findOne findOneAndUpdate findOneAndDelete findOneAndReplace findOneAndRemove updateOne updateMany deleteOne "
    "deleteMany replaceOne countDocuments"
)
"""Methods that the collections of document databases have, and tables only where one of these is imported."""
TABLES = (
    "typeorm",
    "@nestjs/typeorm",
    "sequelize",
    "sequelize-typescript",
    "@mikro-orm/core",
    "objection",
    "waterline",
)


def query_object(site: Site) -> bool:
    """A value that the sender can make an object; path parameters and headers are always text."""
    first = site.arg(0)
    if first is None or site.setting(first, "where") is not None:
        return False
    model = re.match(r"[A-Z]\w*\.\w+$|\?\.\w+$|(?:.*[.~])?(?:collection|models?|db)\b", site.name)
    documents = site.name.rpartition(".")[2] in DOCUMENT_METHODS and not site.module(*TABLES)
    if not (site.module("mongodb", "mongoose", "mongojs", "monk") or model or documents):
        return False
    return any(_can_be_object(taint.origin) and "nosql" not in taint.ended for taint in site.taints_at(0, "nosql"))


OBJECTS = ("req.body", "req.query", "req.json", "req.param", "ctx.request.body", "ctx.query", "ctx.request.query",
           "event.body", "socket.data")  # fmt: skip


def _can_be_object(origin: str) -> bool:
    return origin.startswith(OBJECTS) and not origin.startswith("req.params")


def through_shell(site: Site) -> bool:
    """`spawn(program, args, {shell: true})`, or a shell that is given a script."""
    for place in (1, 2):
        shell = site.setting(site.arg(place), "shell")
        if shell is not None and shell.const not in (False, None, UNKNOWN):
            return True
    program = text_of(site.arg(0))
    parts = site.items(site.arg(1)) or []
    return program is not None and bool(SHELLS.search(program)) and any(is_const(p, "-c", "/c", "/C") for p in parts)


def options_from_outside(site: Site) -> bool:
    value = site.arg(1)
    return site.name.startswith("res.") and value is not None and bool(value.taints) and not value.refs


def without_root(site: Site) -> bool:
    return site.name.startswith("res.") and site.setting(site.arg(1), "root") is None


def not_a_function(site: Site) -> bool:
    first = site.arg(0)
    return first is not None and not first.refs


def weak_digest(about_password: bool) -> When:
    def check(site: Site) -> bool:
        text = text_of(site.arg(0))
        if text is None or not WEAK_DIGEST.search(text):
            return False
        if is_about_password(f"{site.words()} {site.line()}") != about_password:
            return False
        return about_password or not PRESCRIBED.search(site.around() or site.line())

    return check


SLOW_HASH = re.compile(r"(?i)scrypt|bcrypt|argon2|pbkdf2|pwned|range")


def is_fast_password_hash(site: Site) -> bool:
    """Any plain digest of a password, unless a slow hash follows or the digest is looked up in a list of leaks."""
    value = site.arg(0)
    named = value is not None and is_about_password(value.name.rpartition(".")[2])
    return named and not SLOW_HASH.search(site.around())


def has_fixed_iv(site: Site) -> bool:
    value, algorithm = site.arg(2), text_of(site.arg(0)) or ""
    if value is None or algorithm.lower().endswith("-ecb"):
        return False
    zeros = value.name == "Buffer.alloc()" and not re.search(r"randomFill|getRandomValues", site.around())
    return _is_fixed(value) or zeros


def _is_fixed(value: Val | None) -> bool:
    return value is not None and isinstance(value.const, str | bytes) and not value.taints


def has_fixed_salt(site: Site) -> bool:
    return _is_fixed(site.arg(1))


def few_rounds(site: Site) -> bool:
    rounds = site.arg(2)
    return rounds is not None and isinstance(rounds.const, int) and 0 < rounds.const < 10_000


def cost_below(place: int) -> When:
    def check(site: Site) -> bool:
        cost = site.arg(place)
        return cost is not None and type(cost.const) is int and cost.const < 10

    return check


def short_key(site: Site) -> bool:
    size = site.setting(site.arg(1), "modulusLength")
    return size is not None and isinstance(size.const, int) and size.const < 2048


def is_secret_compared(site: Site) -> bool:
    """Unless it is a number of `Math.random`: what anybody can foresee is no secret."""
    sides = (site.arg(0), site.arg(1))
    drawn = any(taint.label == "random" for side in sides if side is not None for taint in side.taints)
    return is_const(site.arg(2), True) and not drawn


def is_code_compared(site: Site) -> bool:
    """One of the two is a message authentication code, or derived from a password."""
    return any(CODES.search(value.name) for value in (site.arg(0), site.arg(1)) if value is not None)


CODES = re.compile(r"createHmac\(\)|scryptSync\(\)|pbkdf2Sync\(\)")


def is_code_equal(site: Site) -> bool:
    """`mac.equals(tag)` stops at the first difference, as `Buffer.compare(mac, tag)` does."""
    held = (site.receiver, site.arg(0), site.arg(1))
    return any(CODES.search(value.name) for value in held if value is not None)


def is_unlimited(site: Site) -> bool:
    return all(site.setting(site.arg(place), "maxOutputLength") is None for place in (1, 2))


LOG_FILE = re.compile(r"(?i)log(?:s|ger|file|path)?(?:$|[^a-z])|audit|journal")


OWN_LOGGER = re.compile(r"(?i)[./](?:logger|log)(?:\.default)?\.\w+$")


def is_own_logger(site: Site) -> bool:
    """`import { logger } from './logger'`, `this.logger`"""
    return OWN_LOGGER.search(site.name) is not None


def is_log_line(site: Site) -> bool:
    return bool(LOG_FILE.search(f"{site.words()} {site.text().partition(',')[0]}"))


def is_secret(value: Val | None) -> bool:
    text = text_of(value)
    return text is not None and bool(text) and not PLACEHOLDER.search(text)


def when_literal(place: int, *path: str | int) -> When:
    """A hard-coded secret."""
    return lambda site: is_secret(setting(site, site.arg(place), *path))


def key_written_out(place: int) -> When:
    """A hard-coded key: any text where a key is expected."""
    return lambda site: bool(text_of(site.arg(place)))


def cookie_flag(flag: str) -> When:
    def check(site: Site) -> bool:
        if not site.name.startswith(("res.", "reply.")):
            return False
        options = site.arg(2)
        value = site.setting(options, flag)
        if value is not None:
            return is_const(value, False)
        name = text_of(site.arg(0))
        plain = options is None or bool(options.refs)
        return plain and name is not None and bool(SESSION_COOKIE.search(name))

    return check


def any_site(site: Site) -> bool:
    """`Access-Control-Allow-Origin: *`, or the origin of the request."""
    name, value = text_of(site.arg(0)), site.arg(1)
    if name is not None and name.lower() == "access-control-allow-origin":
        return is_const(value, "*") or (value is not None and bool(value.taints))
    for table in (site.arg(0), value):
        for key in ("Access-Control-Allow-Origin", "access-control-allow-origin"):
            if is_const(site.setting(table, key), "*"):
                return True
    return False


def open_cors(site: Site) -> bool:
    origin = site.setting(site.arg(0), "origin")
    return is_const(origin, "*") or (
        is_const(origin, True) and is_const(site.setting(site.arg(0), "credentials"), True)
    )


IN_PAGE = ("message_event", "document.", "window.", "dom.", "localStorage.", "sessionStorage.")


def is_kept(site: Site) -> bool:
    """What a page writes to its console stays with the visitor whose page it is."""
    taints = [taint for value in (site.arg(0), site.arg(1)) if value is not None for taint in value.taints]
    return not taints or not all(taint.origin.startswith(IN_PAGE) for taint in taints)


def no_algorithm(place: int) -> When:
    def check(site: Site) -> bool:
        options = site.arg(place)
        one = text_of(site.setting(options, "algorithm"))
        many = site.items(site.setting(options, "algorithms")) or []
        return (one or "").lower() == "none" or any((text_of(v) or "").lower() == "none" for v in many)

    return check


def no_key(site: Site) -> bool:
    return is_const(site.arg(1), "", None, False) and site.count > 1


def slow_pattern(site: Site) -> bool:
    return _measure_pattern(site) == "exponential"


def slower_pattern(site: Site) -> bool:
    """Polynomial work: a long text has to come from outside for certain."""
    return _measure_pattern(site) == "polynomial"


def _measure_pattern(site: Site) -> str:
    text = text_of(site.setting(site.receiver, 0))
    return measure_growth(text, javascript=True) if text is not None else "linear"


HELMET_PARTS = words(
    "frameguard xssFilter hsts noSniff contentSecurityPolicy hidePoweredBy ieNoOpen referrerPolicy dnsPrefetchControl "
    "xFrameOptions strictTransportSecurity xContentTypeOptions"
)


def helmet_off(site: Site) -> bool:
    return any(is_const(site.setting(site.arg(0), part), False) for part in HELMET_PARTS)


def first_is(*wanted: object) -> Callable[[Site], bool]:
    return const(0, *wanted)


def one_argument(site: Site) -> bool:
    """`new Buffer(n)`: with a number it is not cleared, and the sender can make it one."""
    return site.count == 1


def plain_size(site: Site) -> bool:
    size = site.arg(0)
    return site.count == 1 and size is not None and type(size.const) is int


def never_filled(site: Site) -> bool:
    """Nothing in the function overwrites the old memory."""
    return not re.search(r"\.(?:fill|copy|set|write\w*|concat)\(|readSync|getRandomValues|randomFill", site.around())


def when_path_built(place: int) -> When:
    """A path built here, or an object that holds it."""

    def check(site: Site) -> bool:
        value = site.arg(place)
        return value is not None and (bool(value.refs) or "normal" in value.marks)

    return check


USER_RECORD = re.compile(r"^[uU]ser$|\.find(?:One|ById|Unique|First|OneAndUpdate)\(\)$")


def tells_much(site: Site) -> bool:
    """A password in the token, or a whole database record of a user."""
    payload = site.arg(0)
    if payload is None:
        return False
    if any(site.setting(payload, key) is not None for key in ("password", "passwd", "passwordHash", "password_hash")):
        return True
    return not payload.refs and bool(USER_RECORD.search(payload.name))


def session_without(flag: str) -> When:
    """A session whose cookie options lack this one."""

    def check(site: Site) -> bool:
        cookie = site.setting(site.arg(0), "cookie")
        return cookie is not None and bool(cookie.refs) and site.setting(cookie, flag) is None

    return check


def whole_body(place: int) -> When:
    """The whole request body, unfiltered."""

    def check(site: Site) -> bool:
        value = site.arg(place)
        model = re.match(r"(?:.*[./~])?[A-Z]\w*\.\w+$|\?\.\w+$", site.name)
        return bool(model) and value is not None and value.name in ("req.body", "ctx.request.body", "req.query")

    return check


def takes_anything(site: Site) -> bool:
    """Uploads without a limit on type and size."""
    options = site.arg(0)
    known = options is None or bool(options.refs)
    return known and site.setting(options, "fileFilter") is None and site.setting(options, "limits") is None


def _is_open(mode: Val | None) -> bool:
    value = mode.const if mode is not None else None
    if isinstance(value, str) and re.fullmatch(r"(?:0o?)?[0-7]{3}", value):
        value = int(value[-3:], 8)
    return type(value) is int and bool(value & 0o002)


def open_mode(place: int) -> When:
    return lambda site: _is_open(site.arg(place))


def open_option(site: Site) -> bool:
    return any(_is_open(site.setting(site.arg(place), "mode")) for place in (1, 2))


def is_shared_folder(site: Site) -> bool:
    path, flag = text_of(site.arg(0)), text_of(site.setting(site.arg(2), "flag")) or ""
    first = site.arg(0)
    guessed = first is not None and SHARED in first.marks and is_guessable(site.around() or site.text())
    return (guessed or (path is not None and path.startswith(("/tmp/", "/var/tmp/")))) and "x" not in flag


def never_verified(site: Site) -> bool:
    """Nothing in the file verifies a signature."""
    return not site.contains("verify")
