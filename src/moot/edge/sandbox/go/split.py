"""Separates Go tests from the code they test: one sandbox reads both, one runs the tests, one runs the code."""

import json
import re
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath

from pydantic import ValidationError

from moot.core.types import SuiteRun, Value
from moot.edge.sandbox.go.kit import GoKit, open_kit, with_link
from moot.edge.sandbox.go.layout import go_flags, module_folder, with_modules
from moot.edge.sandbox.go.toolchain import CACHE, Toolchain, environment, module_file
from moot.edge.sandbox.layout import RUN, SYSTEM_PATH, WORK, Layout
from moot.edge.sandbox.process import ProcessEnd
from moot.edge.sandbox.python.project import ProjectEnvironment
from moot.edge.sandbox.report import Done, Finished, NeedsObjects, SuiteReport, read_go
from moot.edge.sandbox.suite import Suite

GO_TEST = re.compile(r"^func (Test(?![a-z])\w*)\(\w+ \*testing\.T\)", re.MULTILINE)
JUDGE = (
    CACHE + f'mkdir -p "$box/{RUN}" && export MOOT_WORK="$box/{WORK}" MOOT_TURN="$box/{RUN}/turn" && shift 2 && '
    'exec "$0" test -json "$@" >&3'
)
WORKER = CACHE + f'mkdir -p "$box/bin" && export MOOT_GO="$0" && cd "$box/{WORK}" && exec "$3" work'
# The process that runs the code prints Go's results. The key that signs their end is deleted before it starts.
TOGETHER = (
    CACHE + f'mkdir -p "$box/{RUN}" && export MOOT_END="$box/{RUN}/end" && '
    f'printf \'#!/bin/sh\\nrm -f moot_end_test.go\\nexec "$@"\\n\' > "$box/{RUN}/start" && '
    f'chmod +x "$box/{RUN}/start" && "$0" test -json -run="$3" -exec="$box/{RUN}/start" ./... >&3 3>&-; status=$?; '
    'printf "\\n" >&3; cat "$MOOT_END" >&3 2>/dev/null; exit "$status"'
)
REQUIRE = re.compile(r"^(\s*require\s*\([^)]*\)|\s*require\s+[^\n(]+)", re.MULTILINE)
FIRST = re.compile(r"^(module|go)\s+[^\s]+", re.MULTILINE)
TOO_LONG = "took longer than the limit of"
Run = Callable[[Suite], Awaitable[ProcessEnd]]


class Need(Value):
    why: str
    code_decides: bool = False


class GoPlan(Value):
    """The tool's plan for tests and code; see `golink/tool`."""

    problem: str
    whole: Need | None
    apart: tuple[str, ...]
    needs: dict[str, Need]
    folders: tuple[str, ...]
    judge: dict[str, str]
    worker: dict[str, str]
    key: dict[str, str]


@dataclass(frozen=True)
class Parts:
    layout: Layout
    go: Toolchain
    warm: Path
    project: ProjectEnvironment
    seconds: float
    whole: Suite
    """Everything in one process."""


async def split_suite(parts: Parts, run: Run) -> Suite | SuiteRun:
    layout = parts.layout
    if not any(path.endswith("_test.go") for path in layout.tests):
        return parts.whole
    kit = await open_kit(parts.go)
    if kit.problem:
        return replace(parts.whole, in_process=f"it could not be separated: {kit.problem}")
    ended = await run(_reader(parts, kit))
    try:
        plan = GoPlan.model_validate_json(ended.report)
    except ValidationError:
        return SuiteRun(problem=f"tests and code could not be read: {ended.output.strip()[-300:] or ended.stopped}")
    if plan.problem:
        return SuiteRun(problem=plan.problem)
    if whole := _check_vendoring(parts) or _shares_files(parts) or plan.whole:
        return together(parts, plan, ".", {"": whole})
    if not plan.apart:
        return together(parts, plan, ".", plan.needs)
    return _apart(parts, kit, plan)


