"""Conditions of the JavaScript rules."""

import re
from collections.abc import Callable

from moot.scan.engine.fold import UNKNOWN
from moot.scan.engine.rulebook import Site, When
from moot.scan.engine.values import BUILT, PAGE, SHARED, Val
from moot.scan.regex_growth import measure_growth
from moot.scan.rules.operands import finds_option
from moot.scan.rules.secrets import PLACEHOLDER
from moot.scan.rules.when import finds, is_dated_line, is_guessable, is_named_by_caller

DIRECT = 0.5
"""Parameters of functions with unknown callers are below this confidence."""
WEAK_CIPHER = re.compile(r"(?i)^(?:des|rc[24]|bf|blowfish|cast|idea|seed)|-ecb$")
OLD_TLS = re.compile(r"(?i)^(?:sslv[23]|tlsv1(?:[._]1)?)(?:_(?:client_|server_)?method)?$")
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


def through_shell(site: Site) -> bool:
    """`spawn(program, args, {shell: true})`, or a shell that is given a script."""
    for place in (1, 2):
        shell = site.setting(site.arg(place), "shell")
        if shell is not None and shell.const not in (False, None, UNKNOWN):
            return True
    program = text_of(site.arg(0))
    parts = site.items(site.arg(1)) or []
    return program is not None and bool(SHELLS.search(program)) and any(is_const(p, "-c", "/c", "/C") for p in parts)


def reads_option(site: Site) -> bool:
    program = site.arg(0)
    given = site.items(site.arg(1)) or []
    return program is not None and finds_option([program, *given]) and not through_shell(site)


def not_a_function(site: Site) -> bool:
    first = site.arg(0)
    return first is not None and not first.refs


def is_unlimited(site: Site) -> bool:
    return all(site.setting(site.arg(place), "maxOutputLength") is None for place in (1, 2))


LOG_FILE = re.compile(r"(?i)log(?:s|ger|file|path)?(?:$|[^a-z])|audit|journal")


OWN_LOGGER = re.compile(r"(?i)[./~](?:logger|log)(?:\.default)?\.\w+$")


def is_own_logger(site: Site) -> bool:
    """`import { logger } from './logger'`, `this.logger`"""
    return OWN_LOGGER.search(site.name) is not None


def is_log_line(site: Site) -> bool:
    return bool(LOG_FILE.search(f"{site.words()} {site.text().partition(',')[0]}"))


def is_dated_entry(place: int) -> When:
    def check(site: Site) -> bool:
        text = site.arg(place)
        return text is not None and BUILT in text.marks and is_dated_line(site.text(), site.around())

    return check


def is_secret(value: Val | None) -> bool:
    text = text_of(value)
    return text is not None and bool(text) and not PLACEHOLDER.search(text)


def when_literal(place: int, *path: str | int) -> When:
    """A hard-coded secret."""
    return lambda site: is_secret(setting(site, site.arg(place), *path))


def key_written_out(place: int) -> When:
    """A hard-coded key: any text where a key is expected."""
    return lambda site: bool(text_of(site.arg(place)))


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
    return not finds(r"\.(?:fill|copy|set|write\w*|concat)\(|readSync|getRandomValues|randomFill", site.around())


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
    around = site.around() or site.text()
    origins = [taint.origin for taint in first.taints] if first is not None else []
    guessed = first is not None and SHARED in first.marks and (
        is_guessable(around) or is_named_by_caller(origins, around)
    )  # fmt: skip
    return (guessed or (path is not None and path.startswith(("/tmp/", "/var/tmp/")))) and "x" not in flag
