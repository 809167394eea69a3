"""Runs a user's program or a checking tool beside code and tests."""

import shutil
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from moot.core.types import Code, CommandRun, Tests
from moot.edge.sandbox.go.layout import go_flags, module_folder, with_modules
from moot.edge.sandbox.go.suite import go_texts
from moot.edge.sandbox.go.toolchain import CACHE, Toolchain, environment, find_go, module_file, warm_packages
from moot.edge.sandbox.layout import SYSTEM_PATH, WORK, Layout, lay_out
from moot.edge.sandbox.limits import MIB, SandboxLimits
from moot.edge.sandbox.node.suite import node_modules, uses_modules
from moot.edge.sandbox.process import ProcessEnd
from moot.edge.sandbox.python.project import NO_PROJECT, ProjectEnvironment
from moot.edge.sandbox.python.suite import python_tools
from moot.edge.sandbox.report import SuiteReport
from moot.edge.sandbox.suite import Suite
from moot.text.render import cut

MISSING, STARTED = b"missing\n", b"started\n"
# The first line of the report is ours, written before the program starts; its output follows.
LAUNCH = (
    'shift 2; if ! command -v -- "$1" >/dev/null 2>&1; then echo missing >&3; exit 0; fi; '
    'echo started >&3; exec "$@" >&3 3>&-'
)


async def command_plan(
    code: Code, tests: Tests, argv: Sequence[str], project: ProjectEnvironment = NO_PROJECT
) -> Suite | CommandRun:
    """How to run it, or why it cannot be run. It sees the system's programs, the interpreters of the project and of
    Moot, Node.js and Go."""
    if not argv or not argv[0] or any("\0" in word for word in argv):
        return CommandRun(problem="there is no command that could be run")
    layout = lay_out(code, tests)
    if layout.clash:
        return CommandRun(problem=f"two files would lie at {layout.clash!r}")
    files = {f"{WORK}/{path}": text for path, text in layout.files.items()}
    if uses_modules(layout):
        files[f"{WORK}/package.json"] = '{"type": "module"}'
    node = _node()
    own = [str(Path(project.python.program).parent)] if project.python else []
    folders = [*own, f"{sys.prefix}/bin", *(str(program.parent) for program in node)]
    env = {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
    tools = (*python_tools(), *node)
    script, where = LAUNCH, (".", "")
    if (go := find_go()) is not None and go_texts(layout):
        warm = (await warm_packages(go, go_texts(layout), race=False)).folder
        script, where = CACHE + LAUNCH, (module_folder(layout) or ".", str(warm or ""))
        files |= _module(layout, go)
        folders.append(str(go.program.parent))
        env |= environment() | go_flags(layout)
        tools = (*tools, go.root, *([warm] if warm else []))
    suite = Suite(
        files=files,
        command=("/bin/sh", "-c", script, "command", *where, *argv),
        read=lambda _: SuiteReport(()),
        env=env | {"PATH": ":".join(dict.fromkeys((*folders, *SYSTEM_PATH)))},
        tools=tools,
        mounts={Path(k): Path(v) for k, v in project.python.folders.items()} if project.python else {},
        beside=node_modules(project.node_modules),
        links=(Path(sys.executable),),
        reserves_memory=True,
    )
    return with_modules(suite, layout, project) if go is not None and go_texts(layout) else suite


def command_run(ended: ProcessEnd, limits: SandboxLimits) -> CommandRun:
    """The result of an executed command; its output is truncated."""
    if ended.report == MISSING:
        return CommandRun(missing=True, problem="there is no such program in the sandbox", seconds=ended.seconds)
    began = ended.report.startswith(STARTED)
    out = ended.report.removeprefix(STARTED).decode("utf-8", "replace") if began else ""
    problem = _problem(ended, limits, began=began)
    return CommandRun(
        status=None if problem else ended.status,
        out=cut(out, limits.output),
        err=cut(ended.output, limits.output),
        late=ended.stopped == "time",
        problem=problem,
        seconds=ended.seconds,
    )


def _problem(ended: ProcessEnd, limits: SandboxLimits, *, began: bool) -> str:
    if ended.stopped == "time":
        return f"it took longer than the limit of {limits.wall:g} s"
    if ended.stopped == "memory":
        return f"it used more memory than the limit of {limits.memory // MIB} MiB"
    if ended.status in (128 + signal.SIGXCPU, -signal.SIGXCPU):
        return f"it used more processor time than the limit of {limits.cpu} s"
    if not began:
        return f"the sandbox ended with status {ended.status} before it began: {cut(ended.output.strip(), 500)}"
    return ""


def _node() -> tuple[Path, ...]:
    found = shutil.which("node")
    return (Path(found).resolve(),) if found else ()


def _module(layout: Layout, go: Toolchain) -> dict[str, str]:
    return {} if module_folder(layout) else {f"{WORK}/go.mod": module_file(go, layout.files)}
