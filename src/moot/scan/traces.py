"""The result of a group, with what it depends on in files of which not everything was looked at.

The group's own files and those that reach them are run completely. A passive file is run on import, and of its
functions only those are that another file calls; the bodies of all others may change without any effect on the result.
"""

from collections.abc import Collection, Sequence

from moot.core.types import Code, Scan, SourceFile, Value, Vulnerability
from moot.scan.engine.frontends import lower
from moot.scan.engine.ir import Module
from moot.scan.engine.outline import FollowedFile, digest_followed
from moot.scan.groups import Group
from moot.scan.syntax import parse, trouble
from moot.scan.team import FileScan, list_found, scan_code

TRACED_BYTES = 100_000
"""A longer file may have more expressions than are lowered: then it matters in which order its functions are run."""


class FileTrace(Value):
    """What a result depends on in one file."""

    entered: tuple[str, ...]
    asked: dict[str, bool]
    """Words that a rule searched the whole text for, and whether they are in it."""
    lined: bool
    """Whether a finding names lines of the file."""
    digest: str


class TracedScan(Value):
    scan: Scan
    traces: dict[int, FileTrace]
    """By the place of the file in its group. On any other file the result depends as a whole."""


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
    sure = module.language == "python" and followed.within_budget and len(module.data) <= TRACED_BYTES
    return sure and not scan.not_analysed


def _trace(followed: FollowedFile, *, lined: bool) -> FileTrace:
    module, entered = followed.module, followed.entered
    return FileTrace(
        entered=tuple(sorted(entered)),
        asked=_answer(module, followed.asked),
        lined=lined,
        digest=digest_followed(module, entered, lined=lined),
    )


def _answer(module: Module, asked: Collection[str]) -> dict[str, bool]:
    return {word: word.encode() in module.data for word in sorted(asked)}


def read_module(file: SourceFile) -> Module | None:
    """None if part of the file cannot be analysed: then nothing is known of the rest either."""
    if file.language != "python":
        return None
    source = parse(file.path, file.language, file.text, brief=True)
    module = lower(source)
    return None if module.gaps or trouble(source) is not None else module


def still_holds(trace: FileTrace, module: Module) -> bool:
    """Whether a result would be the same with this text of the file."""
    if trace.asked != _answer(module, trace.asked):
        return False
    return trace.digest == digest_followed(module, trace.entered, lined=trace.lined)
