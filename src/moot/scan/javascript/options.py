"""Turns options into calls that rules can match.

`{rejectUnauthorized: false}` means the same wherever the object ends up. It adds a call of
`js.option.rejectUnauthorized` before its statement, which only passes the value to the rules.
"""

import re

from moot.core.secret_patterns import COMPARED_JAVASCRIPT, COMPARED_WHERE_MADE
from moot.scan.engine.ir import Attr, Call, Concat, Const, Cut, Define, Do, Entry, Expr, Hole, Name, Return, Span, Unary
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
    if name == "checkServerIdentity" and _says_yes(reader, value):
        value = Const(at, False)
    if name in FLOWS or (name in SWITCHES and _is_plain(value)):
        reader.before.append(Do(at, Call(at, reader.name_origin(at, f"js.option.{name}"), (value,))))


def _says_yes(reader: JavaScriptReader, value: Expr) -> bool:
    """A function that finds no error in any certificate."""
    if not isinstance(value, Name):
        return False
    made = [stmt.function.body for stmt in reader.before if isinstance(stmt, Define) and stmt.function.name == value.id]
    return any(all(isinstance(stmt, Return) and _is_nothing(stmt.value) for stmt in body) for body in made)


def _is_nothing(value: Expr | None) -> bool:
    return value is None or isinstance(value, Const) or (isinstance(value, Name) and value.id == "undefined")


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
    if not (_is_read(left) and _is_read(right)) or isinstance(left, Const) or isinstance(right, Const):
        return
    if SECRET.search(_last(right)) and not SECRET.search(_last(left)):
        left, right = right, left
    named = SECRET.search(_last(left)) is not None
    if named or MADE_HERE.search(_last(left)) or MADE_HERE.search(_last(right)):
        call = Call(at, reader.name_origin(at, COMPARED), (right, left, Const(at, named)))
        reader.before.append(Do(at, call))
    if named and SECRET.search(_last(right)):
        reader.before.append(Do(at, Call(at, reader.name_origin(at, COMPARED), (left, right, Const(at, True)))))


READS = words("slice substring substr trim toString get header toLowerCase strip lower replace")


def _is_read(value: Expr) -> bool:
    """A plain value, or a part of one: `header.slice(7)`, `req.get("x-key")`."""
    if isinstance(value, Cut):
        return all(part is None or _is_plain(part) for part in (value.base, value.low, value.high))
    if isinstance(value, Call) and isinstance(value.func, Attr) and value.func.name in READS:
        return _is_plain(value.func.base) and all(isinstance(arg, Const) for arg in value.args)
    return _is_plain(value)


def _find_end(value: Expr) -> Expr:
    """Of `Bearer ${TOKEN}`, what stands at its end."""
    last = value.parts[-1] if isinstance(value, Concat) and value.parts else value
    return last.value if isinstance(last, Hole) else last


def _last(value: Expr) -> str:
    if isinstance(value, Attr):
        return value.name
    return value.id if isinstance(value, Name) else ""
