"""Library calls: sinks, sanitisers, sources and propagation."""

import re
from functools import lru_cache, reduce

from moot.scan.engine import facts, fold, schemas
from moot.scan.engine.building import JOINS, SHARED_FOLDERS, fill_percent, find_joined, settle
from moot.scan.engine.fold import UNKNOWN
from moot.scan.engine.ir import Call
from moot.scan.engine.lookups import (
    FOLDER,
    HOST,
    NORMAL,
    find_named_source,
    of_source,
    source,
    taints_in,
)
from moot.scan.engine.machine import Machine
from moot.scan.engine.makers import make_container
from moot.scan.engine.routes import NEXT, note_next, note_row
from moot.scan.engine.sink_checks import check_handed, check_sinks
from moot.scan.engine.sites import CallSite
from moot.scan.engine.state import HeapCell
from moot.scan.engine.values import (
    ALL,
    ANY,
    CONSTRUCTED,
    NO_FACTS,
    NOTHING,
    PAGE,
    ROOTED,
    SETTLED,
    SHARED,
    SPREADING,
    VERDICT,
    WHOLE,
    Facts,
    Key,
    Taints,
    Val,
    ending,
    join_path,
    join_values,
    merge_taints,
    name_value,
    part_of,
    spend_taints,
)
from moot.scan.syntax import words

CLEANER = re.compile(
    r"(?i)sanit|(?<!un)escap|clean|purif|(?<!un)quote|strip_tags|whitelist|secure_filename|safe_(?:join|path|str|name|url|html)|"
    r"encode_for|normali[sz]e_(?:path|name)|validate|slugify|bleach"
)
CALLER = 0.5
FORM = re.compile(r"(?:Form|FormSet|Serializer|Schema)\(\)$")
FORM_CHECKS = words("is_valid validate validate_on_submit")
"""Say that the form is filled in, and nothing of what a value does elsewhere."""
CONVERSIONS = words("str os.fspath pathlib.Path []byte string String")
"""What keeps a text as it was put together."""
SHARED_PLACES = frozenset(folder.rstrip("/") for folder in SHARED_FOLDERS)
READS = words("get getlist get_all getall pop getone setdefault get_argument")
TEXT_MARKS = CONSTRUCTED | SPREADING | {WHOLE, SHARED}
TEXTS = words("str unicode")
ASKS = words("get Get getAll getlist get_all")
OWN_PARTS = ("self.", "?.")
PARTS = words("split rsplit partition rpartition splitext")
RELATIVE = frozenset({"relative"})
APPENDS = words("path.join path.Join path/filepath.Join")
"""Joins for which a path that begins with the root is one below the folder before it."""
UNROOTS = ("lstrip", "strip", "removeprefix", "relpath")
NORMALISERS = words(
    "os.path.realpath os.path.abspath os.path.normpath pathlib.Path.resolve .resolve .absolute posixpath.normpath"
)


def library_call(m: Machine, site: CallSite, e: Call) -> Val:
    name = site.name
    last = name.rpartition(".")[2]
    matched = check_sinks(m, site, e, m.book.sinks.get(name, ())) | check_sinks(
        m, site, e, m.book.sinks.get("." + last, ())
    )
    if not matched and m.book.statement is not None:
        check_handed(m, site, e, m.book.statement)
    if name in m.book.ends:
        m.frame.dead = True
    if last == "relative_to" and "normal" in site.receiver.marks:
        # It raises when the resolved path leaves the folder.
        site.state.proved |= facts.about(site.receiver.taints, "path")
    if name == NEXT and (not site.args or m.frame.unit.module.language == "python"):
        note_next(m, site.state.proved)
    note_row(m, site, last)
    known = _apply_rules(m, site, e, last)
    if known is not None:
        return known
    given = _collect_carried(m, site) if name in m.book.carries else _collect_taints(m, site)
    result = _result(m, site, last, matched, given)
    proof = _proof(m, site, last, given)
    if proof is NO_FACTS:
        return result
    return result._replace(facts=proof, marks=result.marks | {VERDICT} if facts.judges(last) else result.marks)


