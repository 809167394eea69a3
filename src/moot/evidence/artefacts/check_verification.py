"""Checks a verification: unchecked must-haves, and a status that its content contradicts."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from moot.evidence.artefacts.values import ArtefactFault, fault
from moot.text.markdown import ENTRY, LONGEST, Page, normalise, plain, words_of

STATUS = re.compile(r"^\W*(?:overall\s+)?status\W*:\W*([A-Za-z_ -]+)", re.IGNORECASE)
SCORE = re.compile(r"(?<![\d/])(\d{1,4})\s*/\s*(\d{1,4})(?![\d/])")
VERDICTS: tuple[tuple[str, str], ...] = (
    (
        "open",
        r"not (?:yet )?(?:checked|verified|tested|run)|unverified|uncertain|pending|skipped|todo|tbd|unknown|\?|human",
    ),
    (
        "bad",
        r"✗|✘|❌|\bfail(?:s|ed|ing)?\b|\bmissing\b|\bstub\b|not[ _]wired|\bblocked\b|\bbroken\b|\borphaned\b"
        r"|\bpartial\b|\bgap\b",
    ),
    (
        "good",
        r"✓|✔|✅|\bverified\b|\bpass(?:ed|es)?\b|\bwired\b|\bsatisfied\b|\bok\b|\byes\b|\bdone\b|\bexists\b|\[x\]",
    ),
)
PASSED = frozenset({"passed", "pass", "verified", "complete", "completed", "success"})
GAPS = frozenset({"gaps_found", "failed", "fail", "gaps"})
HUMAN = re.compile(r"human verification|manual (?:verification|checks?)|needs? a person", re.IGNORECASE)
NOTHING = re.compile(
    r"\W*+(?:none|n/?a|nothing\b.*|no (?:items?|human|manual)\b.*|not (?:needed|required)\b.*)?\W*", re.IGNORECASE
)
SAME = 0.6


@dataclass(frozen=True)
class VerifiedItem:
    what: str
    verdict: str
    """good, bad, open, or empty"""
    evidence: str | None
    line: int


def verification_faults(doc: Page, must_haves: Sequence[str]) -> list[ArtefactFault]:
    checks = checks_in(doc)
    faults = [*_status_faults(doc, checks), *_find_unchecked(doc, checks, must_haves)]
    if not checks and not must_haves:
        faults.append(
            fault(
                "no-checks",
                "critical",
                1,
                "nothing in it says what was checked",
                "List each must-have with its verdict and evidence",
            )
        )
    for c in checks:
        if c.verdict == "good" and c.evidence is not None and NOTHING.fullmatch(c.evidence):
            what = f"{_short(c.what)!r} is called verified without evidence"
            faults.append(fault("no-evidence", "significant", c.line, what, "Say what was run or seen"))
        if not c.verdict:
            what = f"{_short(c.what)!r} has no verdict"
            faults.append(fault("no-verdict", "critical", c.line, what, "Check it, and write down what came of it"))
    return sorted(faults, key=lambda f: f.line)


def checks_in(doc: Page) -> list[VerifiedItem]:
    """Table rows with a status, and check boxes."""
    found = []
    for row in doc.rows:
        status = next((row.cells[c] for c in ("status", "result", "verdict", "verified") if c in row.cells), None)
        names = [
            c
            for c in row.cells
            if c not in ("#", "status", "result", "verdict", "verified", "evidence", "details", "notes")
        ]
        if status is not None and names:
            evidence = next((plain(row.cells[c]) for c in ("evidence", "details", "notes") if c in row.cells), None)
            what = " ".join(plain(row.cells[c]) for c in names)
            found.append(VerifiedItem(what, verdict_of(status), evidence, row.line))
    for line in doc.prose():
        entry = ENTRY.match(line.text[:LONGEST])
        if entry and entry["box"]:
            found.append(
                VerifiedItem(plain(entry["text"]), "open" if entry["box"] == " " else "good", None, line.number)
            )
    return found


def verdict_of(text: str) -> str:
    return next(
        (name for name, words in VERDICTS if re.search(words, text, re.IGNORECASE)), "open" if text.strip() else ""
    )


def status_of(doc: Page) -> tuple[str, int]:
    """The status in lower case, and its line."""
    for number, text in enumerate(doc.text.split("\n")[:200], 1):
        if found := STATUS.match(text[:LONGEST]):
            return "_".join(found[1].strip().lower().replace("-", " ").split()), number
    return "", 0


def _status_faults(doc: Page, checks: Sequence[VerifiedItem]) -> list[ArtefactFault]:
    status, line = status_of(doc)
    if not status:
        return [fault("no-status", "significant", 1, "it has no status", "Say passed, gaps_found or human_needed")]
    faults = []
    if status in PASSED:
        for c in checks:
            if c.verdict in ("bad", "open"):
                how = "failed" if c.verdict == "bad" else "was not settled"
                what = f"the status is {status}, but {_short(c.what)!r} {how}"
                faults.append(fault("contradiction", "critical", c.line, what, "Change the status, or settle it"))
        faults += _for_a_person(doc, status)
    if status in GAPS and checks and all(c.verdict == "good" for c in checks):
        what = f"the status is {status}, but everything listed is verified"
        faults.append(fault("contradiction", "significant", line, what, "List the gap, or change the status"))
    return [*faults, *_score(doc, status)]


def _score(doc: Page, status: str) -> list[ArtefactFault]:
    for number, text in enumerate(doc.text.split("\n")[:200], 1):
        found = SCORE.search(text) if "score" in text[:40].lower() else None
        if found and status in PASSED and found[1] != found[2]:
            what = f"the status is {status}, but the score is {found[0]}"
            return [fault("contradiction", "critical", number, what, "Change the status, or check the rest")]
        if found and status in GAPS and found[1] == found[2]:
            what = f"the status is {status}, but the score is {found[0]}"
            return [fault("contradiction", "significant", number, what, "Correct the score, or change the status")]
    return []


def _for_a_person(doc: Page, status: str) -> list[ArtefactFault]:
    heading = next((h for h in doc.headings if HUMAN.search(h.text)), None)
    if heading is None:
        return []
    below = [
        line.text for line in doc.lines if line.number > heading.line and line.section.endswith(heading.text.lower())
    ]
    if all(NOTHING.fullmatch(text) for text in below):
        return []
    what = f"the status is {status}, but a person still has something to verify"
    return [fault("contradiction", "significant", heading.line, what, "Say human_needed until it was done")]


def _find_unchecked(doc: Page, checks: Sequence[VerifiedItem], must_haves: Sequence[str]) -> list[ArtefactFault]:
    """A must-have is checked if a checked item contains its words."""
    looked = [set(words_of(c.what)) for c in checks]
    whole = normalise("\n".join(c.what for c in checks))
    faults = []
    for must in must_haves:
        wanted = set(words_of(must))
        if (
            wanted
            and normalise(must) not in whole
            and not any(len(wanted & bag) / len(wanted) >= SAME for bag in looked)
        ):
            what = f"a must-have was not checked: {_short(must)}"
            faults.append(fault("unchecked", "critical", 1, what, "Check it, and add it with its evidence"))
    return faults


def _short(text: str) -> str:
    return text if len(text) <= 80 else text[:77] + "…"
