"""Secrets that are known by the name they are given, or by their place in an address, a header or a command."""

import re
from collections.abc import Iterator
from itertools import islice

from moot.text.secrets.shapes import Found, is_secret

PASSWORD = (
    r"(?:(?:[a-z0-9]*?_)*(?:db|user|root|admin|my|pg|mysql|redis|smtp|ftp|mail|imap|ldap|proxy|sudo|ssh|app|key|store|trust)?"
    r"(?:pass(?:code)?|pwd|pw)|[a-z0-9_]*(?:password|passwd|passphrase))"
)
KEY = (
    r"[a-z0-9_]*(?:secret|token|credentials?|api_?key|access_?key|secret_?key|private_?key|signing_?key|encryption_?key|"
    r"account_?key|shared_?key|master_?key|license_?key|service_?key|auth_?key|jwt_?key|deploy_?key|aes_?key|hmac_?key|"
    r"session_?key|fernet_?key|priv_?key|bearer|jwt|dsn)|(?:[a-z0-9]+_)*creds?|(?:[a-z0-9]+_)+pat"
)
ENDING = r"(?:_?(?:value|string|str|b64|base64|hex|enc|text|\d{1,3}))?"
NAME = re.compile(rf"(?i)(?:(?P<password>{PASSWORD})|(?P<key>{KEY})|(?P<plain>(?:[a-z0-9_]*_)?key)){ENDING}")
"""A name that says what its value is."""
WITHIN = re.compile(
    r"(?i)(?:[a-z0-9]+_)*?(?:(?P<password>password|passwd|passphrase|pwd|pw|(?:db|user|root|admin|mysql|redis|smtp)_?pass)|"
    r"(?P<key>secret(?:_?key)?|token|credentials?|creds?|(?:api|access|private|priv|signing|encryption|master|fernet)_?key))"
    r"(?P<rest>(?:_[a-z0-9]+)+)"
)
"""One that goes on to say where its value is used: `PASSWORD_PROD`, `SECRET_KEY_BASE`."""
ABOUT = re.compile(
    r"(?i)_(?:hash(?:e[rsd])?|hashing|sha\d*|md5|digest|salt|fields?|column|col|url|uri|endpoint|host|path|file|filename|dir|"
    r"names?|ids?|arn|ref|type|kind|class|format|label|title|text|prompt|hint|help|message|msg|errors?|warning|placeholder|"
    r"template|view|page|form|inputs?|element|selector|button|btn|icon|style|param|params|arg|header|prefix|suffix|"
    r"separator|env|var|variable|key|keys|alg|algo|algorithm|method|mode|scheme|policy|rules?|regex|re|pattern|validators?|"
    r"checker|encoder|provider|factory|service|manager|store|storage|backend|handler|source|reset|change|changed|"
    r"rotation|expir\w*|ttl|age|lifetime|timeout|days|hours|minutes|seconds|at|min|max|len|length|size|count|limit|"
    r"strength|status|state|scopes?|issuer|audience|required|enabled|valid)(?=_|$)"
)
"""What is said about a secret, and is none."""
CORE = re.compile(
    r"(?i)pass|pwd|secret|token|cred|key|bearer|jwt|dsn|(?<![a-z])p(?:w|at)(?![a-z])|(?-i:(?<=[a-z0-9])P(?:w|at)(?![a-z]))"
)
CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
BEFORE = re.compile(r"[A-Za-z0-9_-]{0,60}\Z")
BEHIND = re.compile(r"[A-Za-z0-9_]{0,40}")
AFTER = re.compile(
    r"""(?P<close>\\?["'`])?\]?\)?[ \t]{0,8}
    (?::[ \t]{0,3}[A-Za-z_][\w.]*(?:\[[\w., |]{0,40}\])?(?:[ \t]?\|[ \t]?\w+)?[ \t]{0,3}(?==))?
    (?P<sep>:=|=>|===?|!==?|[:=,])[ \t]{0,8}""",
    re.VERBOSE,
)
QUOTED = re.compile(
    r"""[rbuRBU@]{0,2}(?P<quote>\\?(?:\"{3}|'{3}|["'`]))
    (?P<value>(?:(?!(?P=quote))[^\n\\]|\\(?!["'`]).|\\(?=["'`])(?!(?P=quote)).){1,400}?)(?P=quote)""",
    re.VERBOSE,
)
NEXT = re.compile(r"[ \t]*,[ \t]*")
OPERATOR = re.compile(r"\bor\b|\belse\b|\|\||\?|\bget|\benv")
OPERAND = re.compile(
    r"(?:\bor\b|\belse\b|\|\||\?[?:]?|\?[^?\n]{0,60}:|"
    r"(?:getenv|\.get|env)\([ \t]*[\"'][\w.-]{1,40}[\"'][ \t]*,)[ \t(]{0,4}[rbuRBU]{0,2}\Z"
)
"""What stands before a text that the whole expression may come to. Other texts are arguments or are compared."""
STOPS = re.compile(r"[(\[{)\]},;\"'`\n]")
REACH = 200
"""Letters of an expression that are read."""
REGEX = re.compile(r"[\\^$*+?()\[\]{}|\s]")
BARE = re.compile(r"(?P<value>[^\s\"'`,;(){}\[\]<>|&#]+)(?P<rest>[^\n]*)")
ELEMENT = re.compile(r">(?P<value>[^<>\s]{4,200})</")
CALLED = re.compile(r"\([ \t]{0,4}")
SETTER = re.compile(r"(?i)(?:set_?|with_?|user_?)?(?:password|passwd|secret|token)")
PAIRING = re.compile(r"(?i)(?:set|put|env|add|config|header|insert|update|default|get|option)\w*\([ \t]*[rbu]?[\"'`]\Z")
"""A function that is given a name and its value: `Setenv("DB_PASS", "…")`."""
LINE_START = re.compile(r"[ \t]*(?:[+-][ \t]*)?(?:(?:export|set|ENV|env|SET)[ \t]+)?[\"']?(?:[\w-]+[.-]){0,6}")
SEVERAL = re.compile(r"[ \t]*(?:(?:const|let|var)[ \t]+[\[{]?)?[\w.]+(?:,[ \t]*[\w.]+){0,4},[ \t]*")