def _apply_rules(m: Machine, site: CallSite, e: Call, last: str) -> Val | None:
    """The rule for exactly this function; None if there is none."""
    name, book = site.name, m.book
    if name in book.keeps:
        held: dict[Key, Val] = dict(enumerate(site.args))
        held.update(site.keywords)
        return m.allocate(site.state, HeapCell("external", held, cls=f"{name}()"))
    if book.places and site.receiver.name and schemas.is_schema(site):
        return _of_schema(m, site, last)
    text = site.args[0].const if name in book.fills and len(site.args) > 1 else None
    if isinstance(text, str):
        return fill_percent(
            m, text, m.allocate(site.state, HeapCell("list", dict(enumerate(site.args[1:])))), site.state
        )
    if name in book.proves:
        return _apply_proof(m, site, book.proves[name])
    if name in book.addresses:
        given = _collect_taints(m, site)
        return Val(spend_taints(given), name=f"{name}()", facts=_proof(m, site, last, given))
    if name in book.makes:
        return make_container(m, site, book.makes[name])
    if name in book.sources:
        return Val(_name_request(m, site, e), name=f"{name}()")
    if (strength := find_named_source(m, name)) is not None:
        return Val((source(m, name, strength, e.at),), name=f"{name}()")
    return _read(m, site, e) if last in READS and site.receiver.name in book.sources else None


def _of_schema(m: Machine, site: CallSite, last: str) -> Val:
    if last in schemas.CHECKS:
        return schemas.check_schema(m, site, last)
    if site.receiver.refs:
        return schemas.refine_schema(site)
    return Val(name=f"{site.name}()")


def _apply_proof(m: Machine, site: CallSite, how: str) -> Val:
    """`int(x)`, `net.ParseIP(x)`: what it accepts is harmless, and so is the argument."""
    given = site.arg(0)
    taints = taints_in(m, given, site.state) if given is not None else ()
    proof = facts.about(taints, ALL)
    known = _fold_call(site)
    if known is not UNKNOWN or not proof:
        return Val(const=known, name=f"{site.name}()")
    result = Val(spend_taints(taints), name=f"{site.name}()")
    if how == "raises":
        site.state.proved |= proof
    elif how == "error":
        error = Val(facts=Facts(false=proof))
        return m.allocate(site.state, HeapCell("list", {0: Val(name=result.name), 1: error}))
    return result._replace(facts=Facts(true=proof)) if how == "nothing" else result


def _name_request(m: Machine, site: CallSite, e: Call) -> Taints:
    """`FormValue("a")` and `FormValue("b")` are different values."""
    found = (source(m, site.name, m.book.sources[site.name], e.at),)
    key = site.arg(0)
    return part_of(found, key.const) if key is not None and isinstance(key.const, str) else found


def _read(m: Machine, site: CallSite, e: Call) -> Val:
    key = site.arg(0) or ANY
    value = of_source(m, site.receiver, key, e.at)
    default = site.arg(1, "default")
    return join_values(value, default) if default is not None else value


def _result(m: Machine, site: CallSite, last: str, matched: bool, taints: Taints) -> Val:
    """The result: sanitised, propagated, or independent of the arguments."""
    book, name = m.book, site.name
    known = _fold_call(site)
    if known is not UNKNOWN or (last == "sub" and _keeps_out(site)):
        return Val(const=known)
    kinds = _find_sanitised(m, site, last)
    if last in PARTS or (last in READS | ASKS and site.receiver.taints and site.args):
        taints = part_of(taints, _part_read(site, last))
    out = f"{name}()"
    if not taints:
        return _untainted(m, site, last)
    if kinds is not None:
        return Val(ending(taints, _narrow_kinds(kinds, last, site)), name=out, marks=_marks(name, last, site))
    if name in book.restores:
        opened = book.restores[name]
        return Val(tuple(t._replace(ended=t.ended - opened) for t in taints), name=out)
    if name in book.passes or ("." + last in book.passes and site.receiver.taints):
        return _pass_on(m, site, last, matched, taints)
    if matched or name.split(".")[0] in book.roots:
        return Val(name=out) if not site.receiver.taints else Val(site.receiver.taints, name=out)
    return Val(name=out) if cleans(name) else _guess_result(m, site, last, taints)


def _find_sanitised(m: Machine, site: CallSite, last: str) -> frozenset[str] | None:
    """The kinds of sink that the result cannot harm; None if it is not known for any."""
    if last == "translate":
        return frozenset({"log", "header", "mail"}) if _drops_lines(m, site) else None
    if site.name == "map" and site.args:
        # `map(shlex.quote, words)`
        return m.book.sanitisers.get(site.args[0].name)
    return m.book.sanitisers.get(site.name) or m.book.sanitisers.get("." + last)


LINES = frozenset({10, 13, "\n", "\r"})
NO_LINES = r"maketrans\([^()]*\\[nr]"


