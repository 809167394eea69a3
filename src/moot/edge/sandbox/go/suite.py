"""Runs Go tests: plainly, and again under the race detector."""

import secrets
from functools import partial

from moot.core.types import Code, RaceRun, SuiteRun, Tests
from moot.edge.sandbox.go.layout import go_flags, module_folder, with_modules
from moot.edge.sandbox.go.split import Parts, Run, go_report, split_suite
from moot.edge.sandbox.go.toolchain import (
    CACHE,
    MISSING,
    CompiledLibrary,
    Toolchain,
    environment,
    find_go,
    module_file,
    warm_packages,
)
from moot.edge.sandbox.layout import RUN, SYSTEM_PATH, WORK, Layout, lay_out, safe_path
from moot.edge.sandbox.limits import SandboxLimits
from moot.edge.sandbox.python.project import NO_PROJECT, ProjectEnvironment
from moot.edge.sandbox.report import judge
from moot.edge.sandbox.suite import Suite
from moot.evidence.races import split

PLAIN = CACHE + 'exec "$0" test -json ./... >&3'
# Reports go to separate files, apart from all output. A clean first run is followed by two more, of
# which only the races count. Without inlining every place keeps its frame.
RACE = (
    CACHE + f'mkdir -p "$box/{RUN}" && export GORACE="log_path=\'$box/{RUN}/race\'" && '
    '"$0" test -json -race -vet=off -gcflags=-l -count=1 -timeout="$3" ./... >&3; status=$?; '
    'if [ "$status" = 0 ]; then "$0" test -race -vet=off -gcflags=-l -count=2 -timeout="$4" ./... >/dev/null 2>&1; fi; '
    f'printf \'\\n%s %s\\n\' "$5" "$box/{WORK}" >&3; '
    f'cat "$box/{RUN}"/race.* >&3 2>/dev/null; exit "$status"'
)


async def go_suite(
    layout: Layout, project: ProjectEnvironment, seconds: float, run: Run | None = None
) -> Suite | SuiteRun:
    """Tests separate from the code as far as possible; `run` reads both first, in its own sandbox."""
    go = find_go()
    if go is None:
        return SuiteRun(problem=MISSING)
    # A toolchain that cannot compile even this will say so in the run itself.
    warmth = await warm_packages(go, go_texts(layout), race=False)
    whole = with_modules(plan_go(layout, go, warmth, PLAIN), layout, project)
    if run is None or warmth.folder is None:
        return whole
    return await split_suite(Parts(layout, go, warmth.folder, project, seconds, whole), run)


async def go_program(code: Code, script: str) -> Suite | str:
    """Another use of the toolchain with the same compiled library; or why there is none."""
    go = find_go()
    if go is None:
        return MISSING
    layout = lay_out(code, Tests(files=()))
    return plan_go(layout, go, await warm_packages(go, go_texts(layout), race=False), CACHE + script)


async def run_race_detector(
    code: Code, tests: Tests, run: Run, limits: SandboxLimits, project: ProjectEnvironment = NO_PROJECT
) -> RaceRun:
    """A run that could not start or finish says so."""
    layout, go = lay_out(code, tests), find_go()
    if tests.language != "go" or layout.clash:
        return RaceRun(problem="only Go's tests can be watched for races")
    if go is None:
        return RaceRun(problem=MISSING)
    warmth = await warm_packages(go, go_texts(layout), race=True)
    if warmth.problem:
        return RaceRun(problem=warmth.problem)
    mark = secrets.token_hex(16)
    times = (f"{limits.wall / 2:.1f}s", f"{limits.wall / 4:.1f}s")
    suite = with_modules(plan_go(layout, go, warmth, RACE, (*times, mark)), layout, project)
    ended = await run(suite)
    report, _, rest = ended.report.rpartition(f"\n{mark} ".encode())
    if not rest or not report:
        report, rest = ended.report, b""
    said = judge(go_report(report, layout), ended, limits)
    folder, _, logs = rest.decode("utf-8", "replace").partition("\n")
    reports = split(_restore_names(logs, folder, code, tests))
    return RaceRun(reports=reports, problem=_doubt(said, reports, marked=bool(rest)), seconds=ended.seconds)


def _doubt(suite: SuiteRun, reports: tuple[str, ...], *, marked: bool) -> str:
    """A race that ends the whole test program is still a race; a clean run must have ended well."""
    if reports:
        return ""
    broken = [outcome.name for outcome in suite.outcomes if outcome.status not in ("passed", "skipped", "failed")]
    if broken and not suite.problem:
        return f"under the race detector {broken[0]} does not build or ends the whole program"
    return suite.problem or ("" if marked else "the run under the race detector did not end")


def plan_go(layout: Layout, go: Toolchain, warmth: CompiledLibrary, script: str, more: tuple[str, ...] = ()) -> Suite:
    files = {f"{WORK}/{path}": text for path, text in layout.files.items()}
    folder = module_folder(layout)
    if folder is None:
        files[f"{WORK}/go.mod"] = module_file(go, layout.files)
    race = script is RACE
    env = environment(race=race) | go_flags(layout) | {"PATH": ":".join((str(go.program.parent), *SYSTEM_PATH))}
    warm = str(warmth.folder or "")
    return Suite(
        files=files,
        command=("/bin/sh", "-c", script, str(go.program), folder or ".", warm, *more),
        read=partial(go_report, layout=layout),
        env=env,
        tools=(go.root, *([warmth.folder] if warmth.folder else [])),
        reserves_memory=True,
    )


def go_texts(layout: Layout) -> list[str]:
    return [text for path, text in layout.files.items() if path.endswith(".go")]


def _restore_names(logs: str, folder: str, code: Code, tests: Tests) -> str:
    """Files by their given names; all others keep their path in the box."""
    for path in (*(file.path for file in code.files), *(path for path, _ in tests.files)):
        logs = logs.replace(f"      {folder}/{safe_path(path)}:", f"      {path}:")
    return logs
