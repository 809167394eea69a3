"""What several tests share: a scanner with one rule of its own, and the replies of a red and a blue team."""

import asyncio
import json
import os
import subprocess
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from fork_server import run_forked

from moot.core.findings import add_fingerprints
from moot.core.ports import Sandbox
from moot.core.types import Code, Limits, NotAnalysed, Repair, Scan, Tests, Vulnerability
from moot.edge.store import SqlStore
from moot.protocols.harden.script import HardenInput, HardenResult, HardenRules, harden
from moot.runtime.ports import SessionPorts
from moot.runtime.room import LiveRoom
from moot.testing import FakeScanner, FrozenClock, Line, ScriptedModel, one_file, room

R = TypeVar("R")

BAD = 'def find(db: "sqlite3.Connection", name):\n    return db.execute("SELECT * FROM t WHERE n = \'" + name + "\'")\n'
GOOD = 'def find(db: "sqlite3.Connection", name):\n    return db.execute("SELECT * FROM t WHERE n = ?", (name,))\n'
CLEAN = "def add(a, b):\n    return a + b\n"

NOTHING = '{"vulnerabilities": []}'
SQLI = """{"vulnerabilities": [{"description": "name is pasted into the query",
 "evidence": "return db.execute(\\"SELECT * FROM t WHERE n = '\\" + name + \\"'\\")",
 "exploit": "x' OR '1'='1", "category": "injection", "severity": "critical"}]}"""


def blue(code: str, patches: str = "VULN-001: bound the parameter", confidence: str = "0.9") -> str:
    return (
        f"PATCHES:\n{patches}\n\nREMAINING_RISKS:\nNONE\n\nCONFIDENCE: {confidence}\n\n"
        f"PATCHED_CODE:\nFILE: app.py\n```python\n{code}```\n"
    )


def see(code: Code) -> Scan:
    """A scanner with one rule: a `+` inside execute() is an injection; `def` lines are the public names."""
    findings, broken, names = [], [], {}
    for file in code.files:
        lines = file.text.splitlines()
        names[file.path] = tuple(line.split("(")[0].removeprefix("def ") for line in lines if line.startswith("def "))
        for number, line in enumerate(lines, start=1):
            if "SYNTAX ERROR" in line:
                broken.append(NotAnalysed(file=file.path, line=number, why="it does not parse"))
            if "execute(" in line and "+" in line:
                findings.append(_finding(file.path, number, line.strip()))
    return Scan(findings=tuple(add_fingerprints(findings)), not_analysed=tuple(broken), public_names=names)


def _finding(path: str, line: int, evidence: str) -> Vulnerability:
    return Vulnerability(
        id="", category="injection", severity="critical", description="built query", evidence=evidence,
        file=path, line=line, rule="test-sql", confidence=0.9, fix="Use parameterized queries",
    )  # fmt: skip


def mend(code: Code, marks: Sequence[str]) -> Repair:
    """Rewrites the one line it knows; everything else is left with advice."""
    texts = {f.path: f.text.replace(BAD.splitlines()[1], GOOD.splitlines()[1]) for f in code.files}
    known = {f.fingerprint: f for f in see(code).findings}
    fixed = {m: "bound the parameter" for m in marks if m in known and known[m].evidence == BAD.splitlines()[1].strip()}
    left = {m: "Use parameterized queries" for m in marks if m not in fixed}
    changed = {f.path: texts[f.path] for f in code.files if texts[f.path] != f.text} if fixed else {}
    return Repair(texts=changed, fixed=fixed, left=left)


def make_ports(clock: FrozenClock | None = None, sandbox: Sandbox | None = None) -> SessionPorts:
    return SessionPorts(scanner=FakeScanner(see, mend), clock=clock or FrozenClock(), sandbox=sandbox)


def run_harden(
    code: str | Code,
    script: Mapping[str, Sequence[Line]] | None = None,
    rules: HardenRules | None = None,
    limits: Limits | None = None,
    tests: Tests | None = None,
    sandbox: Sandbox | None = None,
) -> tuple[HardenResult, ScriptedModel, LiveRoom]:
    """`harden` on a live room with a scripted red and blue; no script: the deterministic teams."""
    rules = rules or HardenRules()
    model = ScriptedModel(script or {})
    cast = dict.fromkeys(script or {}, model)
    live = room(cast, make_ports(sandbox=sandbox), limits, rules.timeout)
    given = HardenInput(code=one_file(code) if isinstance(code, str) else code, tests=tests)
    result = asyncio.run(harden(given, rules, live))
    return result, model, live


MEASURED = frozenset({"duration", "session_id", "seconds", "memory"})


def settled(told: str) -> dict[str, Any]:
    """A printed result without what may differ between two runs: its name, and what a clock or a gauge measured."""
    result = json.loads(told, object_hook=lambda found: {k: v for k, v in found.items() if k not in MEASURED})
    return dict(result)


def run_moot(folder: Path, *arguments: str, kill_after: int = 0, **more: str) -> subprocess.CompletedProcess[str]:
    """`moot ARGUMENTS` in a process and a folder of its own; killed -9 right after a write to the record, if asked."""
    env = {**os.environ, "MOOT_STORE": str(folder / "s.db"), **more}
    return run_forked(arguments, folder, env, kill_after=kill_after)


def trust_project(folder: Path, **env: str) -> None:
    """As after `moot trust` there; `env` says where the user's data lies, if not where this process has it."""
    from moot.edge.settings.trust_file import read_project_file, trust  # a test of what nobody trusts needs none of it

    trust(read_project_file(folder / "moot.toml", folder), "ann", {**os.environ, **env})


def write_trusted(folder: Path, settings: str, **env: str) -> None:
    """Settings of a project that somebody trusted."""
    (folder / "moot.toml").write_text(settings)
    trust_project(folder, **env)


def in_store(place: str, work: Callable[[SqlStore], Awaitable[R]]) -> R:
    async def opened() -> R:
        store = SqlStore(place)
        try:
            return await work(store)
        finally:
            await store.aclose()

    return asyncio.run(opened())