ADDRESS = re.compile(
    r"\b[a-zA-Z][a-zA-Z0-9+.-]{1,20}://(?:[^\s/@:'\"`<>,]{0,80}):(?P<value>[^\s/'\"`<>,]{1,200})@(?=[\w.\[%$-])"
)
BEARER_ADDRESS = re.compile(r"\b[a-zA-Z][a-zA-Z0-9+.-]{1,20}://(?P<value>[A-Za-z0-9_-]{16,200})@(?=[\w.\[-])")
QUERY = re.compile(
    r"(?i)[?&;](?P<name>(?:[\w-]{0,30}[_-])?(?:token|sig|signature|key|secret|password|passwd|pass|pwd|auth|apikey|code|"
    r"credential))=(?P<value>[^\s&#'\"`<>]{4,400})"
)
PLACES: tuple[tuple[str, str, str, re.Pattern[str]], ...] = (
    ("://", "URL_PASSWORD", "password", ADDRESS),
    ("://", "URL_TOKEN", "key", BEARER_ADDRESS),
    ("earer ", "BEARER", "token", re.compile(r"\b[Bb]earer[ ]+(?P<value>[A-Za-z0-9._~+/=-]{8,400})")),
    (
        "uthorization",
        "AUTHORIZATION",
        "token",
        re.compile(
            r"(?i)\bauthorization\b[\"']?[\]),]{0,2}[ \t]*[:=,]?[ \t]*[\"'`f]{0,2}"
            r"(?:(?:basic|bearer|token|digest|apikey)[ ]+)?"
            r"(?P<value>[A-Za-z0-9._~+/=-]{8,400})(?![A-Za-z0-9._~+/=(-])"
        ),
    ),
    (
        "=",
        "PASSWORD",
        "password",
        re.compile(
            r"(?i)(?<![\w.])(?:password|passwd|pwd|accountkey|sharedaccesskey)=(?P<value>[^\s;'\"`,)&]{3,200})"
            r"(?=;|[ ](?:\w+=)|['\"`][ \t]*[,;)\n]|$)"
        ),
    ),
    (
        "'",
        "PASSWORD",
        "password",
        re.compile(r"(?i)\b(?:identified by|with password|password)[ \t]+'(?P<value>[^'\n]{3,200})'"),
    ),
    (
        "-u",
        "PASSWORD",
        "password",
        re.compile(r"(?<!\S)(?:-u|--user)[ =][\"']?[\w.@+-]{1,60}:(?P<value>[^\s\"'`]{3,200})"),
    ),
    (
        "mysql",
        "PASSWORD",
        "password",
        re.compile(r"\bmysql(?:dump|admin)?\b[^\n|;]{0,200}?[ ]-p(?P<value>[^\s\"'`-][^\s\"'`]{2,200})"),
    ),
    (
        "ENV",
        "PASSWORD",
        "password",
        re.compile(r"(?m)^[ \t]*ENV[ \t]+\w*(?:PASS|PWD|PASSWORD|SECRET|TOKEN)[ \t]+(?P<value>[^\s\"'`]{3,200})"),
    ),
    ("sshpass", "PASSWORD", "password", re.compile(r"\bsshpass[ ]-p[ ]?[\"']?(?P<value>[^\s\"'`]{3,200})")),
    ("login ", "PASSWORD", "password", re.compile(r"\blogin[ ]\S{1,80}[ ]+password[ ]+(?P<value>\S{3,200})")),
    (
        ":",
        "PASSWORD",
        "password",
        re.compile(r"(?m)^[\w.*-]+:(?:\d{2,5}|\*):[\w*-]+:[\w*-]+:(?P<value>[^\s:]{3,200})$"),
    ),
    (
        "--",
        "PASSWORD",
        "password",
        re.compile(
            r"--[\w-]{0,30}(?:password|passwd|passphrase|token|secret|api-key|access-key)[ =]"
            r"(?P<value>[^\s\"'`$<{(\[A-Z-][^\s\"'`]{3,200})"
        ),
    ),
)
"""A text that must be there, the kind of secret, how its value is judged, and where it stands."""
TYPES = re.compile(
    r"(?:str|string|bytes|int|float|bool|boolean|number|any|object|unknown|never|void|char|text|varchar\S*)\b"
)
CODE = re.compile(
    r"(?m)^[ \t]*(?:def|class|import|from|func|function|const|let|var|package|return|if|for|async|public|private)\b|"
    r"[;{][ \t]*$|=>"
)
SECRET_NAME = re.compile(
    r"(?:^|_)(?:KEY|APIKEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|PASS|PWD|PW|PAT|CREDENTIALS?|CREDS?)(?:_|$)",
    re.IGNORECASE,
)
NO_SECRETS = frozenset({"PWD", "OLDPWD", "SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS"})


