"""Puts calls to JavaScript and TypeScript."""

import json
import secrets
import shutil
from collections.abc import Sequence
from pathlib import Path

from moot.core.types import Code, Probing
from moot.edge.sandbox.layout import RUN, WORK
from moot.edge.sandbox.limits import MIB, SandboxLimits
from moot.edge.sandbox.node.strip_types import TypesNotStripped, strip_types
from moot.edge.sandbox.node.suite import MODULE_SYNTAX, NO_NODE, own_text, search_path
from moot.edge.sandbox.python.project import ProjectEnvironment
from moot.edge.sandbox.report import SuiteReport
from moot.edge.sandbox.suite import Suite

RUNNER = "probe_node.cjs"


def plan_node_probe(
    code: Code, calls: Sequence[str], seconds: float, limits: SandboxLimits, project: ProjectEnvironment
) -> Suite | Probing:
    node = shutil.which("node")
    if node is None:
        return Probing(problem=NO_NODE)
    if len(code.files) != 1:
        return Probing(problem=f"calls can be put to one file of JavaScript, not to {len(code.files)}")
    try:
        text = strip_types(code.files[0].text) if code.files[0].language == "typescript" else code.files[0].text
    except TypesNotStripped as problem:
        return Probing(problem=f"its types cannot be removed to run it: {problem}")
    program = str(Path(node).resolve())
    file = "solution.mjs" if MODULE_SYNTAX.search(text) else "solution.cjs"
    key = secrets.token_hex(16)
    # Within the file, a call reaches what is not exported.
    hook = f"\n;globalThis[{key!r}] = ($moot) => eval($moot);\n"
    spec = {
        "calls": list(calls), "file": file, "key": key, "seconds": seconds, "memory": limits.memory // MIB // 2
    }  # fmt: skip
    return Suite(
        files={
            f"{WORK}/{file}": text + hook,
            f"{RUN}/{RUNNER}": own_text(RUNNER),
            f"{RUN}/spec.json": json.dumps(spec),
        },
        command=(program, f"../{RUN}/{RUNNER}"),
        read=lambda _: SuiteReport(()),
        env={"PATH": search_path(program)},
        tools=(Path(program),),
        beside={"node_modules": Path(project.node_modules)} if project.node_modules else {},
        reserves_memory=True,
    )
