"""SWE-bench instances for which there is a clone. One without it is listed as skipped, never as wrong.

The file that the published patch changes is named in the task ("oracle" setting): what is measured is the change, not
the search for its place. Instances that change more files are skipped.
"""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path

from moot.core.errors import UsageError
from moot.core.types import Code, SourceFile
from moot.edge.git.patches import list_patched
from moot.surfaces.bench.data import DataRow, read_data
from moot.surfaces.bench.repositories import find_problem, read_file
from moot.surfaces.bench.suites import SuiteSource
from moot.surfaces.bench.tasks import BenchTask, ChangeTask

TASKS = "swe-bench-lite.jsonl.gz"
ORACLE = "the file to change is given (oracle setting)"
WORDS = """Solve this issue of the repository {repo}. Change only the file {path}, which is given, and answer with its \
complete new text.

{issue}
"""


def read_tasks(source: SuiteSource) -> Sequence[BenchTask]:
    rows = _read_rows(source.folder) if source.folder else read_data(TASKS, "swe_bench")
    return [_task(row, source.repos) for row in rows]


def _read_rows(path: Path) -> list[DataRow]:
    """Instances of the user's own, in the published format: JSON lines, gzipped or not."""
    if not path.is_file():
        raise UsageError(f"{path} is not a file of instances (JSON lines)")
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def _task(row: DataRow, repos: Path | None) -> BenchTask:
    paths, commit = list_patched(str(row["patch"])), str(row["base_commit"])
    clone = find_clone(repos, str(row["repo"]))
    issue, path = str(row["problem_statement"]), paths[0] if paths else ""
    plain = BenchTask(
        id=str(row["instance_id"]),
        kind="repository",
        prompt=WORDS.format(repo=row["repo"], path=path, issue=issue.strip()),
        path=path,
        notes=(ORACLE,),
    )
    if skip := _reason_to_skip(clone, str(row["repo"]), commit, paths):
        return plain.model_copy(update={"skip": skip})
    assert clone is not None
    try:
        text = read_file(clone, commit, path)
    except (UsageError, UnicodeDecodeError) as error:
        return plain.model_copy(update={"skip": f"{path} cannot be read: {error}"})
    change = ChangeTask(
        repository=str(clone),
        commit=commit,
        path=path,
        test_patch=str(row["test_patch"]),
        patch=str(row["patch"]),
        fail_to_pass=_names(row["FAIL_TO_PASS"]),
        pass_to_pass=_names(row["PASS_TO_PASS"]),
    )
    context = Code(files=(SourceFile(path=path, language="python", text=text),))
    return plain.model_copy(update={"change": change, "context": context})


def _names(value: object) -> tuple[str, ...]:
    """The published sets have a list, or the JSON of one."""
    items = json.loads(value) if isinstance(value, str) else value
    return tuple(str(each) for each in items) if isinstance(items, list) else ()


def _reason_to_skip(clone: Path | None, repo: str, commit: str, paths: Sequence[str]) -> str:
    if clone is None:
        return f"the repository {repo} has no clone here; clone it and name its folder with --repos"
    if problem := find_problem(clone, commit):
        return f"the clone {clone} {problem}"
    if len(paths) != 1 or not paths[0].endswith(".py"):
        return f"its patch changes {len(paths)} files; a debate writes one Python file"
    return ""


def find_clone(repos: Path | None, repo: str) -> Path | None:
    """`FOLDER/owner/name`, `FOLDER/owner__name` or `FOLDER/name`."""
    if repos is None:
        return None
    places = (repos / repo, repos / repo.replace("/", "__"), repos / repo.rpartition("/")[2])
    return next((place for place in places if place.is_dir()), None)
