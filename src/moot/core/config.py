"""Settings and their precedence: flag > environment > project > user > default.

Our own instead of pydantic-settings, which does not record where each value came from.
"""

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter, ValidationError

from moot.core.deprecation import Deprecation
from moot.core.errors import ConfigError

OWN_MODEL = r"[A-Za-z0-9][A-Za-z0-9_-]*"
"""The NAME of `[models.NAME]`."""


@dataclass(frozen=True)
class Setting:
    """A key may contain `*` for names chosen by the user: `seats.*`, `lsp.*.command`."""

    key: str
    kind: Any
    """The type its value must have."""
    default: object
    about: str = ""
    deprecated: Deprecation | None = None

    @property
    def variable(self) -> str:
        return "MOOT_" + self.key.upper().replace(".", "_")


@dataclass(frozen=True)
class Layer:
    """One source of settings; earlier layers win over later ones."""

    name: str
    values: Mapping[str, object]


@dataclass(frozen=True)
class Resolved:
    key: str
    value: object
    source: str
    about: str = ""
    notice: str = ""
    """That the setting is deprecated, where a layer sets it."""


def resolve(settings: Sequence[Setting], layers: Sequence[Layer]) -> dict[str, Resolved]:
    """Every setting with its value and source. An unknown key is an error, never ignored."""
    known = {setting.key: setting for setting in settings}
    found: dict[str, Resolved] = {}
    for layer in layers:
        for key, value in layer.values.items():
            setting = _setting(key, known, layer)
            checked = _validate_value(setting, key, value, layer)
            found.setdefault(key, Resolved(key, checked, layer.name, setting.about, _notice(setting, key, layer)))
    for setting in settings:
        if "*" not in setting.key:
            found.setdefault(setting.key, Resolved(setting.key, setting.default, "default", setting.about))
    order = {key: place for place, key in enumerate(known)}
    return dict(sorted(found.items(), key=lambda item: (order[_setting_key(item[0], known)], item[0])))


def from_environment(settings: Sequence[Setting], env: Mapping[str, str]) -> Layer:
    """`MOOT_MAX_CALLS=9` sets `max_calls`, `MOOT_HARDEN_MAX_ROUNDS=2` sets `harden.max_rounds`."""
    values: dict[str, object] = {}
    for setting in settings:
        if setting.key.endswith(".*"):
            prefix = setting.variable.removesuffix("*")
            values |= {
                setting.key.removesuffix("*") + name.removeprefix(prefix).lower(): value
                for name, value in env.items()
                if name.startswith(prefix) and value
            }
        elif env.get(setting.variable):
            values[setting.key] = env[setting.variable]
    return Layer("environment", values)


def flat(table: Mapping[str, object], prefix: str = "") -> dict[str, object]:
    """Flatten a nested TOML table to dotted keys."""
    values: dict[str, object] = {}
    for key, value in table.items():
        if isinstance(value, Mapping):
            values |= flat(value, f"{prefix}{key}.")
        else:
            values[f"{prefix}{key}"] = value
    return values


def _setting_key(key: str, known: Mapping[str, Setting]) -> str:
    """The key itself or the family it belongs to; empty if unknown."""
    if key in known:
        return key
    head, _, last = key.rpartition(".")
    if f"{head}.*" in known:
        return f"{head}.*"
    inner = [family for family in known if ".*." in family and family.endswith(f".{last}")]  # names may contain dots
    return next((family for family in inner if head.startswith(family.partition("*")[0])), "")


def _setting(key: str, known: Mapping[str, Setting], layer: Layer) -> Setting:
    if found := _setting_key(key, known):
        return known[found]
    near = difflib.get_close_matches(key, [k.removesuffix(".*") for k in known], n=1, cutoff=0.0)
    raise ConfigError(f"unknown setting {key!r} {_place(layer)}; did you mean {near[0]!r}?")


def _notice(setting: Setting, key: str, layer: Layer) -> str:
    return setting.deprecated.describe(f"setting {key!r} ({layer.name})") if setting.deprecated else ""


def _validate_value(setting: Setting, key: str, value: object, layer: Layer) -> object:
    try:
        return TypeAdapter(setting.kind).validate_python(value)
    except ValidationError as error:
        raise ConfigError(f"setting {key!r} {_place(layer)} cannot be {value!r}: {_problem(error)}") from None


def _place(layer: Layer) -> str:
    return "given as an option" if layer.name == "flag" else f"in {layer.name}"


def _problem(error: ValidationError) -> str:
    """Describe the error. For a closed set of words, list them and suggest the closest one."""
    problems = error.errors(include_url=False)
    closed = [problem["ctx"]["expected"] for problem in problems if problem["type"] == "literal_error"]
    if not closed:
        return problems[0]["msg"].replace("Input should", "it must", 1)
    words = [word for choices in closed for word in re.findall(r"'([^']*)'", choices)]
    said = str(problems[0]["input"])
    near = difflib.get_close_matches(said, words, n=1, cutoff=0.0)
    return f"did you mean {near[0]!r} instead of {said!r}? Known are {', '.join(dict.fromkeys(words))}"
