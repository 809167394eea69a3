"""Review of a code change: the adversary objects, tests are run, the defender answers, and few comments are left.

Evidence decides before opinion does: a test that the change broke, then a finding of the scan, then a quoted line.
"""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from moot.core.errors import CutKind, SessionStopped
from moot.core.findings import SEVERITIES, fingerprint, in_question, locate, normalise_evidence, word_similarity
from moot.core.report import count_things
from moot.core.room import Ask, Room
from moot.core.types import Absent, Code, Severity, SourceFile, Tests, Value, Vulnerability
from moot.protocols.review.prompts import prompt
from moot.protocols.review.review_state import Said
from moot.text.excerpts import TextPart, fit_parts, show
from moot.text.render import fence_text, file_diff
from moot.text.replies import Aliases, Synonyms, Title, instructions

REPLY_TOKENS = 2000
ALIKE = 0.4
"""Share of words that makes a point about the same line the same point."""
Evidence = Literal["test", "scan", "quote"]
CommentState = Literal["upheld", "disputed", "dismissed"]
ORDER: tuple[Evidence, ...] = ("test", "scan", "quote")
GRADES = Synonyms(
    (
        ("blocking", "critical"), ("blocker", "critical"), ("severe", "critical"), ("major", "high"),
        ("significant", "high"), ("moderate", "medium"), ("minor", "low"), ("trivial", "low"), ("nit", "low"),
        ("info", "low"),
    )
)  # fmt: skip
STANCES = Synonyms(
    (
        ("accept", "concede"), ("agree", "concede"), ("valid", "concede"), ("reject", "dismiss"), ("refute", "dismiss"),
        ("disagree", "dismiss"), ("invalid", "dismiss"), ("false_positive", "dismiss"),
    )
)  # fmt: skip


class Dismissal(Value):
    """A point that a person dismissed, so that it is not raised again."""

    file: str
    quote: str
    problem: str
    reason: str
    fingerprint: str
    by: str = ""
    at: str = ""


class ReviewComment(Value):
    id: str
    file: str
    line: int
    severity: Severity
    problem: str
    suggestion: str = ""
    quote: str
    evidence: Evidence
    test: str = ""
    ran: str = ""
    """What came of the test."""
    state: CommentState = "upheld"
    answer: str = ""
    """What the defender said against it."""
    fingerprint: str

    @property
    def rank(self) -> tuple[bool, int, int, str, int]:
        return (
            self.state == "dismissed",
            ORDER.index(self.evidence),
            SEVERITIES.index(self.severity),
            self.file,
            self.line,
        )


class ChangeReview(Value):
    """What is left of all points, most serious first; nothing is lost, but only `comments` are for the author."""

    comments: tuple[ReviewComment, ...] = ()
    held_back: tuple[ReviewComment, ...] = ()
    """Below the cap, or dismissed by the defender with evidence."""
    dropped: tuple[str, ...] = ()
    """Points that do not count, each with its reason."""
    dismissed_before: int = 0
    stopped: Literal["reviewed", "no_model", "absent"] | CutKind = "reviewed"
    defended: bool = False


class ReviewPoint(Said):
    """The reasons first, then the choice."""

    problem: Annotated[str, Aliases("concern", "issue", "description", "title")] = Field(
        min_length=1, description="what goes wrong, and when, in one or two sentences"
    )
    quote: Annotated[str, Aliases("evidence", "line", "code")] = Field(
        min_length=1, description="the line it is about, copied word for word from the change"
    )
    test: Annotated[str, Aliases("check", "example")] = Field(
        default="", description="one Python line such as assert f(2) == 4 that fails because of it, or nothing"
    )
    suggestion: Annotated[str, Aliases("fix", "recommendation")] = Field(default="", description="what to do about it")
    severity: Annotated[Severity, GRADES, Aliases("level", "priority")]


class PointList(Value):
    comments: Annotated[tuple[ReviewPoint, ...], Aliases("points", "issues", "concerns", "challenges")] = Field(
        json_schema_extra={"maxItems": 7}
    )


class PointAnswer(Said):
    comment: Annotated[str, Title(), Aliases("id", "point")] = Field(min_length=1, description="the id, such as R1")
    reason: Annotated[str, Aliases("why", "rationale")] = Field(min_length=1, description="your reason")
    quote: Annotated[str, Aliases("evidence", "line")] = Field(
        default="", description="the line of the code that shows it, copied word for word; needed to dismiss"
    )
    answer: Annotated[Literal["concede", "dismiss"], STANCES, Aliases("stance", "verdict", "decision")]