def _check_vendoring(parts: Parts) -> Need | None:
    """With a vendor folder Go accepts no other module, so there can be no link."""
    layout = parts.layout
    brought = [path for path in layout.files if "/vendor/" in f"/{path}"]
    if not brought and not parts.project.go_vendor:
        return None
    own = any(path not in layout.tests for path in brought)
    return Need(why="its modules are in a vendor folder", code_decides=own)


def _shares_files(parts: Parts) -> Need | None:
    """Files that came with the tests may contain expected values, so the code gets none, unless it consists of them."""
    layout = parts.layout
    beside = [PurePosixPath(path) for path in layout.tests if not path.endswith((".go", ".mod", ".sum"))]
    for path, text in layout.files.items():
        if path.endswith(".go") and path not in layout.tests and any(each.name in text for each in beside):
            return Need(why="the code uses files that came with the tests", code_decides=True)
        if path.endswith(".go") and path not in layout.tests and beside and "//go:embed" in text:
            return Need(why="the code embeds files that came with the tests", code_decides=True)
    return None


def _reader(parts: Parts, kit: GoKit) -> Suite:
    """Reads both, runs neither."""
    layout = parts.layout
    spec = {
        "folder": module_folder(layout) or ".",
        "tests": list(layout.tests),
        "code": [path for path in layout.files if path not in layout.tests],
        "exports": str(parts.warm),
    }
    files = {f"{WORK}/{path}": text for path, text in _all_files(parts).items()}
    return Suite(
        files={**files, f"{RUN}/spec.json": json.dumps(spec)},
        command=(str(kit.tool), "split", f"../{RUN}/spec.json"),
        read=lambda _: SuiteReport(()),
        tools=(kit.folder, parts.warm),
        reserves_memory=True,
    )


def _all_files(parts: Parts) -> dict[str, str]:
    layout = parts.layout
    if module_folder(layout) is None:
        return {**layout.files, "go.mod": module_file(parts.go, layout.files)}
    return layout.files


def _apart(parts: Parts, kit: GoKit, plan: GoPlan) -> Suite:
    layout, folder = parts.layout, module_folder(parts.layout) or "."
    folders = plan.folders
    targets = ["./" + str(PurePosixPath(each).relative_to(folder)) for each in folders]
    beside = {path: layout.files[path] for path in layout.tests if not path.endswith(".go")}
    judge = {**beside, **plan.judge, **_modules(parts, kit, trusted=False)}
    given = {path for path in layout.tests if path not in ("go.mod", "go.sum")}
    code = {path: text for path, text in layout.files.items() if path not in given and not path.endswith("_test.go")}
    worker = {**code, **plan.worker, **_modules(parts, kit, trusted=True)}
    apart = [name.rpartition(".")[2] for name in plan.apart]
    return replace(
        _program(parts, kit, judge, JUDGE, targets, {"MOOT_SECONDS": f"{parts.seconds:g}"}),
        read=partial(_read_apart, expected=[name for name in apart if name.startswith("Test")], needs=plan.needs),
        worker=_program(parts, kit, worker, WORKER, [str(kit.tool)], {"MOOT_FOLDERS": "\n".join(folders)}),
        together=lambda names: together(parts, plan, "." if names is None else _pattern(names), plan.needs),
    )


def _program(
    parts: Parts, kit: GoKit, files: Mapping[str, str], script: str, words: Sequence[str], env: Mapping[str, str]
) -> Suite:
    go, layout = parts.go, parts.layout
    path = {"PATH": ":".join((str(go.program.parent), *SYSTEM_PATH))}
    suite = Suite(
        files={f"{WORK}/{path}": text for path, text in files.items()},
        command=("/bin/sh", "-c", script, str(go.program), module_folder(layout) or ".", str(parts.warm), *words),
        read=lambda _: SuiteReport(()),
        env={**environment(), **go_flags(layout), **path, **env},
        tools=(go.root, parts.warm, kit.folder),
        reserves_memory=True,
    )
    return with_modules(suite, layout, parts.project)


