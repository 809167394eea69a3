"""Report of a review."""

from collections.abc import Iterator

from moot.core.report import (
    Block,
    Cell,
    Grid,
    Headline,
    Listing,
    Paragraph,
    Report,
    Tone,
    count_things,
    list_figures,
    list_items,
    make_row,
    order_caveats,
)
from moot.core.types import Severity
from moot.protocols.review.changes import ChangeReview, ReviewComment
from moot.protocols.review.script import ArtefactReview, ReviewResult

MEANINGS = {
    "no_objections": "the adversary has no objections left",
    "converged": "nothing is left that is worth another round; the defender had the last word",
    "deadlock": "neither side moves; the defender had the last word",
    "unresolved": "all rounds are used and grave challenges still stand; the defender had the last word",
    "challenged": "challenges that nobody answered",
    "inconclusive": "the adversary gave no usable answer",
    "structural_only": "structural checks alone; nobody challenged it",
    "switched_off": "structural checks alone; the project's configuration switches the debate off",
    "timed_out": "the time ran out; this is what was said so far",
    "budget_exhausted": "the budget ran out; this is what was said so far",
    "cancelled": "stopped by the user; this is what was said so far",
    "rejected": "rejected at a gate; this is what was said so far",
}
TONES: dict[str, Tone] = {"no_objections": "good", "converged": "good", "unresolved": "bad", "deadlock": "bad"}
GRAVITY_TONES: dict[str, Severity] = {"critical": "critical", "significant": "medium", "minor": "low"}


def report_review(result: ReviewResult) -> Report:
    if result.change is not None:
        return report_change(result, result.change)
    alone = len(result.artefacts) == 1
    first = result.artefacts[0]
    text = f"{result.outcome}: the worst outcome of {len(result.artefacts)} documents"
    text = f"{_verdict(first)} ({first.path})" if alone else text
    left = sum(len(review.faults_left) for review in result.artefacts)
    tone = TONES.get(result.outcome, "warning")
    blocks: list[Block] = [
        Headline(
            verdict=result.outcome,
            text=f"{text}; {count_things(left, 'structural finding')} open" if left else text,
            caveats=order_caveats(result.degraded),
            tone="warning" if left and tone == "good" else tone,
        )
    ]
    blocks += [] if alone else [_overview(result)]
    for review in result.artefacts:
        blocks += _artefact(review, alone=alone)
    return Report(blocks=(*blocks, list_figures(result, count_things(result.rounds, "round"))))


def report_change(result: ReviewResult, change: ChangeReview) -> Report:
    meaning = "every point was dropped" if change.dropped else "nobody objects"
    meaning = count_things(len(change.comments), "comment") if change.comments else meaning
    text = MEANINGS[result.outcome] if change.stopped not in ("reviewed", "no_model", "absent") else meaning
    blocks: list[Block] = [
        Headline(
            verdict=result.outcome,
            text=f"{result.outcome}: {text}",
            caveats=order_caveats(result.degraded),
            tone=TONES.get(result.outcome, "warning"),
        )
    ]
    blocks += [_comment(each) for each in change.comments]
    held = [f"{each.file}:{each.line}: {each.problem} ({_why_held(each)})" for each in change.held_back]
    blocks += [*list_items("Held back", held), *list_items("Not counted", list(change.dropped))]
    if change.dismissed_before:
        many = count_things(change.dismissed_before, "point")
        blocks.append(Paragraph(text=f"{many} dismissed before left out"))
    return Report(blocks=(*blocks, list_figures(result, count_things(result.rounds, "round"))))


def _comment(comment: ReviewComment) -> Block:
    shown = {"test": "an executed test", "scan": "the scanner", "quote": "the quoted line"}[comment.evidence]
    lines = [comment.problem, f"evidence: {shown}: {comment.quote.strip()}"]
    lines += [f"test: {comment.test} ({comment.ran})"] if comment.test and comment.ran else []
    lines += [f"fix: {comment.suggestion}"] if comment.suggestion else []
    lines += [f"disputed: {comment.answer}"] if comment.state == "disputed" else []
    return Paragraph(title=f"{comment.id} {comment.severity}: {comment.file}:{comment.line}", text="\n".join(lines))


def _why_held(comment: ReviewComment) -> str:
    return f"dismissed: {comment.answer}" if comment.state == "dismissed" else "below the cap"


def _verdict(review: ArtefactReview) -> str:
    why = f" ({review.why})" if review.why else ""
    return f"{review.outcome}: {MEANINGS[review.outcome]}{why}"


def _artefact(review: ArtefactReview, *, alone: bool) -> Iterator[Block]:
    kind = f"type: {review.type}, {review.guessed}"
    clear = [] if review.faults else ["structural checks: nothing found"]
    verdict = [] if alone else [_verdict(review)]
    yield Paragraph(title="" if alone else review.path, text="\n".join((*verdict, kind, *clear)))
    yield from _faults(review)
    yield from _challenges(review)
    yield from list_items("Not counted", _not_counted(review))
    if review.diff:
        yield Listing(language="diff", text=review.diff)


def _not_counted(review: ArtefactReview) -> list[str]:
    lines = []
    if review.dropped:
        why = review.dropped_challenges[0].why
        many = count_things(review.dropped, "challenge")
        lines.append(f"{many} dropped: no evidence that can be checked ({why})")
    for turn in review.rounds:
        lines += [f"round {turn.round}: a challenge is not counted, {again.why}" for again in turn.repeated]
        if turn.revision_refused:
            lines.append(f"round {turn.round}: the revision was not accepted: {turn.revision_refused}")
    return lines


def _faults(review: ArtefactReview) -> Iterator[Block]:
    left = {(f.rule, f.what) for f in review.faults_left}
    rows = [
        make_row(
            str(f.line),
            _gravity(f.severity),
            f.what,
            f.recommendation,
            "open" if (f.rule, f.what) in left else "fixed",
        )
        for f in review.faults
    ]
    if rows:
        yield Grid(columns=("line", "severity", "structural finding", "what to do", "state"), rows=tuple(rows))


def _challenges(review: ArtefactReview) -> Iterator[Block]:
    rows = []
    for v in review.challenges:
        c = v.challenge
        state = v.state if v.confirmed or v.state == "unresolved" else f"{v.state}, says the defender"
        reason = f": {v.answer.reason}" if v.answer else ""
        advice = f"\nadvice: {c.recommendation}" if c.recommendation else ""
        concern = f"{c.concern}\nevidence: {c.evidence}{advice}"
        rows.append(make_row(v.id, _gravity(c.severity), c.category, concern, f"{state}{reason}"))
    if rows:
        yield Grid(columns=("id", "severity", "category", "challenge", "became of it"), rows=tuple(rows))


def _overview(result: ReviewResult) -> Grid:
    rows = [
        make_row(
            r.path,
            r.outcome,
            *(str(n) for n in (len(r.faults_left), len(r.challenges), len(r.list_standing()), r.dropped)),
            "yes" if r.revised else "no",
        )
        for r in result.artefacts
    ]
    columns = ("document", "outcome", "findings", "challenges", "standing", "dropped", "revised")
    return Grid(columns=columns, rows=tuple(rows))


def _gravity(severity: str) -> Cell:
    return Cell(text=severity, tone=GRAVITY_TONES[severity])
