"""Declared types of untrusted values: what an annotation or a model field accepts."""

import re

from moot.scan.engine import facts
from moot.scan.engine.ir import Assign, Attr, Binary, Call, Const, Expr, Name, Opaque, Span, Unary
from moot.scan.engine.machine import Closure, Kind, Machine
from moot.scan.engine.state import HeapCell, State
from moot.scan.engine.values import ANY, Key, Val, ending, part_of
from moot.scan.syntax import words

HARMLESS = words(
    "int float bool complex UUID UUID1 UUID3 UUID4 UUID5 date datetime time timedelta Decimal PositiveInt NegativeInt "
    "NonNegativeInt PositiveFloat NonNegativeFloat StrictInt StrictBool StrictFloat conint confloat condecimal Literal "
    "Enum IntEnum StrEnum"
)
WRAPPERS = words("Optional Annotated Union List Sequence Set list set tuple Tuple")
MODELS = ("BaseModel", "SQLModel", "BaseSettings")
ENUMS = ("Enum", "IntEnum", "StrEnum", "TextChoices")
MAX_DEPTH = 6
TEXT = frozenset({"nosql"})


def is_harmless(m: Machine, note: Expr | None, default: Expr | None, state: State, depth: int = 0) -> bool:
    """Whether the type accepts only numbers, enumerated words, or text of a strict pattern."""
    if default is not None and _has_pattern(default):
        return True
    if note is None or depth > MAX_DEPTH:
        return False
    match note:
        case Const(value=str(text)):
            return text in HARMLESS
        case Name() | Attr():
            return _last(note) in HARMLESS or _is_a(m, m.thing(m.eval(note, state)), ENUMS)
        case Call():
            return _last(note.func) in HARMLESS or _has_pattern(note)
        case Binary(op="|", left=left, right=right):
            return all(_is_none(part) or is_harmless(m, part, None, state, depth + 1) for part in (left, right))
        case Opaque(parts=(base, Opaque(parts=(_, *_) as parts))):
            if _last(base) == "Annotated":
                return is_harmless(m, parts[0], None, state, depth + 1) or any(_has_pattern(part) for part in parts[1:])
            inner = [part for part in parts if not _is_none(part)]
            wraps = _last(base) in WRAPPERS
            return _last(base) in HARMLESS or (wraps and all(is_harmless(m, p, None, state, depth + 1) for p in inner))
    return False


def _last(func: Expr) -> str:
    return func.id if isinstance(func, Name) else func.name if isinstance(func, Attr) else ""


def _has_pattern(value: Expr) -> bool:
    """`Field(pattern=r"^[a-z]+$")`"""
    if not isinstance(value, Call):
        return False
    given = [word.value for word in value.keywords if word.name in ("pattern", "regex")]
    texts = [note.value for note in given if isinstance(note, Const)]
    return any(isinstance(text, str) and facts.is_strict(text, whole=False) for text in texts)


def _is_none(value: Expr) -> bool:
    return isinstance(value, Const) and value.value is None


def _is_a(m: Machine, thing: object, names: tuple[str, ...], depth: int = 0) -> bool:
    if not isinstance(thing, Kind) or depth > MAX_DEPTH:
        return False
    return any(base.name.endswith(names) or _is_a(m, m.thing(base), names, depth + 1) for base in thing.bases)


def build_model(m: Machine, note: Expr | None, value: Val, state: State, at: Span) -> Val | None:
    """A model instance filled by a framework from a request; None if the annotation names no model."""
    kind = m.thing(m.eval(note, state)) if isinstance(note, Name | Attr) else None
    if not isinstance(kind, Kind) or not _is_a(m, kind, MODELS):
        return None
    items: dict[Key, Val] = {"__class__": m.keep(kind)}
    for owner in _line(m, kind):
        for stmt in owner.node.body:
            if isinstance(stmt, Assign) and isinstance(stmt.targets[0], Name) and stmt.targets[0].id not in items:
                name = stmt.targets[0].id
                safe = is_harmless(m, stmt.annotation, stmt.value, state)
                part = part_of(value.taints, name)
                # A text is no object of conditions.
                part = ending(part, TEXT) if _is_text(stmt.annotation) else part
                items[name] = ANY if safe else Val(part, name=name)
    return m.allocate(state, HeapCell("instance", items))


def build_struct(m: Machine, note: Expr | None, value: Val, state: State, at: Span) -> Val | None:
    """A struct of Go that a caller fills: its own methods are followed. None for other types."""
    while isinstance(note, Unary):
        note = note.value
    kind = m.thing(m.eval(note, state)) if isinstance(note, Name) else None
    if not isinstance(kind, Kind) or not any(isinstance(m.thing(held), Closure) for held in kind.members.values()):
        return None
    items: dict[Key, Val] = {"__class__": m.keep(kind)}
    for stmt in kind.node.body:
        if isinstance(stmt, Assign) and isinstance(stmt.targets[0], Name) and not isinstance(stmt.value, Attr | Name):
            name = stmt.targets[0].id
            items[name] = ANY if _is_number(stmt.annotation) else Val(part_of(value.taints, name), name=f"?.{name}")
        elif isinstance(stmt, Assign) and isinstance(stmt.targets[0], Name) and _is_unknown(stmt.value):
            name = stmt.targets[0].id
            items[name] = Val(part_of(value.taints, name), name=f"?.{name}")
    return m.allocate(state, HeapCell("instance", items, value))


def _is_number(note: Expr | None) -> bool:
    return isinstance(note, Name) and NUMERIC.fullmatch(note.id) is not None


def _is_unknown(value: Expr) -> bool:
    return isinstance(value, Attr) and isinstance(value.base, Opaque)


NUMERIC = re.compile(r"bool|byte|rune|u?int(?:8|16|32|64|ptr)?|float(?:32|64)|complex(?:64|128)")


def _is_text(note: Expr | None) -> bool:
    return isinstance(note, Name) and note.id in ("str", "EmailStr", "SecretStr", "constr")


def _line(m: Machine, kind: Kind) -> list[Kind]:
    """The model and its base classes."""
    found = [kind]
    for owner in found:
        found.extend(thing for base in owner.bases if isinstance(thing := m.thing(base), Kind) and thing not in found)
    return found[:MAX_DEPTH]
