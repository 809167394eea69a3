"""Turns options into calls that rules can match.

`{rejectUnauthorized: false}` means the same wherever the object ends up. It adds a call of
`js.option.rejectUnauthorized` before its statement, which only passes the value to the rules.
"""

import re

from moot.core.secret_patterns import COMPARED_JAVASCRIPT, COMPARED_WHERE_MADE
from moot.scan.engine.ir import Attr, Call, Concat, Const, Do, Entry, Expr, Hole, Name, Span, Unary
from moot.scan.javascript.reader import JavaScriptReader
from moot.scan.syntax import words

SWITCHES = words(
    "rejectUnauthorized strictSSL insecure checkServerIdentity httpOnly secure nodeIntegration contextIsolation "
    "nodeIntegrationInWorker webSecurity allowRunningInsecureContent experimentalFeatures enableBlinkFeatures noEscape "
    "noent noEnt ignoreExpiration minVersion secureProtocol SSL_VERIFYPEER ignoreHTTPSErrors sandbox"
)
COMPARED = "js.compared"
SECRET = re.compile(COMPARED_JAVASCRIPT)
MADE_HERE = re.compile(COMPARED_WHERE_MADE)
FLOWS = words("__html innerHTML $where")


def notice_entry(reader: JavaScriptReader, entry: Entry) -> None:
    if isinstance(entry.key, Const) and isinstance(entry.key.value, str):
        notice(reader, entry.key.value, entry.value, entry.at)


def notice(reader: JavaScriptReader, name: str, value: Expr, at: Span) -> None:
    if name in FLOWS or (name in SWITCHES and _is_plain(value)):
        reader.before.append(Do(at, Call(at, reader.name_origin(at, f"js.option.{name}"), (value,))))


def notice_target(reader: JavaScriptReader, target: Expr, value: Expr, at: Span) -> None:
    if isinstance(target, Name):
        notice(reader, target.id, value, at)
    elif isinstance(target, Attr):
        notice(reader, target.name, value, at)


def _is_plain(value: Expr) -> bool:
    """An expression without side effects."""
    while isinstance(value, Attr | Unary):
        value = value.base if isinstance(value, Attr) else value.value
    return isinstance(value, Const | Name)


def notice_comparison(reader: JavaScriptReader, op: str, left: Expr, right: Expr, at: Span) -> None:
    """`given === SECRET`: an untrusted value compared with a secret."""
    if op not in ("==", "!="):
        return
    left, right = _find_end(left), _find_end(right)
    if not (_is_plain(left) and _is_plain(right)) or isinstance(left, Const) or isinstance(right, Const):
        return
    if SECRET.search(_last(right)) and not SECRET.search(_last(left)):
        left, right = right, left
    named = SECRET.search(_last(left)) is not None
    if named or MADE_HERE.search(_last(left)) or MADE_HERE.search(_last(right)):
        call = Call(at, reader.name_origin(at, COMPARED), (right, left, Const(at, named)))
        reader.before.append(Do(at, call))


def _find_end(value: Expr) -> Expr:
    """Of `Bearer ${TOKEN}`, what stands at its end."""
    last = value.parts[-1] if isinstance(value, Concat) and value.parts else value
    return last.value if isinstance(last, Hole) else last


def _last(value: Expr) -> str:
    if isinstance(value, Attr):
        return value.name
    return value.id if isinstance(value, Name) else ""