def is_secret_name(name: str) -> bool:
    """Of an environment variable."""
    if name.upper() in NO_SECRETS:
        return False
    return SECRET_NAME.search(name) is not None or NAME.fullmatch(name) is not None


def by_context(text: str) -> Iterator[Found]:
    yield from _by_place(text)
    seen, code = -1, None
    for core in CORE.finditer(text):
        if core.start() < seen:
            continue
        start = core.start() - len(BEFORE.search(text, max(0, core.start() - 60), core.start())[0])  # type: ignore[index]
        behind = BEHIND.match(text, core.end())
        seen = behind.end() if behind else core.end()
        name = _named(text[start:seen])
        if name is None or (name[0] in ("PWD", "OLDPWD", "pwd") and "/" in text[seen : seen + 4]):
            continue
        code = CODE.search(text) is not None if code is None else code
        if (found := _value_after(text, (start, seen), name, code)) is not None:
            yield found
        yield from _fallbacks(text, seen, name)


def _named(word: str) -> tuple[str, str] | None:
    """The word as a name of a secret, and how its value is judged: `dbPass`, `X-Api-Key` and `DB_PASS` are alike."""
    plain = CAMEL.sub("_", word.replace("-", "_")).strip("_")
    match = NAME.fullmatch(plain) or NAME.fullmatch(word.replace("-", "_"))
    if match is None and (within := WITHIN.fullmatch(plain)) is not None and ABOUT.search(within["rest"]) is None:
        return plain.upper()[:40], "password" if within["password"] else "key"
    return (plain.upper()[:40], str(match.lastgroup)) if match else None


