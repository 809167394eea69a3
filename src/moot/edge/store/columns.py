"""Column types, and an encoding for values that a database would change or refuse.

PostgreSQL refuses NUL characters in text and in JSONB, no encoding has lone surrogates, and JSONB takes neither `NaN`
nor `-0.0` nor the difference between `1e16` and an integer. Models reply with all of them, and a journal that returns
anything else than it was given cannot be replayed. So each such character is written as a mark and its four hexadecimal
digits, each such number as a text with that mark, and the mark itself is escaped likewise. SQLite stores a value that
looks like a number as a number, and returns 2.0 as 2.
"""

import json
import math
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy import Dialect, TypeDecorator
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.types import TypeEngine

MARK = "\ufdd0"  # a noncharacter, reserved by Unicode for internal use
UNFIT = re.compile(f"[\0\ud800-\udfff{MARK}]")
MARKED = re.compile(f"{MARK}([0-9a-f]{{4}})")
NUMBER, WHOLE = f"{MARK}f:", f"{MARK}i:"
UNFIT_ESCAPE = re.compile(r"\\u(?:0000|d[89a-f]|fdd0)")
UNFIT_NUMBERS = (("N", "NaN"), ("I", "Infinity"), ("+", "e+"), ("-", "-0.0"))
"""Each behind a letter of it, which can be searched for fifty times faster."""
WRITE = json.JSONEncoder(check_circular=False).encode
"""`json.dumps` for values that were read from JSON or built as such, so that none holds itself."""
LARGEST = 1e16
"""From here on Python writes a float with an exponent, which JSONB turns into an integer's digits."""


def fit(text: str) -> str:
    if text.isascii() and "\0" not in text:  # the usual case, and quick to check
        return text
    return UNFIT.sub(lambda found: f"{MARK}{ord(found[0]):04x}", text)


def fit_text(text: str | None) -> str | None:
    return None if text is None else fit(text)


def are_fit(texts: Iterable[str | None]) -> bool:
    """Whether none of them has to be escaped; of texts with other letters than ASCII this is not known."""
    joined = "".join(filter(None, texts))
    return joined.isascii() and "\0" not in joined


def original(text: str) -> str:
    return MARKED.sub(lambda found: chr(int(found[1], 16)), text) if MARK in text else text


class WrittenJson(NamedTuple):
    value: Any
    text: str


def encode_value(value: Any) -> WrittenJson:
    return WrittenJson(value, WRITE(value))


def to_json(given: Any) -> str:
    value, text = given if type(given) is WrittenJson else encode_value(given)
    if type(value) in (int, float):
        return json.dumps(f"{WHOLE if type(value) is int else NUMBER}{value!r}")
    return json.dumps(_fit_json(value)) if _perhaps_unfit(text) else text


def _perhaps_unfit(text: str) -> bool:
    for letter, sign in UNFIT_NUMBERS:
        if letter in text and sign in text:
            return True
    return "\\" in text and "\\u" in text and UNFIT_ESCAPE.search(text) is not None


def from_json(given: str | bytes) -> Any:
    text = given.decode() if isinstance(given, bytes) else given
    value = json.loads(text)
    return _original_json(value) if MARK in text or f"\\u{ord(MARK):04x}" in text else value


def _fit_json(value: Any) -> Any:
    if isinstance(value, str):
        return fit(value)
    if isinstance(value, float):
        unfit = not math.isfinite(value) or abs(value) >= LARGEST or (value == 0 and math.copysign(1, value) < 0)
        return f"{NUMBER}{value!r}" if unfit else value
    if isinstance(value, dict):
        return {fit(key) if isinstance(key, str) else key: _fit_json(held) for key, held in value.items()}
    return [_fit_json(held) for held in value] if isinstance(value, list | tuple) else value


def _original_json(value: Any) -> Any:
    if isinstance(value, str):
        if value.startswith(WHOLE):
            return int(value.removeprefix(WHOLE))
        return float(value.removeprefix(NUMBER)) if value.startswith(NUMBER) else original(value)
    if isinstance(value, dict):
        return {original(key): _original_json(held) for key, held in value.items()}
    return [_original_json(held) for held in value] if isinstance(value, list) else value


class String(TypeDecorator[str]):
    """A short text. Only SQLite is told the length, as a hint: PostgreSQL would refuse a longer one."""

    impl = sa.String
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return sa.Text() if dialect.name == "postgresql" else self.impl_instance

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return fit_text(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else original(value)


def Plain(length: int) -> TypeEngine[str]:
    """A short text made by Moot, in characters that every database takes unchanged."""
    return sa.String(length).with_variant(sa.Text(), "postgresql")


class TextColumn(String):
    impl = sa.Text
    cache_ok = True


class Moment(TypeDecorator[datetime]):
    """A time with its zone; SQLite drops the zone, so it is stored as UTC there."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None or dialect.name != "sqlite":
            return value
        return value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


JSON = sa.JSON().with_variant(JSONB(), "postgresql")
MaybeJSON = sa.JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")
ExactJSON = sa.JSON()
"""The text as written, on PostgreSQL too: JSONB sorts the keys of an object, and a replay would see that."""
