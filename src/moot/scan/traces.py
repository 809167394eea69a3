"""The result of a group, with what it depends on in files of which not everything was looked at.

The group's own files are run completely. A file of the context is run on import, and of its functions only those are
that another file calls or that lead to another file. All others may change, and new ones may be added, without any
effect on the result, as long as they do not name what leads to another file.
"""

from collections.abc import Collection, Iterable, Sequence

from moot.core.types import Code, Scan, SourceFile, Vulnerability
from moot.scan.engine.frontends import lower
from moot.scan.engine.ir import Function, Module
from moot.scan.engine.machine import find_budget
from moot.scan.engine.outline import FollowedFile, digest_followed, list_functions, list_parts
from moot.scan.engine.reach import read_words
from moot.scan.groups import Group
from moot.scan.syntax import parse, trouble
from moot.scan.team import FileScan, list_found, scan_code
from moot.scan.traced import FileTrace, TracedScan

TRACED_BYTES = 100_000
"""A longer file may have more expressions than are lowered: then it matters in which order its functions are run."""


def scan_group(group: Group) -> TracedScan:
    found = scan_code(Code(files=group.files), whole=False, context=group.context, passive=group.passive)
    whole = list_found(found.values())
    scan = Scan(
        findings=tuple(finding for finding in whole.findings if group.counts(finding)),
        not_analysed=tuple(gap for gap in whole.not_analysed if gap.file in group.own),
    )
    return TracedScan(scan=scan, traces=_trace_files([found[file.path] for file in group.files], scan.findings))


def _trace_files(scans: Sequence[FileScan], findings: Collection[Vulnerability]) -> dict[int, FileTrace]:
    at_home = {finding.file for finding in findings}
    passed = {step.file for finding in findings for step in finding.path}
    return {
        place: _trace(scan.followed, lined=scan.followed.module.path in passed)
        for place, scan in enumerate(scans)
        # A finding in the file may be silenced by a comment anywhere, and a gap is about the whole file.
        if scan.followed is not None and can_be_traced(scan, scan.followed) and scan.followed.module.path not in at_home
    }


def can_be_traced(scan: FileScan, followed: FollowedFile) -> bool:
    """In other languages, what stands in one function may decide how the file around it is read."""
    module = followed.module
    sure = module.language == "python" and len(module.data) <= TRACED_BYTES
    return sure and not scan.not_analysed


def _trace(followed: FollowedFile, *, lined: bool) -> FileTrace:
    module, functions = followed.module, list_functions(followed.module)
    known = {key for key, _ in functions}
    entered = {
        key for key, function in functions if key in followed.entered or _names(module, function, followed.leading)
    }
    return FileTrace(
        entered=tuple(sorted(entered)),
        known=tuple(sorted(known)),
        leading=tuple(sorted(followed.leading)),
        asked=_answer(module, followed.asked),
        needed=followed.needed,
        budget=find_budget(len(module.data)),
        lined=lined,
        digest=digest_followed(module, entered, known, lined=lined),
    )


def _names(module: Module, function: Function, words: Collection[str]) -> bool:
    return bool(words) and not read_words(module, function).isdisjoint(words)


def _answer(module: Module, asked: Collection[str]) -> dict[str, bool]:
    return {word: word.encode() in module.data for word in sorted(asked)}


class ChangedFiles:
    """Compares files with what results depend on in them. Each is read once."""

    def __init__(self) -> None:
        self._modules: dict[str, tuple[str, Module | None]] = {}

    def still_holds(self, trace: FileTrace, file: SourceFile, others: Iterable[SourceFile]) -> bool:
        """Whether a result would be the same with this text of the file, beside the other files of the group."""
        module = self._read(file)
        return module is not None and _still_holds(trace, module, others)

    def _read(self, file: SourceFile) -> Module | None:
        known = self._modules.get(file.path)
        if known is None or known[0] is not file.text:
            known = self._modules[file.path] = (file.text, read_module(file))
        return known[1]


def read_module(file: SourceFile) -> Module | None:
    """None if part of the file cannot be analysed: then nothing is known of the rest either."""
    if file.language != "python":
        return None
    try:
        source = parse(file.path, file.language, file.text, brief=True)
        module = lower(source)
        return None if module.gaps or trouble(source) is not None else module
    except Exception:  # told by the worker that is given the file
        return None


def _still_holds(trace: FileTrace, module: Module, others: Iterable[SourceFile]) -> bool:
    budget = find_budget(len(module.data))
    if trace.asked != _answer(module, trace.asked) or (trace.budget != budget and trace.needed > budget):
        return False
    if trace.digest != digest_followed(module, trace.entered, trace.known, lined=trace.lined):
        return False
    entered, known, leading = set(trace.entered), set(trace.known), set(trace.leading)
    functions = list_functions(module)
    if any(_names(module, function, leading) for key, function in functions if key not in entered):
        return False
    return _are_unnamed(module, [function for key, function in functions if key not in known], known, others)


def _are_unnamed(module: Module, added: list[Function], known: Collection[str], others: Iterable[SourceFile]) -> bool:
    """Whether nothing but themselves names these functions, and no class has them."""
    if any(module.column(function.at[0]) > 1 for function in added):
        return False
    names = {function.name for function in added}
    texts = [part for _, _, part in list_parts(module, known, known)] if added else []
    if any(name.encode() in text for name in names for text in texts):
        return False
    return not any(name in file.text for file in others for name in names)
