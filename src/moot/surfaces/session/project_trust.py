"""Layers of settings: a project's file counts fully if trusted, else only its harmless keys."""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from moot.core.config import Layer, Resolved, Setting, flat, from_environment, resolve
from moot.core.trust import is_harmless
from moot.edge.models import is_hosted
from moot.edge.settings import project_file, user_layers
from moot.edge.settings.trust_file import ProjectFile, is_trusted, read_project_file
from moot.text.controls import clean

SAID: set[str] = set()
"""Warnings already printed: a command may load its settings more than once."""


class Layers(NamedTuple):
    layers: list[Layer]
    ignored: frozenset[str]
    """Keys of the project's file that are ignored for lack of trust."""


def read_layers(known: Sequence[Setting], flags: Mapping[str, object], start: Path | None) -> Layers:
    """Flags, environment, project, user. Without `start` the project is left out."""
    given = Layer("flag", {key: value for key, value in flags.items() if value is not None and value != ()})
    env, user = from_environment(known, os.environ), user_layers()
    path = project_file(start) if start else None
    if start is None or path is None:
        return Layers([given, env, *user], frozenset())
    found = read_project_file(path, start)
    project = Layer(str(path), flat(found.table))
    if is_trusted(found, os.environ):
        return Layers([given, env, project, *user], frozenset())
    risky = find_risky(known, project, resolve(known, [env, *user]))
    kept = Layer(project.name, {key: value for key, value in project.values.items() if key not in risky})
    decided = {*given.values, *env.values}
    if wanted := [key for key in risky if key not in decided]:
        say_once(format_untrusted(path, wanted))
    return Layers([given, env, kept, *user], frozenset(risky))


def find_risky(known: Sequence[Setting], project: Layer, own: Mapping[str, Resolved]) -> list[str]:
    """Keys of a project's file that need trust. Unknown or invalid keys raise as everywhere."""
    read = resolve(known, [project])
    return [key for key in project.values if not is_harmless(key, read[key].value, own, is_hosted)]


def risky_settings(known: Sequence[Setting], found: ProjectFile) -> dict[str, object]:
    """What a person must see before trusting the file."""
    project = Layer(str(found.path), flat(found.table))
    own = resolve(known, [from_environment(known, os.environ), *user_layers()])
    return {key: project.values[key] for key in find_risky(known, project, own)}


def format_untrusted(path: Path, keys: Sequence[str]) -> str:
    return f"{path} is not trusted; ignored: {', '.join(keys)} (`moot trust` shows them and asks you)"


def say_once(line: str) -> None:
    if line not in SAID:
        SAID.add(line)
        sys.stderr.write(f"moot: {clean(line)}\n")