def _drops_lines(m: Machine, site: CallSite) -> bool:
    """`text.translate({10: None, 13: None})`, `text.translate(str.maketrans("", "", "\\r\\n"))`"""
    table = site.arg(0)
    keys = {key for _, cell in m.cells(table, site.state) for key in cell.items} if table is not None else set()
    named = table.name if table is not None else ""
    made = rf"\b{re.escape(named)}\s*=\s*\w+\.{NO_LINES}" if named.isidentifier() else NO_LINES
    return bool(keys & LINES) or re.search(made, site.around() if named.isidentifier() else site.text()) is not None


def _pass_on(m: Machine, site: CallSite, last: str, matched: bool, taints: Taints) -> Val:
    """A function that makes its result of its arguments."""
    name = site.name
    if name in JOINS:
        taints = tuple(t._replace(ended=t.ended - {ROOTED}) for t in taints)
    if name in APPENDS:
        taints = settle(taints)
    taints = join_path(taints, find_joined(name, site.args))
    if name in NORMALISERS or f".{last}" in NORMALISERS:
        # `normpath("/" + name)` has no way up.
        taints = tuple(t._replace(ended=t.ended - {ROOTED} | {SETTLED}) if ROOTED in t.ended else t for t in taints)
    elif last in UNROOTS:
        taints = settle(taints)
    # What a sink has judged is not judged again where it is returned.
    judged = frozenset({PAGE}) if matched else NOTHING
    return Val(taints, name=f"{name}()", marks=_marks(name, last, site) - judged)


def _guess_result(m: Machine, site: CallSite, last: str, taints: Taints) -> Val:
    """What unseen code makes of its arguments. A method of a caller's object, or of a part of our own, hardly returns
    a text that it was given."""
    strong = tuple(taint for taint in taints if taint.strength >= CALLER)
    if site.receiver.taints:
        return Val(strong, name=f"{site.name}()", marks=_marks(site.name, last, site))
    if last in ASKS and site.receiver.name.rpartition(".")[2].isupper():
        return Val(name=f"{site.name}()")  # a table of the program's own holds its own values
    taints = strong if last not in READS and _is_part_of_ours(m, site) else taints
    return Val(tuple(t._replace(strength=t.strength * 0.8) for t in taints), name=f"{site.name}()")


def _is_part_of_ours(m: Machine, site: CallSite) -> bool:
    """`self.writer.write(x)`, and `self.write(x)` with a function that the constructor was given."""
    own = any(cell.kind == "instance" for _, cell in m.cells(site.receiver, site.state))
    return own or site.name.startswith(OWN_PARTS)


def _part_read(site: CallSite, last: str) -> str:
    """A proof about a file's extension says nothing about its name, `int(form.get("page"))` nothing about the other
    fields."""
    key = site.args[0].const if last in READS | ASKS else None
    return key if isinstance(key, str) else facts.PART


def _untainted(m: Machine, site: CallSite, last: str) -> Val:
    if site.name in TEXTS and len(site.args) == 1:
        return Val(name=site.args[0].name, marks=site.args[0].marks)
    out = f"{site.name}()"
    known, marks = m.book.constants.get(out, UNKNOWN), _marks(site.name, last, site)
    return name_value(out) if known is UNKNOWN and not marks else Val(const=known, name=out, marks=marks)


@lru_cache(4096)
def cleans(name: str) -> bool:
    return CLEANER.search(name) is not None


def _keeps_out(site: CallSite) -> bool:
    """`re.sub(r"[^a-z]", "", x)` leaves only harmless characters."""
    own = site.name == "re.sub"
    pattern, other = (site.arg(0), site.arg(1)) if own else (site.setting(site.receiver, 0), site.arg(0))
    text = pattern.const if pattern is not None else UNKNOWN
    if not isinstance(text, str) or other is None or not isinstance(other.const, str):
        return False
    return facts.KEPT_OUT.fullmatch(text) is not None and facts.find_allowed_kinds(text) == (ALL,)


def _narrow_kinds(kinds: frozenset[str], last: str, site: CallSite) -> frozenset[str]:
    """`x.replace("'", …)` protects only sinks where that character matters."""
    if last != "replace":
        return kinds
    old = site.arg(0)
    text = old.const if old is not None else None
    found = {kind for key, kinds in facts.FORBIDDEN if key == text and key in "'\"<\n\r(" for kind in kinds}
    new = site.arg(1)
    return frozenset(found | {"shell"} if text == "'" and new is not None and new.const in REOPENED else found)


