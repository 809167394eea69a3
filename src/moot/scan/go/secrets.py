"""Secrets in Go source: hard-coded, marshalled in clear text, or constant nonces."""

import re
from collections.abc import Iterator

from moot.core import secret_patterns as patterns
from moot.scan.engine.ir import (
    Assign,
    Attr,
    Call,
    Compare,
    Const,
    Cut,
    Entry,
    Expr,
    Function,
    Hole,
    Item,
    Keyword,
    Lambda,
    Many,
    Name,
    Opaque,
    Return,
    Span,
    Table,
)
from moot.scan.go.program import Program, Shape, callee_word, key, root, shape, within
from moot.scan.go.rules import structure as flaw
from moot.scan.go.shapes import Shapes
from moot.scan.rule import Rule
from moot.scan.rules.secrets import has_form
from moot.scan.syntax import words
from moot.text.secrets.shapes import entropy

Found = tuple[Rule, Span]
SECRET_WORD = re.compile(patterns.CODE_WORD)
NOT_RANDOM = re.compile(patterns.NOT_RANDOM)
ADDRESS = re.compile(patterns.ADDRESS_ALONE)
MARSHALS = words(
    "encoding/json.Marshal encoding/json.MarshalIndent encoding/xml.Marshal encoding/xml.MarshalIndent "
    "gopkg.in/yaml.v2.Marshal gopkg.in/yaml.v3.Marshal github.com/goccy/go-yaml.Marshal sigs.k8s.io/yaml.Marshal "
    "go.yaml.in/yaml/v4.Marshal github.com/BurntSushi/toml.Marshal github.com/pelletier/go-toml.Marshal"
)
ENCODERS = words(
    "encoding/json.NewEncoder encoding/xml.NewEncoder gopkg.in/yaml.v2.NewEncoder gopkg.in/yaml.v3.NewEncoder "
    "github.com/BurntSushi/toml.NewEncoder github.com/pelletier/go-toml.NewEncoder go.yaml.in/yaml/v4.NewEncoder"
)
EXPOSED_FIELD = re.compile(patterns.EXPOSED_FIELD)
MAX_BUFFER = 4096
CIPHERS = {
    "crypto/cipher.NewCBCEncrypter": 1, "crypto/cipher.NewCFBEncrypter": 1, "crypto/cipher.NewCTR": 1,
    "crypto/cipher.NewOFB": 1, "crypto/cipher.NewCFB": 1,
}  # fmt: skip


def find_hardcoded(program: Program) -> Iterator[Found]:
    for node in program.nodes:
        match node:
            case Assign(targets=(target,), value=value):
                yield from _find_named_secret(node.at, _last_word(target), value)
            case Compare(op="==", left=left, right=right):
                yield from _find_named_secret(node.at, _last_word(left), right)
            case Keyword(name=name, value=value):
                yield from _find_named_secret(node.at, name, value)
            case Entry(key=Const(value=str() as name), value=value):
                yield from _find_named_secret(node.at, name, value)


def _find_named_secret(at: Span, word: str, value: Expr) -> Iterator[Found]:
    if isinstance(value, Call) and len(value.args) == 1 and key(value.func) == "[]byte":
        value = value.args[0]
    text = value.value if isinstance(value, Const) else None
    if isinstance(text, str) and (is_token(text) or (SECRET_WORD.search(word) and is_random(text))):
        yield flaw.SECRET, at


def _last_word(target: Expr) -> str:
    return target.id if isinstance(target, Name) else target.name if isinstance(target, Attr) else ""


def is_token(text: str) -> bool:
    return has_form(text) or bool(ADDRESS.search(text))


def is_random(text: str) -> bool:
    """A random-looking mix of letters and digits, not words or a path."""
    bare = re.sub(r"(?i)^bearer:?\s+", "", text)
    if len(bare) < 16 or len(bare) > 400 or NOT_RANDOM.search(bare):
        return False
    return entropy(bare) > 3.0 and any(c.isdigit() for c in bare)


def find_marshalled(program: Program) -> Iterator[Found]:
    for function in program.bodies:
        if function.name in ("MarshalJSON", "MarshalYAML", "MarshalXML", "MarshalText"):
            continue  # a custom marshaller that hides the secret marshals something too
        shapes = Shapes(program, function)
        for node in program.run_by(function):
            if isinstance(node, Assign) and isinstance(node.targets[0], Name):
                shapes.learn(node.targets[0].id, shape(program, node.annotation) or shapes.of(node.value))
            marshals = isinstance(node, Call) and node.args and _is_marshal(program, node)
            if isinstance(node, Call) and marshals and _shows_secret(program, node, shapes):
                yield flaw.EXPOSED, node.at


