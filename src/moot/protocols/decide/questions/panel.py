"""Judges as data: the shipped ones and the format of your own."""

import re
import tomllib
from functools import lru_cache
from importlib.resources import files

from pydantic import ValidationError

from moot.core.errors import ConfigError
from moot.protocols.decide.questions.values import Judge

NAME = re.compile(r"[a-z][a-z0-9_-]{0,30}")
KEYS = tuple(name for name in Judge.model_fields if name != "name")
NEEDED = tuple(name for name, field in Judge.model_fields.items() if name != "name" and field.is_required())


@lru_cache(maxsize=1)
def load_shipped_judges() -> dict[str, Judge]:
    folder = files("moot.protocols.decide.questions").joinpath("judges")
    found = sorted(
        (file.name, file.read_text(encoding="utf-8")) for file in folder.iterdir() if file.name.endswith(".toml")
    )
    return {name.removesuffix(".toml"): read_judge(name.removesuffix(".toml"), text, name) for name, text in found}


def read_judge(name: str, text: str, place: str) -> Judge:
    """The file's name is the judge's."""
    if not NAME.fullmatch(name):
        raise ConfigError(
            f"judge file {place!r}: its name must consist of lowercase letters, digits, - and _, e.g. legal.toml"
        )
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"judge file {place!r} is not valid TOML: {error}") from None
    if unknown := [key for key in table if key not in KEYS]:
        raise ConfigError(f"judge file {place!r} has the unknown key {unknown[0]!r}; known are {', '.join(KEYS)}")
    if missing := [key for key in NEEDED if not str(table.get(key, "")).strip()]:
        raise ConfigError(f"judge file {place!r} lacks {missing[0]!r}; a judge needs {', '.join(NEEDED)}")
    try:
        return Judge.model_validate({"name": name, **table})
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        raise ConfigError(f"judge file {place!r}: {problem['loc'][0]!r} cannot be used: {problem['msg']}") from None