REOPENED = frozenset({"'\\''", "'\"'\"'"})
"""What stands for a single quote between single quotes of a shell."""


def _marks(name: str, last: str, site: CallSite) -> frozenset[str]:
    marks = _proving_marks(name, last, site)
    passes = site.m.book.passes
    known = NORMALISERS | CONVERSIONS
    # A name with a hyphen is a frontend's own note about the text it is given, and no call.
    if name in known or "." + last in known or name in passes or "." + last in passes or "-" in name:
        marks |= frozenset(mark for value in (site.receiver, *site.args) for mark in value.marks & TEXT_MARKS)
    return marks


def _proving_marks(name: str, last: str, site: CallSite) -> frozenset[str]:
    if name in JOINS and _is_below_shared(site):
        return frozenset({SHARED})
    if name in NORMALISERS or "." + last in NORMALISERS:
        return NORMAL
    if last in ("commonpath", "commonprefix"):
        return frozenset({"common"})
    if name in ("os.path.relpath", "path.relative", "path/filepath.Rel"):
        return RELATIVE
    if last in PARTS and "relative" in site.receiver.marks:
        return RELATIVE
    if last in ("get_host", "Hostname", "hostname"):
        return HOST
    if last in ("dirname", "Dir") and any("normal" in value.marks for value in site.args):
        return NORMAL | FOLDER
    if last in ("str", "fspath", "as_posix", "lower", "decode", "join"):
        values = (site.receiver, *site.args)
        return frozenset(mark for value in values for mark in value.marks & {"normal", "host", "common"})
    return NOTHING


def _is_below_shared(site: CallSite) -> bool:
    """`path.join(os.tmpdir(), name)`: a folder of all users, and a name that is put together."""
    first = site.arg(0)
    folder = first.const if first is not None else None
    return folder in SHARED_PLACES and any(arg.const is UNKNOWN for arg in site.args[1:])


def _fold_call(site: CallSite) -> fold.Known:
    if site.name not in fold.FUNCTIONS or site.keywords:
        return UNKNOWN
    known = [arg.const for arg in site.args if not arg.refs]
    if len(known) < len(site.args):
        first = site.arg(0)
        items = site.items(first) if first is not None and not first.taints else None
        return len(items) if site.name == "len" and items is not None else UNKNOWN
    if any(value is UNKNOWN for value in known):
        return UNKNOWN
    return fold.function(site.name, known)  # type: ignore[arg-type]


def _collect_carried(m: Machine, site: CallSite) -> Taints:
    given = [value for place in m.book.carries[site.name] if (value := site.arg(place)) is not None]
    return reduce(merge_taints, (taints_in(m, value, site.state) for value in given), ())


def _collect_taints(m: Machine, site: CallSite) -> Taints:
    receiver = site.receiver
    taints = taints_in(m, receiver, site.state) if receiver.refs else receiver.taints
    for value in (*site.args, *site.keywords.values()):
        if value.taints or value.refs:
            taints = merge_taints(taints, taints_in(m, value, site.state))
    return taints


def _proof(m: Machine, site: CallSite, last: str, taints: Taints) -> Facts:
    found = facts.of_method(last, site.receiver, site.args)
    if found is not NO_FACTS:
        return found
    first = site.arg(0)
    if site.name in ("all", "any") and first is not None:
        return facts.of_all(first.facts) if site.name == "all" else facts.of_any(first.facts)
    edges = site.items(first) if last == "startswith" and first is not None else None
    if edges:
        return Facts(true=reduce(facts.common, [facts.of_method(last, site.receiver, [e]).true for e in edges]))
    if not taints:
        return found
    if last in ("match", "fullmatch", "search"):
        own = site.name.startswith("re.") and not site.name.startswith("re.compile()")
        pattern = site.arg(0) if own else site.setting(site.receiver, 0)
        subject = site.arg(1 if own else 0) or ANY
        if pattern is not None:
            return facts.of_pattern(pattern, last, subject, taints)
    if last == "isinstance":
        wanted = site.arg(1) or ANY
        return facts.of_kind([kind.name for kind in site.items(wanted) or [wanted]], taints)
    if site.name == "js.is_text":
        return facts.when_true(taints, "nosql")
    if site.count == 0 and last in FORM_CHECKS and (site.receiver.refs or FORM.search(site.receiver.name)):
        return NO_FACTS
    refused = facts.of_refusal(site.name, taints)
    return refused if refused is not NO_FACTS else facts.of_validator(site.name, taints)