def _is_marshal(program: Program, node: Call) -> bool:
    if program.origin(node.func) in MARSHALS:
        return True
    func = node.func
    if not isinstance(func, Attr) or func.name != "Encode":
        return False
    maker = func.base.func if isinstance(func.base, Call) else None
    return program.origin(maker) in ENCODERS if maker is not None else False


def _format(program: Program, node: Call) -> str:
    base = node.func.base if isinstance(node.func, Attr) else None
    origin = program.origin(node.func) or program.origin(base.func if isinstance(base, Call) else None)
    return next((name for name in ("json", "xml", "yaml", "toml") if name in origin), "json")


def _find_struct(program: Program, value: Expr, shapes: Shapes) -> Shape | None:
    """The marshalled struct, also inside a slice or map literal."""
    while isinstance(value, Hole):
        value = value.value
    if isinstance(value, Many) and value.items:
        return _find_struct(program, value.items[0], shapes)
    if isinstance(value, Table) and isinstance(value.type, Opaque) and value.type.parts:
        return shape(program, value.type.parts[-1])
    found = shapes.of(value)
    return found.holds if found is not None and found.word in ("list", "map") else found


def _shows_secret(program: Program, call: Call, shapes: Shapes) -> bool:
    found, form = _find_struct(program, call.args[0], shapes), _format(program, call)
    if found is None or _hides(program, found.word):
        return False
    for name, note, made in program.fields(found.word):
        tag = made.parts[0].value if made.parts and isinstance(made.parts[0], Const) else ""
        match = re.search(rf'{form}:"([^",]*)([^"]*)"', tag) if isinstance(tag, str) else None
        if match is not None and match[1] == "-" and not match[2]:
            continue
        shown = match[1] if match is not None and match[1] else name
        telling = any(EXPOSED_FIELD.search(word) for word in (shown, name))
        if telling and name[:1].isupper() and _is_text(program, note):
            return True
    return False


def _hides(program: Program, owner: str) -> bool:
    kind = program.types.get(owner)
    names = {getattr(getattr(stmt, "function", None), "name", "") for stmt in kind.body} if kind is not None else set()
    return bool(names & {"MarshalJSON", "MarshalYAML", "MarshalXML", "MarshalText"})


def _is_text(program: Program, note: Expr | None) -> bool:
    found = shape(program, note)
    while found is not None and found.word == "list" and found.holds is not None:
        found = found.holds
    return found is not None and found.word in ("string", "uint8", "interface", "interface_type")


def static_nonces(program: Program) -> Iterator[Found]:
    for function in program.bodies:
        for node in program.run_by(function):
            if not isinstance(node, Call):
                continue
            nonce = _nonce(program, node)
            if nonce is not None and _is_fixed(program, function, nonce, node.at[0]):
                yield flaw.STATIC_IV, node.at


def _nonce(program: Program, node: Call) -> Expr | None:
    place = CIPHERS.get(program.origin(node.func))
    if (
        place is None
        and callee_word(node) == "Seal"
        and len(node.args) == 4
        and "crypto/cipher" in program.imports.values()
    ):
        place = 1
    return node.args[place] if place is not None and place < len(node.args) else None


def _is_fixed(program: Program, function: Function, value: Expr, before: int, depth: int = 0) -> bool:
    """Whether every byte is constant."""
    if depth > 6:
        return False
    match value:
        case Const():
            return True
        case Call(func=Name(id="[]byte"), args=(inner,)):
            return isinstance(inner, Const) or _is_fixed(program, function, inner, before, depth + 1)
        case Many(items=items):
            return all(isinstance(item, Const) for item in items)
        case Cut(base=base):
            part = _bounds(value, None)
            whole = isinstance(base, Name) and part is not None and _is_written(function, base.id, part, before)
            return not whole and _is_fixed(program, function, base, before, depth + 1)
        case Hole(value=base):
            return _is_fixed(program, function, base, before, depth + 1)
        case Call(func=Lambda(function=made)):
            returned = [n.value for n in within(made.body) if isinstance(n, Return) and n.value is not None]
            return bool(returned) and all(_is_fixed(program, made, r, r.at[0], depth + 1) for r in returned)
        case Call(func=Name(id=name)) if name in program.functions:
            made = program.functions[name]
            returned = [n.value for n in within(made.body) if isinstance(n, Return) and n.value is not None]
            return bool(returned) and all(_is_fixed(program, made, r, r.at[0], depth + 1) for r in returned)
        case Name(id=name):
            return _is_fixed_name(program, function, name, before, depth)
    return False


