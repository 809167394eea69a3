"""Runs JavaScript and TypeScript tests: the tests in one sandbox, the code they test in another."""

import json
import math
import re
import secrets
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path, PurePosixPath

from moot.core.types import SuiteRun
from moot.edge.sandbox.layout import RUN, SYSTEM_PATH, WORK, Layout, safe_path
from moot.edge.sandbox.report import read_signed
from moot.edge.sandbox.suite import Suite

HERE = Path(__file__).parent
NO_NODE = "no Node.js on PATH"
SCRIPT = re.compile(r"\.[cm]?[jt]s$")
NODE_TEST = re.compile(r"((^|/)tests?/.*|(^|/)test(-[^/]*)?|[^/]*[._-]test)\.[cm]?[jt]s$")
MODULE_SYNTAX = re.compile(r"^\s*(import\s[^(]|export\s)", re.MULTILINE)
NATIVE = re.compile(r"\.(node|wasm)$")
WIRE = ("in_node_wire.cjs", "in_node_read.cjs")
JUDGE = (
    *("in_node.cjs", "in_node_events.cjs", "in_node_link.cjs", "in_node_marks.cjs", "in_node_methods.cjs"),
    *("in_node_near.cjs", "in_node_report.mjs", "in_node_shared.cjs", "in_node_sink.cjs", "in_node_stubs.cjs"),
    *("in_node_test.cjs", *WIRE),
)
FAR = ("in_node_far.cjs", *WIRE)
INSIDE = ("in_node_events.cjs", "in_node_inside.mjs", "in_node_report.mjs", "in_node_sink.cjs")
REPORTER = (f"--test-reporter=../{RUN}/in_node_report.mjs", "--test-reporter-destination=stdout")
# A process of the code that ended is replaced. One without a heartbeat is killed: it hangs.
SERVE = (
    f"cd ../{WORK}; n=0; while [ $n -lt 200 ]; do n=$((n+1)); "
    f'"$1" ../{RUN}/in_node_far.cjs & p=$!; '
    f"( m=0; while sleep 1 && kill -0 $p; do if [ -e ../{RUN}/beat ]; then rm -f ../{RUN}/beat; m=0; "
    'else m=$((m+1)); [ $m -le "$2" ] || kill -9 $p; fi; done ) 2>/dev/null & w=$!; '
    "wait $p; kill $w 2>/dev/null; done"
)
EACH = f'program=$1; shift; for file; do "$program" {" ".join(REPORTER)} ../{RUN}/in_node_inside.mjs "$file"; done'


@dataclass(frozen=True)
class NodeRun:
    seconds: float
    """For one test."""
    typed: bool
    modules: str
    """The project's folder of packages, or nothing."""


@dataclass(frozen=True)
class _Plan:
    layout: Layout
    program: str
    run: NodeRun

    @property
    def given(self) -> list[str]:
        """The scripts that came with the tests: the tests and their own imports."""
        return [path for path in self.layout.tests if SCRIPT.search(path)]

    @property
    def tests(self) -> list[str]:
        return [path for path in self.given if NODE_TEST.search(path)] or self.given

    @property
    def code(self) -> dict[str, str]:
        return {path: text for path, text in self.layout.files.items() if path not in self.layout.tests}

    def suite(self, files: Mapping[str, str], parts: Sequence[str], command: Sequence[str]) -> Suite:
        laid = {f"{WORK}/{path}": text for path, text in files.items()}
        if uses_modules(self.layout):
            laid[f"{WORK}/package.json"] = '{"type": "module"}'
        return Suite(
            files={**laid, **{f"{RUN}/{part}": own_text(part) for part in parts}},
            command=tuple(command),
            read=partial(read_signed, key=""),
            env={"PATH": search_path(self.program)},
            tools=(Path(self.program),),
            beside=node_modules(self.run.modules),
            reserves_memory=True,
        )


def node_suite(layout: Layout, run: NodeRun, *, apart: bool = True) -> Suite | SuiteRun:
    """`apart`: the code in its own sandbox."""
    node = shutil.which("node")
    if node is None:
        return SuiteRun(problem=NO_NODE)
    plan = _Plan(layout, str(Path(node).resolve()), run)
    return _apart(plan) if apart else _together(plan, None)


