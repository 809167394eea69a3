"""Secrets recognised by their name, or by their place in an address, a header or a command."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from moot.core import secret_patterns as patterns
from moot.text.secrets.shapes import FoundSecret, is_secret

NAME = re.compile(patterns.NAME)
WITHIN = re.compile(patterns.NAME_WITHIN)
ABOUT = re.compile(patterns.NAME_ABOUT)
CORE = re.compile(patterns.NAME_CORE)
CORE_WORDS = ("pass", "pwd", "secret", "token", "cred", "key", "bearer", "jwt", "dsn", "pw", "pat")
"""With which a match of `CORE` can begin."""
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
"""What precedes a text that can be the value of the whole expression. Other texts are arguments or comparisons."""
STOPS = re.compile(r"[(\[{)\]},;\"'`\n]")
REACH = 200
"""Characters of an expression that are read."""
REGEX = re.compile(r"[\\^$*+?()\[\]{}|\s]")
BARE = re.compile(r"(?P<value>[^\s\"'`,;(){}\[\]<>|&#]+)(?P<rest>[^\n]*)")
ELEMENT = re.compile(r">(?P<value>[^<>\s]{4,200})</")
CALLED = re.compile(r"\([ \t]{0,4}")
SETTER = re.compile(patterns.SETTER)
PAIRING = re.compile(r"(?i)(?:set|put|env|add|config|header|insert|update|default|get|option)\w*\([ \t]*[rbu]?[\"'`]\Z")
"""A function that takes a name and its value: `Setenv("DB_PASS", "…")`."""
LINE_START = re.compile(r"[ \t]*(?:[+-][ \t]*)?(?:(?:export|set|ENV|env|SET)[ \t]+)?[\"']?(?:[\w-]+[.-]){0,6}")
SEVERAL = re.compile(r"[ \t]*(?:(?:const|let|var)[ \t]+[\[{]?)?[\w.]+(?:,[ \t]*[\w.]+){0,4},[ \t]*")

QUERY = re.compile(patterns.QUERY)
PLACES: dict[str, list[tuple[patterns.Place, re.Pattern[str]]]] = {}
"""By the sign that they need."""
for each_place in patterns.PLACES:
    PLACES.setdefault(each_place.sign, []).append((each_place, re.compile(each_place.pattern)))
TYPES = re.compile(
    r"(?:str|string|bytes|int|float|bool|boolean|number|any|object|unknown|never|void|char|text|varchar\S*)\b"
)
CODE = re.compile(
    r"(?m)^[ \t]*(?:def|class|import|from|func|function|const|let|var|package|return|if|for|async|public|private)\b|"
    r"[;{][ \t]*$|=>"
)
VARIABLE = re.compile(patterns.VARIABLE)


def is_secret_name(name: str) -> bool:
    """For environment variables."""
    if name.upper() in patterns.NOT_SECRET:
        return False
    return VARIABLE.search(name) is not None or NAME.fullmatch(name) is not None


def by_context(text: str) -> Iterator[FoundSecret]:
    if signs := [sign for sign in PLACES if sign in text]:
        yield from _by_place(text, signs)
    seen, code = -1, None
    for core in _find_cores(text):
        if core.start() < seen:
            continue
        start = core.start() - len(BEFORE.search(text, max(0, core.start() - 60), core.start())[0])  # type: ignore[index]
        behind = BEHIND.match(text, core.end())
        seen = behind.end() if behind else core.end()
        name = _classify_name(text[start:seen])
        if name is None or (name[0] in ("PWD", "OLDPWD", "pwd") and "/" in text[seen : seen + 4]):
            continue
        code = CODE.search(text) is not None if code is None else code
        if (found := _value_after(text, (start, seen), name, code)) is not None:
            yield found
        yield from _fallbacks(text, seen, name)


def _find_cores(text: str) -> Iterable[re.Match[str]]:
    """`CORE.finditer`. It compares every letter without regard to case, so it only looks where a name can begin."""
    if not text.isascii():  # letters whose other case is of another length
        return CORE.finditer(text)
    low = text.lower()
    words = [word for word in CORE_WORDS if word in low]
    if not words:
        return ()
    starts = sorted({at for word in words for at in _find_all(low, word)})
    found = list[re.Match[str]]()
    for at in starts:
        if (core := CORE.match(text, at)) is not None and (not found or at >= found[-1].end()):
            found.append(core)
    return found


def _find_all(text: str, word: str) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + 1)


def _classify_name(word: str) -> tuple[str, str] | None:
    """The word as a secret's name, and how its value is checked: `dbPass`, `X-Api-Key` and `DB_PASS` are alike."""
    plain = CAMEL.sub("_", word.replace("-", "_")).strip("_")
    match = NAME.fullmatch(plain) or NAME.fullmatch(word.replace("-", "_"))
    if match is None and (within := WITHIN.fullmatch(plain)) is not None and ABOUT.search(within["rest"]) is None:
        return plain.upper()[:40], "password" if within["password"] else "key"
    return (plain.upper()[:40], str(match.lastgroup)) if match else None


