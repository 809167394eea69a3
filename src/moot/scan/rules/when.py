"""Words that tell the purpose of a value."""

import re
from collections.abc import Iterable
from functools import lru_cache

from moot.core.secret_patterns import PASSWORD_PARTS, PASSWORD_SHORT

SHORT = re.compile(PASSWORD_SHORT)


@lru_cache(maxsize=128)
def finds(pattern: str | re.Pattern[str], text: str) -> bool:
    """For texts of functions, which are searched again at every call in them."""
    return re.search(pattern, text) is not None


def is_about_password(text: str) -> bool:
    """Plain word search: thirty times as fast as one pattern, and lines of minified code are long."""
    lowered = text.lower()
    return any(word in lowered for word in PASSWORD_PARTS) or SHORT.search(lowered) is not None


PRESCRIBED = re.compile(
    r"(?i)sec[-_]?websocket[-_]?(?:accept|key)|\b258EAFA5-E914|\bRFC[- ]?\d{3,4}\b|\buuid_?v?[35]\b|NewV[35]\b"
)
"""A protocol prescribes the digest: the handshake of WebSocket, a UUID of a name, what a comment calls by its RFC."""
GUESSABLE = re.compile(
    r"(?i)\b(?:getpid|pid|time|date|now|unix(?:nano)?|strftime|isoformat|getuser|getlogin|user(?:name)?)\b"
)
DRAWN = re.compile(
    r"(?:\b|_)[rR]and|[a-z]Rand|urandom|(?i:uuid|(?<![a-z])nonce|\bsecrets\.|mkdtemp|mkstemp|CreateTemp|MkdirTemp"
    r"|(?<!os\.)(?<!get)(?<!tempfile\.)TempDir|\btempfile\.(?!gettempdir|tempdir)|NamedTemporaryFile|TemporaryDirectory"
    r"|(?<!os\.)tmpdir)"
)


def is_guessable(around: str) -> bool:
    """Whether a function makes a name of what others know as well: its process, the time, a user."""
    return finds(GUESSABLE, around) and not finds(DRAWN, around)


DRAWS = re.compile(r"\bos\.(?:urandom|getrandom)\(|\bsecrets\.\w+\(|\buuid4\(|\bSystemRandom\(")
"""Calls that give bytes which nobody can choose or know."""
NAMES = re.compile(r"\b[a-zA-Z_]\w*")


def is_drawn(call: str, around: str) -> bool:
    """Whether an argument of the call holds such bytes, by the assignments in the function around it."""
    given = call.partition("(")[2]
    drawn = "\n".join(line for line in around.splitlines() if DRAWS.search(line))
    names = NAMES.findall(given) if drawn else ()
    return bool(DRAWS.search(given)) or any(re.search(rf"\b{name}\s*\+?=(?!=)", drawn) for name in names)


DIRECTIVE = re.compile(r"(?i)^(?:pylint|noqa|type|pragma|mypy|ruff|flake8|nosec|eslint|istanbul|c8|v8|@ts)[\w-]*\b")


def is_reason(comment: str) -> bool:
    """Words for a reader, not for a tool, and more than what the code says already."""
    text = comment.strip("#/* \t\n")
    return len(text.split()) > 1 and not DIRECTIVE.match(text)


DATED = re.compile(
    r"toISOString|toUTCString|Date\.now|new Date|time\.Now\(|RFC3339|datetime\.|strftime|isoformat|asctime|ctime\("
    r"|time\.time\("
)
LINE_END = re.compile(r"\\n['\"`]|Fprintln|println")


def is_dated_line(call: str, around: str) -> bool:
    """A line with the time in it that is added to a file: an entry of a log, whatever the file is called."""
    return LINE_END.search(call) is not None and finds(DATED, around)


NAMED_BY_CALLER = re.compile(r"^parameter \w*?(?:_?id|Id|name|Name|user|job|order|report|session|key|request)\b")


def is_named_by_caller(origins: Iterable[str], around: str) -> bool:
    """A file of all users' folder whose name others can guess, because it is that of a user or of a job."""
    return any(NAMED_BY_CALLER.search(origin) for origin in origins) and not finds(DRAWN, around)


DEFAULT = r"\b{name}\b\s*(?::\s*\w+)?\s*=\s*(\d[\d_]*)"


def read_default(around: str, name: str) -> int | None:
    """The number that a parameter has if nobody gives one: `def make_key(bits=1024)`."""
    found = re.search(DEFAULT.format(name=re.escape(name)), around[:300]) if name.isidentifier() else None
    return int(found[1].replace("_", "")) if found is not None and len(found[1]) < 12 else None