def _is_fixed_name(program: Program, function: Function, name: str, before: int, depth: int) -> bool:
    param = next((i for i, param in enumerate(function.params) if param.name == name), None)
    if param is not None:
        given = [(f, n) for f in program.bodies for n in program.run_by(f)
                 if isinstance(n, Call) and callee_word(n) == function.name and len(n.args) > param]  # fmt: skip
        return bool(given) and all(_is_fixed(program, f, n.args[param], n.at[0], depth + 1) for f, n in given)
    made = [
        n for n in program.run_by(function) if isinstance(n, Assign) and key(n.targets[0]) == name and n.at[0] < before
    ]
    made = [n for n in made if not (isinstance(n.value, Call) and _is_filling(n.value))]
    if not made:
        stmt = program.variables.get(name)
        return (
            stmt is not None
            and name not in program.changed
            and _is_fixed(program, function, stmt.value, before, depth + 1)
        )
    last = made[-1].value
    if isinstance(last, Call) and callee_word(last) == "make":
        return not _is_filled(function, name, last, before)
    if isinstance(last, Cut) and _is_filled(function, name, last, before):
        return False
    return _is_fixed(program, function, last, before, depth + 1)


def _is_written(function: Function, name: str, part: set[int], before: int) -> bool:
    made = next((n.value for n in within(function.body) if isinstance(n, Assign) and key(n.targets[0]) == name), None)
    if not isinstance(made, Call) or callee_word(made) != "make":
        return False
    everything, fresh = _fresh(function, name, made, before)
    return everything or part <= fresh


def _is_filling(call: Call) -> bool:
    return callee_word(call) in ("Read", "ReadFull", "copy", "ReadAtLeast", "PutUint64", "PutUint32")


def _is_filled(function: Function, name: str, made: Call | Cut, before: int) -> bool:
    size = _size(made)
    everything, fresh = _fresh(function, name, made, before)
    return everything or (isinstance(size, int) and size <= MAX_BUFFER and set(range(size)) <= fresh)


def _size(made: Call | Cut) -> object:
    """The length of a new buffer, if it is written out."""
    args = made.args if isinstance(made, Call) else ()
    return args[1].value if len(args) > 1 and isinstance(args[1], Const) else None


def _fresh(function: Function, name: str, made: Call | Cut, before: int) -> tuple[bool, set[int]]:
    """Whether a call fills the whole new buffer, and which bytes were filled and stayed so."""
    size = _size(made)
    fresh: set[int] = set()
    everything = False
    for node in sorted((n for n in within(function.body) if isinstance(n, Call | Assign)), key=lambda n: n.at[0]):
        if not made.at[0] < node.at[0] < before:
            continue
        if isinstance(node, Call):
            for arg in node.args:
                if root(arg.base if isinstance(arg, Cut) else arg) == name and callee_word(node) not in ("len", "cap"):
                    span = _bounds(arg, size)
                    everything = everything or span is None
                    fresh |= span or set()
        elif isinstance(node.targets[0], Item) and key(node.targets[0].base) == name:
            place = node.targets[0].key
            if isinstance(place, Const) and isinstance(place.value, int):
                fresh.discard(place.value)
            else:
                everything, fresh = False, set()
    return everything, fresh


def _bounds(arg: Expr, size: object) -> set[int] | None:
    """The slice bounds passed to a call; None for the whole buffer."""
    if not isinstance(arg, Cut) or (arg.low is None and arg.high is None):
        return set(range(size)) if isinstance(size, int) and size <= MAX_BUFFER else None
    low = arg.low.value if isinstance(arg.low, Const) else 0 if arg.low is None else None
    high = arg.high.value if isinstance(arg.high, Const) else size if arg.high is None else None
    if not isinstance(low, int) or not isinstance(high, int) or high > MAX_BUFFER:
        return None
    return set(range(low, high))