class PointAnswers(Value):
    answers: Annotated[tuple[PointAnswer, ...], Aliases("responses", "defense", "defence")] = Field(min_length=1)


async def review_change(
    code: Code, dismissals: Sequence[Dismissal], most: int, room: Room, *, triage: bool = False, defend: bool = True
) -> ChangeReview:
    """`triage`: only what the scan found is judged; nobody looks for more."""
    points, dropped, stopped, defended = list[ReviewComment](), list[str](), "reviewed", False
    try:
        scan = await room.scan(code)
        points = [as_comment(finding) for finding in scan.findings if in_question(finding, code)]
        if not room.has_model("adversary") and not triage:
            stopped = "no_model"
        elif not triage:
            said = await ask_reviewer(code, dismissals, room)
            if said is None:
                stopped = "absent"
            else:
                fresh, dropped = await sift_points(said, points, code, room)
                points += fresh
        known = [point for point in points if not was_dismissed(point, dismissals)]
        before, points = len(points) - len(known), number_points(known)
        if points and defend and room.has_model("defender"):
            answers = await ask_author(code, points, room)
            points, defended = [judge_point(point, answers, code) for point in points], bool(answers)
        elif points and defend:
            room.degrade("nobody sits as defender: the points were not argued (--defend MODEL)")
    except SessionStopped as cut:
        room.degrade(f"{cut.kind.replace('_', ' ')}: {cut}")
        stopped, before = cut.kind, 0
        points = number_points(points)
    ranked = sorted(points, key=lambda point: point.rank)
    kept = [point for point in ranked if point.state != "dismissed"][:most]
    return ChangeReview(
        comments=tuple(kept),
        held_back=tuple(point for point in ranked if point not in kept),
        dropped=tuple(dropped),
        dismissed_before=before,
        stopped=stopped,  # type: ignore[arg-type]
        defended=defended,
    )


async def ask_reviewer(code: Code, dismissals: Sequence[Dismissal], room: Room) -> PointList | None:
    text = prompt(
        "change",
        change=render_change(code, "adversary", room),
        dismissed=render_dismissals(dismissals),
        form=instructions(PointList),
    )
    said = await room.ask(Ask("adversary", "challenge", 1, prompt("reviewer"), text, PointList, REPLY_TOKENS))
    return None if isinstance(said, Absent) else said


def render_dismissals(dismissals: Sequence[Dismissal]) -> str:
    """In a fence: whoever wrote the file says nothing in Moot's name."""
    if not dismissals:
        return ""
    listed = "\n".join(f"- {each.file}: {each.problem} (turned down: {each.reason})" for each in dismissals)
    return f"These points were turned down before. Do not raise them again:\n{fence_text(listed, 'text')}\n\n"


async def ask_author(code: Code, points: Sequence[ReviewComment], room: Room) -> dict[str, PointAnswer]:
    listed = "\n\n".join(render_point(point) for point in points)
    text = prompt(
        "defend_change",
        change=render_change(code, "defender", room),
        points=listed,
        form=instructions(PointAnswers),
    )
    said = await room.ask(Ask("defender", "answer", 1, prompt("author"), text, PointAnswers, REPLY_TOKENS))
    if isinstance(said, Absent):
        room.degrade("no answer of the defender: the points stand as they were raised")
        return {}
    known = {point.id.casefold(): point.id for point in points}
    return {known[a.comment.strip().casefold()]: a for a in said.answers if a.comment.strip().casefold() in known}


def render_change(code: Code, reader: str, room: Room) -> str:
    """Each file as a diff against what was there before, or whole where it is new."""
    parts = [TextPart(file.path, _render_file(file)) for file in code.files]
    return show(fit_parts(parts, room.allowance()), reader, room).join("\n\n")


def _render_file(file: SourceFile) -> str:
    if file.base is None:
        return f"{file.path}:\n{fence_text(file.text, file.language)}"
    return fence_text(file_diff(file.path, file.base, file.text), "diff")