def _value_after(text: str, at: tuple[int, int], name: tuple[str, str], code: bool) -> FoundSecret | None:
    start, end = at
    if element := ELEMENT.match(text, end):
        return _judge_match(element, name)
    after = AFTER.match(text, end)
    if after is None:
        called = CALLED.match(text, end) if SETTER.fullmatch(text[start:end]) else None
        value = QUOTED.match(text, called.end()) if called else None
        return _judge_match(value, name) if value else None
    if QUOTED.match(text, after.end()):
        if after["sep"] == "," and not PAIRING.search(text, max(0, start - 60), start):
            return None
        value = _same_place(text, start, after)
        return _judge_match(value, name) if value else None
    bare = BARE.match(text, after.end()) if after["sep"] in ("=", ":") else None
    if bare is None or not _is_setting(text, at, after, bare, code):
        return None
    return _judge_match(bare, name)


def _fallbacks(text: str, end: int, name: tuple[str, str]) -> Iterator[FoundSecret]:
    """`password = os.getenv("X") or "…"`: the texts that can be the value of this line's expression."""
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
            if OPERAND.search(text, max(start, stop.start() - 80), stop.start()) and (
                found := _judge_match(value, name)
            ):
                yield found


def _same_place(text: str, start: int, after: re.Match[str]) -> re.Match[str] | None:
    """`user, password = "bob", "…"`: the value at the name's position."""
    line = text[text.rfind("\n", 0, start) + 1 : start]
    place = line.count(",") if after["sep"] in ("=", ":=") and SEVERAL.fullmatch(line) else 0
    value = QUOTED.match(text, after.end())
    for _ in range(place):
        comma = NEXT.match(text, value.end()) if value else None
        value = QUOTED.match(text, comma.end()) if comma else None
    return value


def _is_setting(text: str, at: tuple[int, int], after: re.Match[str], bare: re.Match[str], code: bool) -> bool:
    """`DB_PASS=x` in a settings file, not `password=password` in a call."""
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


def _judge_match(match: re.Match[str], name: tuple[str, str]) -> FoundSecret | None:
    kind, group = name
    value = match["value"]
    # A secret in an address is found by its place.
    if "://" in value or not is_secret(value, group, phrase="PHRASE" in kind):
        return None
    if kind.endswith("PAT") and REGEX.search(value):
        return None  # a pattern
    return FoundSecret(match.start("value"), match.end("value"), kind)


def _by_place(text: str, signs: Sequence[str]) -> Iterator[FoundSecret]:
    for place, pattern in [entry for sign in signs for entry in PLACES[sign]]:
        for match in pattern.finditer(text):
            if is_secret(match["value"], place.judged):
                yield FoundSecret(match.start("value"), match.end("value"), place.kind)
    for match in QUERY.finditer(text) if "=" in signs else ():
        low = match["name"].lower()
        if is_secret(match["value"], "password" if "pass" in low or "pwd" in low else "key"):
            yield FoundSecret(match.start("value"), match.end("value"), re.sub(r"\W", "_", low).upper())
