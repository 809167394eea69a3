"""When a patch counts: it parses, keeps the public names, and a second look confirms its claims."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

from moot.core.findings import locate, match_moved_findings, weight
from moot.core.types import Code, Scan, SourceFile, Value, Vulnerability
from moot.protocols.harden.turn_reports import Version
from moot.text.replies import CodeBlock

DRAWN = re.compile(r"-{3,}|\*{3,}|={3,}|_{3,}")
"""A rule that models draw around quotes."""


class Patch(Value):
    texts: dict[str, str]
    claims: dict[str, str]
    """Finding id -> what was done about it."""
    remaining: tuple[str, ...] = ()
    confidence: float | None = None
    blue: Literal["model", "scan"]
    turn: int | None = None
    """The turn of the model that wrote it."""


class PatchVerdict(Value):
    rejected: str = ""
    """Why the patch does not count; empty if it does."""
    gone: tuple[str, ...] = ()
    """Ids of findings that a second look no longer shows."""
    unproven: tuple[str, ...] = ()
    """Claimed, seen only by Red, and the quoted line is still there: Red's next attack decides."""


def judge_patch(patch: Patch, before: Version, after: Version, findings: Sequence[Vulnerability]) -> PatchVerdict:
    earlier, later = before.scan, after.scan
    if broken := find_unparsed(patch.texts, later):
        return PatchVerdict(rejected=f"it does not parse: {broken}")
    if hidden := new_blind_spot(earlier, later):
        return PatchVerdict(rejected=f"it hides code from the scan: {hidden}")
    if lost := find_lost_names(earlier, later):
        return PatchVerdict(rejected=f"it drops public names: {', '.join(lost)}")
    claimed = [f for f in findings if f.id in patch.claims]
    moved = set(match_moved_findings(earlier.findings, later.findings).values())
    gone = tuple(f.id for f in claimed if f.fingerprint not in moved and is_gone(f, after.code, later))
    scanned = {f.id for f in claimed if f.source != "model"}
    lighter = weight(earlier.findings) - weight(later.findings)
    if lighter < 0:
        return PatchVerdict(rejected=f"it adds flaws: {_worst(earlier, later)}")
    only_moved = lighter == 0 and any(f.fingerprint in moved for f in claimed)
    if scanned and not gone and not only_moved:
        return PatchVerdict(rejected=f"still there on a second look: {', '.join(sorted(scanned))}")
    if only_moved or (scanned & set(gone) and lighter == 0):
        return PatchVerdict(rejected=f"the flaw has only moved: {_worst(earlier, later)}")
    unproven = tuple(f.id for f in claimed if f.source == "model" and f.id not in gone)
    return PatchVerdict(gone=gone, unproven=unproven)


def find_unparsed(texts: Mapping[str, str], later: Scan) -> str:
    spots = [spot for spot in later.not_analysed if spot.file in texts]
    return f"{spots[0].file}:{spots[0].line}: {spots[0].why}" if spots else ""


def new_blind_spot(earlier: Scan, later: Scan) -> str:
    """The first place where the scan could see what runs and no longer can. A flaw there would only be hidden."""
    known = Counter((spot.what, spot.text) for spot in earlier.blind)
    for spot in later.blind:
        if not known[(spot.what, spot.text)]:
            return f"{spot.file}:{spot.line}: {spot.what}: {spot.text}"
        known[(spot.what, spot.text)] -= 1
    return ""


def find_lost_names(earlier: Scan, later: Scan) -> list[str]:
    return sorted(
        name
        for file, names in earlier.public_names.items()
        for name in set(names) - set(later.public_names.get(file, ()))
    )


def is_gone(finding: Vulnerability, after: Code, later: Scan) -> bool:
    """The scan or run looks again for its own finding; one that only Red saw is gone if its quoted line is."""
    if finding.source != "model":
        return finding.fingerprint not in {f.fingerprint for f in later.findings}
    return finding.line > 0 and locate(after, finding.evidence, finding.file) is None


def _worst(earlier: Scan, later: Scan) -> str:
    known = {f.fingerprint for f in earlier.findings}
    new = [f for f in later.findings if f.fingerprint not in known]
    return f"{new[0].file}:{new[0].line}: {new[0].description}" if new else "the findings weigh as much as before"


def texts_for(blocks: Sequence[CodeBlock], code: Code) -> dict[str, str]:
    """The file that each fenced block replaces: by the path above it; with one file, the longest block."""
    named = {file.path: block.text for block in blocks for file in code.files if _names(block.path, file)}
    if named or len(code.files) > 1:
        return {path: _as_the_file(text, code.file(path)) for path, text in named.items()}
    if not blocks:
        return {}
    only = code.files[0]
    return {only.path: _as_the_file(max(blocks, key=lambda block: len(block.text)).text, only)}


def _names(path: str, file: SourceFile) -> bool:
    return bool(path) and (path == file.path or file.path.endswith(f"/{path}") or path.endswith(f"/{file.path}"))


def _as_the_file(text: str, file: SourceFile | None) -> str:
    """Keep the file's line ends, which a model does not see. Rules drawn around its patch are not code."""
    if file is None:
        return text
    text = _without_drawn_lines(text, file.text)
    if "\r\n" in file.text and "\r\n" not in text:
        text = text.replace("\n", "\r\n")
    return text if file.text.endswith("\n") else text.rstrip("\r\n")


def _without_drawn_lines(text: str, before: str) -> str:
    """Drop `---` above and below, unless the file itself begins or ends like that."""
    lines, old = text.splitlines(keepends=True), before.strip().splitlines() or [""]
    first = next((n for n, line in enumerate(lines) if line.strip()), None)
    if first is not None and DRAWN.fullmatch(lines[first].strip()) and not DRAWN.fullmatch(old[0].strip()):
        del lines[: first + 1]
    last = next((n for n in range(len(lines) - 1, -1, -1) if lines[n].strip()), None)
    if last is not None and DRAWN.fullmatch(lines[last].strip()) and not DRAWN.fullmatch(old[-1].strip()):
        del lines[last:]
    return "".join(lines)