def render_point(point: ReviewComment) -> str:
    ran = f"\nIts test: {point.test}\n{point.ran}" if point.test else ""
    found = " (found by the scanner)" if point.evidence == "scan" else ""
    return f"{point.id}, {point.severity}, {point.file}:{point.line}{found}: {point.problem}\n> {point.quote}{ran}"


def as_comment(finding: Vulnerability) -> ReviewComment:
    return ReviewComment(
        id=finding.id,
        file=finding.file,
        line=max(finding.line, 1),
        severity=finding.severity,
        problem=finding.description,
        suggestion=finding.fix,
        quote=finding.evidence,
        evidence="scan",
        fingerprint=finding.fingerprint,
    )


async def sift_points(
    said: PointList, found: Sequence[ReviewComment], code: Code, room: Room
) -> tuple[list[ReviewComment], list[str]]:
    """Points whose line is there, that the scan has not made already, and that their own test does not refute."""
    kept, dropped, tried = list[ReviewComment](), list[str](), list[JsonValue]()
    for point in said.comments:
        place = locate(code, point.quote)
        if place is None:
            dropped.append(f"{point.problem}: the quoted line is not in the change")
            continue
        file, line = place
        if any((each.file, each.line) == (file.path, line) for each in found):
            continue
        ran, evidence = await try_point(point, file, code, room)
        if ran:
            tried.append({"problem": point.problem, "test": point.test, "ran": ran, "counts": evidence == "test"})
        if evidence is None:
            dropped.append(f"{point.problem}: its own test passes")
            continue
        kept.append(
            ReviewComment(
                id="",
                file=file.path,
                line=line,
                severity=point.severity,
                problem=point.problem,
                suggestion=point.suggestion,
                quote=point.quote,
                evidence=evidence,
                test=point.test,
                ran=ran,
                fingerprint=fingerprint("review", file.path, point.quote),
            )
        )
    if tried and (turn := room.turn_of(said)) is not None:
        await room.note_run(turn, {"points": tried})
    if dropped:
        room.degrade(f"{count_things(len(dropped), 'point')} dropped, no evidence that can be checked: {dropped[0]}")
    return kept, dropped


async def try_point(point: ReviewPoint, file: SourceFile, code: Code, room: Room) -> tuple[str, Evidence | None]:
    """What came of its test. Proof is a test that passed before the change and fails after it: what a model says must
    come out may be wrong, so a test that fails on both proves nothing. One that passes refutes the point."""
    line = point.test.strip().strip("`").strip()
    if not line.startswith("assert ") or file.language != "python" or "\n" in line:
        return "", "quote"
    module = file.path.removesuffix(".py").replace("/", ".")
    body = f"from {module} import *  # noqa: F403\n\n\ndef test_point():\n    {line}\n"
    tests = Tests(files=(("test_review_point.py", body),), language="python")
    after = await room.execute(code, tests)
    if after.problem or not after.outcomes:
        return f"it could not be run: {after.problem}", "quote"
    if after.passed:
        return "it passes", None
    if file.base is None:
        return "it fails", "quote"
    old = Code(files=tuple(f.model_copy(update={"text": f.base or f.text}) for f in code.files), needs=code.needs)
    before = await room.execute(old, tests)
    return ("it passed before the change and fails now", "test") if before.passed else ("it fails", "quote")


def number_points(points: Sequence[ReviewComment]) -> list[ReviewComment]:
    ranked = sorted(points, key=lambda point: point.rank)
    return [point.model_copy(update={"id": f"R{number}"}) for number, point in enumerate(ranked, start=1)]


def was_dismissed(point: ReviewComment, dismissals: Sequence[Dismissal]) -> bool:
    return any(
        each.fingerprint == point.fingerprint
        and (point.evidence == "scan" or word_similarity(each.problem, point.problem) >= ALIKE)
        for each in dismissals
        if normalise_evidence(each.quote) == normalise_evidence(point.quote)
    )


def judge_point(point: ReviewComment, answers: dict[str, PointAnswer], code: Code) -> ReviewComment:
    """A dismissal counts against opinion where it quotes the code; against a run or the scan it is only a dispute."""
    answer = answers.get(point.id)
    if answer is None or answer.answer == "concede":
        return point.model_copy(update={"answer": answer.reason if answer else ""})
    shown = locate(code, answer.quote) is not None
    state: CommentState = "dismissed" if shown and point.evidence == "quote" else "disputed"
    return point.model_copy(update={"answer": answer.reason, "state": state})