def _modules(parts: Parts, kit: GoKit, *, trusted: bool) -> dict[str, str]:
    """`go.mod` with the link. One from the code may not replace other packages by its own."""
    files, layout = _all_files(parts), parts.layout
    path = str(PurePosixPath(module_folder(layout) or ".", "go.mod"))
    text = files[path]
    if not trusted and path in layout.files and path not in layout.tests:
        text = "\n\n".join([*(found[0] for found in FIRST.finditer(text)), *REQUIRE.findall(text)])
    sums = str(PurePosixPath(path).with_name("go.sum"))
    return {path: with_link(text, kit), **({sums: files[sums]} if sums in files else {})}


def together(parts: Parts, plan: GoPlan, pattern: str, needs: Mapping[str, Need]) -> Suite:
    """Tests in one process with the code. Tests that the code brings are left out, as everywhere."""
    key = secrets.token_hex(32)
    layout = parts.layout
    files = {p: text for p, text in _all_files(parts).items() if p in layout.tests or not p.endswith("_test.go")}
    files |= {path: text.replace("@KEY@", key) for path, text in plan.key.items()}
    folder = module_folder(layout) or "."
    return replace(
        parts.whole,
        files={f"{WORK}/{path}": text for path, text in files.items()},
        command=("/bin/sh", "-c", TOGETHER, str(parts.go.program), folder, str(parts.warm), pattern),
        read=partial(_read_together, layout=layout, key=key, needs=needs, every=pattern == "."),
    )


def _pattern(names: Sequence[str]) -> str:
    return f"^({'|'.join(sorted({re.escape(name.rpartition('.')[2]) for name in names}))})$"


def go_report(report: bytes, layout: Layout) -> SuiteReport:
    return read_go(report, expected=GO_TEST.findall("\n".join(layout.files[path] for path in layout.tests)))


def _read_apart(report: bytes, expected: Sequence[str], needs: Mapping[str, Need]) -> SuiteReport:
    read = read_go(report, expected)
    events = [_mark_timeout(event) if isinstance(event, Done) else event for event in read.events]
    asked = [NeedsObjects(test=name, why=need.why, code_decides=need.code_decides) for name, need in needs.items()]
    return replace(read, events=(*events, *asked))


def _mark_timeout(done: Done) -> Done:
    late = done.status == "failed" and TOO_LONG in done.detail
    return done.model_copy(update={"status": "timeout"}) if late else done


def _read_together(report: bytes, layout: Layout, key: str, needs: Mapping[str, Need], *, every: bool) -> SuiteReport:
    """Results count only if the end of the tests is signed: code that prints some and exits has no key."""
    lines = report.split(b"\n")
    ends = [line.decode("utf-8", "replace").split(" ") for line in lines if line.startswith(key.encode())]
    signed = {end[1] for end in ends if len(end) == 3}
    body = b"\n".join(line for line in lines if not line.startswith(key.encode()) and line.strip())
    read = go_report(body, layout) if every else read_go(body)
    events = [_mark_needs(event, needs) if isinstance(event, Done) else event for event in read.events]
    good = [event for event in events if isinstance(event, Done) and event.status in ("passed", "skipped")]
    if not all(any(event.test.startswith(f"{package}.") for package in signed) for event in good):
        events = [event for event in events if not isinstance(event, Finished)]
    return replace(read, events=tuple(events))


def _mark_needs(done: Done, needs: Mapping[str, Need]) -> Done:
    fits = (need for name, need in needs.items() if done.test == name or done.test.startswith(f"{name}/"))
    need = next(fits, needs.get("")) or Need(why="it runs in one process with the code")
    return done.model_copy(update={"in_process": need.why, "code_decides": need.code_decides})
