"""The files of Moot that are placed beside code and tests to run them."""

import importlib.util
import json
import marshal
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path, PurePosixPath

from moot.edge.sandbox.layout import RUN, WORK, Layout

INSIDE = Path(__file__).parent / "inside"


def run_files(layout: Layout, runner: str, spec: Mapping[str, object]) -> dict[str, str]:
    return {
        **{f"{WORK}/{path}": text for path, text in layout.files.items()},
        f"{RUN}/{runner}": own_text(runner),
        f"{RUN}/spec.json": json.dumps(spec),
    }


@cache
def own_text(name: str) -> str:
    return (INSIDE / name).read_text("utf-8")


def as_text(data: bytes) -> str:
    """Bytes among texts; `pack` turns them back."""
    return data.decode("utf-8", "surrogateescape")


@cache
def runner_parts(names: tuple[str, ...]) -> dict[str, str]:
    """The files that a Python runner imports, under their own names."""
    package = PurePosixPath(RUN, *__name__.split(".")[:-1], INSIDE.name)
    empty = {f"{folder}/__init__.py": "" for folder in (package, *package.parents[:-2])}
    parts = {f"{package}/{part}": own_text(part) for part in names}
    return empty | parts | {f"{package}/__pycache__/{name}": as_text(data) for name, data in _compile(names).items()}


@cache
def _compile(names: tuple[str, ...]) -> Mapping[str, bytes]:
    """The runner's parts as unchecked bytecode. Another version ignores them."""
    header = importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little") + bytes(8)
    tag = sys.implementation.cache_tag
    return {
        f"{part.removesuffix('.py')}.{tag}.pyc": header
        + marshal.dumps(compile(own_text(part), part, "exec", dont_inherit=True))
        for part in names
    }
