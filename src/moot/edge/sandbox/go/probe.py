"""Puts calls to Go: arguments and results cross as data, because a call with a wrong type must not stop the others."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path, PurePosixPath

from moot.core.types import Code, Probing, Tests
from moot.edge.sandbox.go.layout import with_modules
from moot.edge.sandbox.go.suite import go_texts, plan_go
from moot.edge.sandbox.go.toolchain import CACHE, MISSING, find_go, warm_packages
from moot.edge.sandbox.layout import RUN, Layout, lay_out
from moot.edge.sandbox.python.project import ProjectEnvironment
from moot.edge.sandbox.suite import Suite
from moot.evidence.trials.notations import notation_of
from moot.evidence.trials.notations.go import Nil
from moot.evidence.trials.notations.notation import CallParts

HERE = Path(__file__).parent
PACKAGE = re.compile(r"^package\s+(\w+)", re.MULTILINE)
FILE = "moot_probe_test.go"
SCRIPT = (
    CACHE
    + f'export MOOT_SPEC="$box/{RUN}/spec.json" && '
    + '"$0" test -c -o "$box/probe" "./$3" >&2 && cd "$3" && exec "$box/probe" -test.run="^TestMootProbe$" >&2'
)


async def plan_go_probe(
    code: Code, calls: Sequence[str], seconds: float, project: ProjectEnvironment
) -> Suite | Probing:
    go = find_go()
    if go is None:
        return Probing(problem=MISSING)
    parts = [parts for call in calls if (parts := notation_of("go").read_call(call))]
    if len(parts) < len(calls):
        wrong = next(call for call in calls if notation_of("go").read_call(call) is None)
        return Probing(problem=f"not a call with literals: {wrong!r}")
    layout = lay_out(code, Tests(files=()))
    folder = str(PurePosixPath(next(iter(layout.files), ".")).parent)
    laid = _with_probe(layout, folder, {each.name for each in parts})
    if isinstance(laid, Probing):
        return laid
    suite = plan_go(laid, go, await warm_packages(go, go_texts(laid), race=False), SCRIPT, (folder,))
    spec = {"calls": [_as_data(each) for each in parts], "seconds": seconds}
    suite = replace(suite, files={**suite.files, f"{RUN}/spec.json": json.dumps(spec)})
    return with_modules(suite, laid, project)


def _with_probe(layout: Layout, folder: str, names: set[str]) -> Layout | Probing:
    """The probe beside the code, in its package. A `package main` is renamed, because it may lack its main function."""
    files = {path: text for path, text in layout.files.items() if not path.endswith("_test.go")}
    own = [path for path in files if path.endswith(".go") and str(PurePosixPath(path).parent) == folder]
    found = PACKAGE.search(files[own[0]]) if own else None
    if found is None:
        return Probing(problem="the code has no package clause")
    package = "solution" if found[1] == "main" else found[1]
    heads = [head for path in own for head in notation_of("go").list_functions(files[path]) if head.name in names]
    if generic := [head.name for head in heads if head.generic]:
        return Probing(problem=f"{generic[0]} has type parameters, so that calls cannot be put to it")
    functions = ", ".join(f'"{head.name}": {head.name}' for head in heads)
    files |= {path: PACKAGE.sub(f"package {package}", files[path], count=1) for path in own}
    probe = _source().replace("@PACKAGE@", package).replace("@FUNCTIONS@", functions)
    return replace(layout, files={**files, str(PurePosixPath(folder) / FILE): probe})


def _as_data(parts: CallParts) -> dict[str, object]:
    return {"name": parts.name, "args": [_plain(value) for value in parts.values]}


def _plain(value: object) -> object:
    """A map's keys need not be texts, so it crosses as pairs."""
    match value:
        case Nil():
            return None
        case dict():
            return {"@map": [[_plain(key), _plain(each)] for key, each in value.items()]}
        case list():
            return [_plain(each) for each in value]
    return value


@cache
def _source() -> str:
    return (HERE / "probe.go.txt").read_text("utf-8")
