"""Labelled code: vulnerable or safe. From the data sets, or from a folder with `vulnerable/` and `safe/`."""

from collections.abc import Sequence
from pathlib import Path

from moot.core.errors import UsageError
from moot.core.types import SUFFIXES, Code, Language, SourceFile
from moot.edge.files.links import refuse_links_out
from moot.surfaces.bench.data import DataRow, has_data, read_data
from moot.surfaces.bench.suites import SuiteSource
from moot.surfaces.bench.suites.cwes import FAMILIES, OWASP_CWES
from moot.surfaces.bench.tasks import BenchTask

SETS = ("code-python.jsonl.gz", "code-javascript.jsonl.gz", "code-go.jsonl.gz")
LABELS = ("vulnerable", "safe")


def read_tasks(source: SuiteSource) -> Sequence[BenchTask]:
    if source.folder is not None:
        return _read_folder(source.folder)
    names = [name for name in SETS if has_data(name)] or [SETS[0]]
    return [_task(row) for name in names for row in read_data(name, "harden")]


def _task(row: DataRow) -> BenchTask:
    language: Language = row["lang"]
    files = tuple(SourceFile(path=str(p), language=language, text=str(t)) for p, t in row["files"].items())
    key = "vulnerable" if row["vulnerable"] else "safe"
    name = f"{row['corpus']}/{row['id']}"
    return BenchTask(id=name, kind="label", prompt=name, context=Code(files=files), key=key, cwes=_fitting(row))


def _fitting(row: DataRow) -> tuple[int, ...]:
    """The CWEs of its category, else those of the same family. Without any, a serious finding of any kind counts."""
    if row["corpus"] == "owasp_benchmark_python":
        return tuple(sorted(OWASP_CWES.get(str(row.get("category")), ())))
    cwe = int(row.get("cwe") or 0)
    if not cwe or row["corpus"] != "securityeval":
        return (cwe,) if cwe else ()
    return tuple(sorted({cwe}.union(*(family for family in FAMILIES if cwe in family))))


def _read_folder(folder: Path) -> list[BenchTask]:
    tasks = []
    for label in LABELS:
        files = sorted(path for path in (folder / label).rglob("*") if path.suffix in SUFFIXES)
        refuse_links_out(files, folder)
        for path in files:
            name = str(path.relative_to(folder))
            source = SourceFile(path=path.name, language=SUFFIXES[path.suffix], text=path.read_text("utf-8"))
            tasks.append(BenchTask(id=name, kind="label", prompt=name, context=Code(files=(source,)), key=label))
    if not tasks:
        raise UsageError(f"{folder} has no labelled code: put files into {folder}/vulnerable and {folder}/safe")
    return tasks