def _apart(plan: _Plan) -> Suite:
    scripts = [path for path in plan.code if SCRIPT.search(path) and not _is_hidden(path, plan.layout)]
    data = {
        path: _harmless(text, plan.run.modules) if PurePosixPath(path).name == "package.json" else text
        for path, text in plan.code.items()
        if not SCRIPT.search(path) and not NATIVE.search(path) and not _is_hidden(path, plan.layout)
    }
    own = {path: plan.layout.files[path] for path in plan.layout.tests}
    command = (plan.program, *REPORTER, f"../{RUN}/in_node.cjs")
    spec = {"given": plan.given, "code": scripts, "seconds": plan.run.seconds}
    judge = _with_spec(plan.suite({**data, **own}, JUDGE, command), plan, plan.tests, spec)
    kinds = {path: _harmless(text, "") for path, text in own.items() if PurePosixPath(path).name == "package.json"}
    serve = ("/bin/sh", "-c", SERVE, "serve", plan.program, str(math.ceil(plan.run.seconds) + 1))
    worker = plan.suite({**plan.code, **kinds}, FAR, serve)
    return replace(judge, worker=worker if scripts else None, together=partial(_together, plan))


def _together(plan: _Plan, names: Sequence[str] | None) -> Suite:
    """The files of these tests in one process with the code; the signer of their results is outside of their sandbox.
    None: all files, in the only sandbox there is."""
    wanted = {name.partition("::")[0] for name in names or ()}
    tests = [path for path in plan.tests if names is None or path in wanted]
    command = ("/bin/sh", "-c", EACH, "each", plan.program, *tests)
    inside = plan.suite(plan.layout.files, INSIDE, command)
    signer = plan.suite({}, ("in_node_sign.mjs",), (plan.program, f"../{RUN}/in_node_sign.mjs"))
    signer = _with_spec(signer, plan, tests, {"command": command})
    if names is None:
        return replace(signer, files={**inside.files, **signer.files})
    return replace(signer, worker=inside)


def _with_spec(suite: Suite, plan: _Plan, tests: Sequence[str], more: Mapping[str, object]) -> Suite:
    key = secrets.token_hex(32)
    spec = {"key": key, "tests": tests, "typescript": plan.run.typed, **more}
    return replace(
        suite, files={**suite.files, f"{RUN}/spec.json": json.dumps(spec)}, read=partial(read_signed, key=key)
    )


def _is_hidden(path: str, layout: Layout) -> bool:
    """Whether a file of the code would shadow what the tests mean: a package, or a helper of theirs."""
    if "node_modules" in PurePosixPath(path).parts:
        return True
    own = [PurePosixPath(each) for each in layout.tests]
    stems = {each.with_suffix("") for each in own} | {each.parent for each in own if each.stem == "index"}
    here = PurePosixPath(path)
    has_index = any(each.stem == "index" and each.parent == here.parent for each in own)
    return here.with_suffix("") in stems or (here.name == "package.json" and has_index)


def _harmless(text: str, modules: str) -> str:
    """What a package.json of the code may tell the tests: not that it is an installed package."""
    try:
        found = json.loads(text)
    except ValueError:
        return text
    if not isinstance(found, dict):
        return text
    name = str(found.get("name", ""))
    is_installed = bool(modules) and (Path(modules) / safe_path(name)).exists()
    kept = ("type",) if is_installed else ("type", "name", "main", "exports", "imports")
    return json.dumps({key: found[key] for key in kept if key in found})


def node_modules(folder: str) -> dict[str, Path]:
    """Above the work folder, where Node.js looks last."""
    return {"node_modules": Path(folder)} if folder else {}


def uses_modules(layout: Layout) -> bool:
    """Whether `.js` files here are ES modules, as the project's package.json would say."""
    scripts = [text for path, text in layout.files.items() if path.endswith((".js", ".ts"))]
    return "package.json" not in layout.files and any(MODULE_SYNTAX.search(text) for text in scripts)


@cache
def own_text(name: str) -> str:
    return (HERE / name).read_text("utf-8")


def search_path(program: str) -> str:
    return ":".join(dict.fromkeys((str(Path(program).parent), *SYSTEM_PATH)))
