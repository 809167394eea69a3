"""A change of a repository, judged by its own tests: the commit is read from a clone, which is never changed."""

import asyncio
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from moot.core.errors import UsageError
from moot.core.ports import Sandbox
from moot.core.types import Code, SourceFile, SuiteRun, Tests, Value
from moot.edge.git import GitError, git
from moot.edge.git.patches import apply_patch
from moot.surfaces.bench.tasks import ChangeTask

MAX_FILE = 2_000_000


class ChangeRun(Value):
    solved: bool | None
    why: str


def read_commit(repository: Path, commit: str) -> dict[str, str]:
    """The text files of a commit. Others, and very large ones, are left out."""
    listed = git(repository, "ls-tree", "-r", "-z", "--long", commit).decode("utf-8", "surrogateescape")
    blobs: list[tuple[str, str]] = []
    for entry in filter(None, listed.split("\0")):
        about, _, path = entry.partition("\t")
        mode, kind, blob, size = about.split()
        if kind == "blob" and not mode.startswith("12") and size.isdigit() and int(size) <= MAX_FILE:
            blobs.append((path, blob))
    texts = _read_blobs(repository, [blob for _, blob in blobs])
    return {path: text for (path, _), text in zip(blobs, texts, strict=True) if text is not None}


def _read_blobs(repository: Path, blobs: list[str]) -> list[str | None]:
    out = git(repository, "cat-file", "--batch", data="\n".join(blobs).encode() + b"\n") if blobs else b""
    texts: list[str | None] = []
    at = 0
    for _ in blobs:
        end = out.index(b"\n", at)
        size = int(out[at:end].split()[2])
        data = out[end + 1 : end + 1 + size]
        at = end + 1 + size + 1
        try:
            texts.append(data.decode("utf-8"))
        except UnicodeDecodeError:
            texts.append(None)
    return texts


def read_file(repository: Path, commit: str, path: str) -> str:
    return git(repository, "cat-file", "blob", f"{commit}:{path}").decode("utf-8")


def find_problem(repository: Path, commit: str) -> str:
    """Why this commit cannot be read; empty: it can."""
    try:
        git(repository, "cat-file", "-e", f"{commit}^{{commit}}")
    except (GitError, UsageError) as error:
        absent = "Not a valid object name" in str(error)
        return f"does not have the commit {commit[:12]}" if absent else f"cannot be read: {error}"
    return ""


async def run_change(change: ChangeTask, answer: str, sandbox: Sandbox) -> ChangeRun:
    """The repository with the new text of its file and the issue's tests: those that must pass now do, and none that
    passed before fails. Where the published patch does not pass here either, nobody has failed."""
    try:
        before, after = await asyncio.to_thread(_lay_out, change)
        solution = apply_patch(before, change.patch)[change.path] if change.patch else ""
    except (UsageError, OSError, ValueError) as error:
        return ChangeRun(solved=None, why=f"the repository could not be prepared: {error}"[:500])
    found = await _run_tests(change, answer, before, after, sandbox)
    if found.solved is False and solution:
        same = answer.strip() == solution.strip()
        known = found if same else await _run_tests(change, solution, before, after, sandbox)
        if not known.solved:
            return ChangeRun(solved=None, why=f"the published patch does not pass here either: {known.why}"[:500])
    return found


async def _run_tests(
    change: ChangeTask, answer: str, before: Mapping[str, str], after: Mapping[str, str], sandbox: Sandbox
) -> ChangeRun:
    tests = {path: text for path, text in after.items() if path != change.path and _is_for_tests(path, before, text)}
    code = {path: text for path, text in after.items() if path not in tests} | {change.path: answer}
    run = await sandbox.run(
        Code(files=tuple(SourceFile(path=path, language="python", text=text) for path, text in code.items())),
        Tests(files=tuple(tests.items())),
    )
    return judge_change(change, run)


def _lay_out(change: ChangeTask) -> tuple[dict[str, str], dict[str, str]]:
    before = read_commit(Path(change.repository), change.commit)
    return before, apply_patch(before, change.test_patch)


def _is_for_tests(path: str, before: Mapping[str, str], text: str) -> bool:
    return before.get(path) != text or PurePosixPath(path).name == "conftest.py"


def judge_change(change: ChangeTask, run: SuiteRun) -> ChangeRun:
    if run.problem and not run.outcomes:
        return ChangeRun(solved=False, why=f"the tests gave no result: {run.problem}"[:500])
    status = {outcome.name: outcome.status for outcome in run.outcomes}
    missing = [name for name in (*change.fail_to_pass, *change.pass_to_pass) if find_test(name, status) is None]
    failed = [name for name in change.fail_to_pass if find_test(name, status) != "passed"]
    broken = [name for name in change.pass_to_pass if find_test(name, status) not in ("passed", "skipped", None)]
    if len(missing) == len(change.fail_to_pass) + len(change.pass_to_pass):
        seen = run.problem or "; ".join(f"{each.name} {each.status}: {each.detail}" for each in run.outcomes[:1])
        return ChangeRun(solved=None, why=f"none of the instance's tests was found by name: {seen}"[:500])
    if failed or broken:
        why = f"{len(failed)} of {len(change.fail_to_pass)} tests of the issue fail, {len(broken)} others broke"
        return ChangeRun(solved=False, why=f"{why}: {(failed or broken)[0]}"[:500])
    return ChangeRun(solved=True, why=f"passes {len(change.fail_to_pass)} tests of the issue; no other broke")


def find_test(name: str, status: Mapping[str, str]) -> str | None:
    """By its whole name, else by the last part where only one test has it."""
    if name in status:
        return status[name]
    short = name.rpartition("::")[2].partition(" (")[0]
    same = [key for key in status if key.rpartition("::")[2].rpartition(".")[2] == short or key == short]
    return status[same[0]] if len(same) == 1 else None