def _value_after(text: str, at: tuple[int, int], name: tuple[str, str], code: bool) -> Found | None:
    start, end = at
    if element := ELEMENT.match(text, end):
        return _judged(element, name)
    after = AFTER.match(text, end)
    if after is None:
        called = CALLED.match(text, end) if SETTER.fullmatch(text[start:end]) else None
        value = QUOTED.match(text, called.end()) if called else None
        return _judged(value, name) if value else None
    if QUOTED.match(text, after.end()):
        if after["sep"] == "," and not PAIRING.search(text, max(0, start - 60), start):
            return None
        value = _same_place(text, start, after)
        return _judged(value, name) if value else None
    bare = BARE.match(text, after.end()) if after["sep"] in ("=", ":") else None
    if bare is None or not _is_setting(text, at, after, bare, code):
        return None
    return _judged(bare, name)


def _fallbacks(text: str, end: int, name: tuple[str, str]) -> Iterator[Found]:
    """`password = os.getenv("X") or "…"`: the texts that the expression on this line may come to."""
    after = AFTER.match(text, end)
    if after is None or after["sep"] not in ("=", ":=", ":", "=>"):
        return
    start = at = after.end()
    last, depth = start + REACH, 0
    if OPERATOR.search(text, start, last) is None:
        return
    while (stop := STOPS.search(text, at, last)) is not None:
        sign, at = stop[0], stop.end()
        depth += (sign in "([{") - (sign in ")]}")
        if sign == "\n" or depth < 0 or (not depth and sign in ",;"):
            return
        if sign not in "\"'`" or text.startswith(sign, at):
            at += sign in "\"'`"
        elif (value := QUOTED.match(text, stop.start())) is None:
            return
        else:
            at = value.end()
            if OPERAND.search(text, max(start, stop.start() - 80), stop.start()) and (found := _judged(value, name)):
                yield found


def _same_place(text: str, start: int, after: re.Match[str]) -> re.Match[str] | None:
    """`user, password = "bob", "…"`: the value in the place that the name has."""
    line = text[text.rfind("\n", 0, start) + 1 : start]
    place = line.count(",") if after["sep"] in ("=", ":=") and SEVERAL.fullmatch(line) else 0
    value = QUOTED.match(text, after.end())
    for _ in range(place):
        comma = NEXT.match(text, value.end()) if value else None
        value = QUOTED.match(text, comma.end()) if comma else None
    return value


def _is_setting(text: str, at: tuple[int, int], after: re.Match[str], bare: re.Match[str], code: bool) -> bool:
    """`DB_PASS=x` of a file of settings, not `password=password` of a call."""
    name = text[at[0] : at[1]]
    if LINE_START.fullmatch(text, text.rfind("\n", 0, at[0]) + 1, at[0]) is None:
        return False
    rest, value = bare["rest"].strip(), bare["value"]
    if rest and not rest.startswith("#"):
        return False
    if re.fullmatch(r"[A-Za-z_][\w.]*", value) is None:
        return not code or re.fullmatch(r"[\d._]+", value) is None
    if TYPES.match(value) or (value[0].isupper() and value.isalpha() and after["sep"] == ":"):
        return False
    if name.isupper() and after[0] == "=":
        return True
    alone = len(list(islice(re.finditer(rf"(?<!\w){re.escape(value)}(?!\w)", text), 2))) == 1
    return alone and "." not in value and (not code or any(c.isdigit() for c in value))


def _judged(match: re.Match[str], name: tuple[str, str]) -> Found | None:
    kind, group = name
    value = match["value"]
    # What is secret in an address is found by its place.
    if "://" in value or not is_secret(value, group, phrase="PHRASE" in kind):
        return None
    if kind.endswith("PAT") and REGEX.search(value):
        return None  # a pattern
    return Found(match.start("value"), match.end("value"), kind)


def _by_place(text: str) -> Iterator[Found]:
    for sign, kind, group, pattern in PLACES:
        if sign in text:
            for match in pattern.finditer(text):
                if is_secret(match["value"], group):
                    yield Found(match.start("value"), match.end("value"), kind)
    for match in QUERY.finditer(text) if "=" in text else ():
        low = match["name"].lower()
        if is_secret(match["value"], "password" if "pass" in low or "pwd" in low else "key"):
            yield Found(match.start("value"), match.end("value"), re.sub(r"\W", "_", low).upper())
