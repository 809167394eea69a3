"""Report of a debate and its winner."""

from collections.abc import Iterator

from moot.core.report import (
    Block,
    Bullets,
    Cell,
    Grid,
    Headline,
    Listing,
    Paragraph,
    Report,
    Tone,
    correct_counts,
    count_things,
    language_of,
    list_figures,
    list_items,
    make_row,
    order_caveats,
)
from moot.protocols.debate.acts import RoleAct
from moot.protocols.debate.phases.planning import list_unmet
from moot.protocols.debate.types import Candidate, DebateResult, Vote
from moot.teams.planning.cognition import Emphasis
from moot.teams.voting import Factor, RankedBallot
from moot.teams.weighting import ENOUGH_RESULTS, HIGHEST_SCORE, BallotWeight

MEANINGS = {
    "chosen": "without the agreement that was asked for",
    "contested": "the best candidates behave differently, and nothing that was run says which is right",
    "inconclusive": "no usable result",
    "timed_out": "the time ran out; this is the best so far",
    "budget_exhausted": "the budget ran out; this is the best so far",
    "cancelled": "stopped by the user; this is the best so far",
    "rejected": "rejected at a gate; this is the best so far",
}
TONES: dict[str, Tone] = {"agreed": "good", "chosen": "good", "unresolved": "bad"}
OWN_ENDS = frozenset({"alike_and_green", "tests", "consensus", "evidence", "unchanged", "max_rounds"})
"""Stop reasons of a debate that came to its regular end."""
RATINGS = 8
"""Drafts whose rating is shown."""
RAN = {True: "passes", False: "fails", None: "was not run on"}


def report_debate(result: DebateResult) -> Report:
    blocks: list[Block] = [
        Headline(
            verdict=result.outcome,
            text=_verdict(result),
            caveats=order_caveats(result.degraded),
            tone=TONES.get(result.outcome, "warning"),
        )
    ]
    if result.why:
        blocks.append(Paragraph(text=result.why))
    blocks += _phases(result)
    blocks += _ratings(result)
    blocks += list_items("Candidates", [_describe(candidate) for candidate in result.candidates])
    claims = [f"{c.id} {c.call} == {c.expected} ({c.status}: {c.why})" for c in result.claims]
    blocks += list_items("Tests from the words of the task", claims)
    blocks += list_items("What single roles did", [_describe_act(act) for act in result.acts])
    blocks += list_items("Not seated", [f"{each.role}: {each.why}" for each in result.unseated])
    if result.votes:
        blocks += _vote(result.votes[-1])
    blocks += list_items("Dissent", result.dissent)
    blocks += list_items("Assumptions", result.assumptions)
    blocks += list_items("Still unclear", result.remaining_ambiguities)
    blocks += list_items("Remaining risks", result.remaining_risks)
    blocks += list_items("Not done of the plan", list_unmet(result.criteria))
    blocks += list_items("Given more weight", [_describe_emphasis(each) for each in result.emphases])
    blocks += _lessons(result)
    if result.code:
        blocks.append(Listing(language=language_of(result.path), text=result.code))
    elif result.text:
        blocks.append(Paragraph(text=result.text.rstrip("\n")))
    figures = (*_account(result), *_describe_hearing(result))
    return Report(blocks=(*blocks, list_figures(result, count_things(result.rounds, "round"), *figures)))


def _lessons(result: DebateResult) -> Iterator[Block]:
    recalled = [f"{lesson.id} {lesson.text} ({lesson.verdict})" for lesson in result.lessons_told]
    yield from list_items("Lessons that were told", recalled)
    learnt = [f"{lesson.id} {lesson.text} ({lesson.kind} by {lesson.source})" for lesson in result.lessons_learnt]
    yield from list_items("Lessons learnt", learnt)


def _verdict(result: DebateResult) -> str:
    who = f" {result.winner}" if result.winner else ""
    known = result.known if result.tested else _describe_grade(result)
    return f"{result.outcome}{who}: {'; '.join(filter(None, (_meaning(result), known)))}"


def _describe_grade(result: DebateResult) -> str:
    """What an untested result rests on."""
    if not result.path:
        return "by ballots, nothing was run"
    if result.grade != "agreed":
        return "not tested: opinion only"
    often = f"; right in {round(10 * result.sure)} of 10 cases like this" if result.sure is not None else ""
    if often and language_of(result.path) != "python":
        often += ", measured on Python only"
    return f"not tested by you, agreed by evidence{often}"


def _meaning(result: DebateResult) -> str:
    if result.outcome != "unresolved":
        return MEANINGS.get(result.outcome, "")
    failing = result.passed < result.of or not result.remaining_risks
    return "it fails tests" if failing else "critical or high findings are left in it"


def _account(result: DebateResult) -> Iterator[tuple[str, str]]:
    """What stopping early saved, and whether the debate helped."""
    saved = max(result.calls_full_run - result.calls, 0)
    at_its_end = not result.resumable and not result.calls_failed and result.stop_reason in OWN_ENDS
    rest = f"{saved} saved" if at_its_end else "nothing was saved: it did not come to its end"
    yield "calls", f"{result.calls}; {result.calls_full_run} in a full run, {rest}"
    flips = result.flips
    if flips.by != "nothing":
        change = "helped" if flips.helped else "harmed" if flips.harmed else "changed nothing"
        by = "the hidden tests" if flips.by == "hidden" else "the tests everybody saw"
        yield (
            "effect",
            f"the vote of the first answers {RAN[flips.baseline]} {by}, the result {RAN[flips.result]} them: "
            f"the debate {change}",
        )


def _describe_emphasis(emphasis: Emphasis) -> str:
    return f"round {emphasis.round}: {emphasis.phase} x {emphasis.weight:g}, short of {', '.join(emphasis.parts)}"


def _describe_hearing(result: DebateResult) -> Iterator[tuple[str, str]]:
    """Only where a topology shows less than a mesh."""
    tokens = result.heard_tokens
    if result.topology == "graph_mesh" or not tokens.mesh:
        return
    spent = tokens.shown + tokens.aside
    rest = f"{tokens.mesh - spent} saved" if spent < tokens.mesh else f"{spent - tokens.mesh} more"
    yield (
        "heard",
        f"about {tokens.shown} tokens of others' turns, {tokens.aside} for relays and delegations; "
        f"a mesh would have shown {tokens.mesh} of the same turns: {rest}",
    )


def _phases(result: DebateResult) -> Iterator[Block]:
    rows = []
    led_by = any(phase.leader for phase in result.phases)
    for phase in result.phases:
        did = correct_counts(phase.said)
        said = did if phase.status == "held" else f"{phase.status}: {did}"
        cut = f"; cut short: {phase.cut}" if phase.cut else ""
        led = (phase.leader,) if led_by else ()
        rows.append(make_row(str(phase.round), phase.phase, str(phase.calls), *led, said + cut))
    if rows:
        led = ("led by",) if led_by else ()
        yield Grid(columns=("round", "phase", "calls", *led, "what it did"), rows=tuple(rows))


def _ratings(result: DebateResult) -> Iterator[Block]:
    """Why this draft: how alike others behave and which predictions it meets, one row for each behaviour."""
    rows = [
        make_row(r.name, f"{r.alike} of {r.drafts}", f"{r.company:.2f}", f"{r.met} of {r.of}", f"{r.score:.3f}")
        for r in result.ratings[:RATINGS]
    ]
    if len(rows) > 1:
        yield Grid(columns=("draft", "behave alike", "overlap", "predictions met", "score"), rows=tuple(rows))


def _describe(candidate: Candidate) -> str:
    checked = candidate.checked
    ran = f"{checked.passed} of {checked.of} tests" if checked.of else "not tested"
    agreed = f", {checked.agreed} of {checked.agreed_of} agreed" if checked.agreed_of else ""
    parent = f" from {candidate.parent}" if candidate.parent else ""
    dropped = f"; set aside: {candidate.dropped}" if candidate.dropped else ""
    return f"{candidate.id} by {candidate.seat} ({candidate.phase}{parent}): {ran}{agreed}{dropped}"


def _describe_act(act: RoleAct) -> str:
    role = "" if act.role == act.seat else f" ({act.role})"
    return f"{act.seat}{role}, {act.phase}, round {act.round}: {act.effect}"


def _stated(vote: Vote, ballot: RankedBallot) -> str:
    """What the voter itself said, where its record says something else."""
    own = next((weight for weight in vote.weights if weight.voter == ballot.voter and weight.calibrated), None)
    return f", stated {own.stated:.2f}" if own and own.stated is not None else ""


def _weigh(weight: BallotWeight) -> tuple[Cell, ...]:
    if weight.stated is None:
        sure = "not stated"
    elif weight.calibrated:
        sure = f"{weight.stated:.2f} stated, calibrated by {weight.results} results"
    else:
        sure = f"{weight.stated:.2f}, uncalibrated: {weight.results} of {ENOUGH_RESULTS} results"
    known: dict[Factor, str | None] = {
        "score": None if weight.score is None else f"{weight.score:g} of {HIGHEST_SCORE}",
        "diversity": None if weight.diversity is None else f"{weight.diversity:.0%}",
        "history": None if weight.history is None else f"{weight.history:.0%}",
    }
    factors = [f"{value or 'unknown'}: ×{weight.factors[name]:g}" for name, value in known.items()]
    return make_row(weight.voter, f"{sure}: ×{weight.factors['confidence']:g}", *factors, f"{weight.weight:g}")


def _vote(vote: Vote) -> Iterator[Block]:
    """The ballots, then the pairwise preferences."""
    if not vote.ballots:
        return
    lines = []
    for ballot in vote.ballots:
        order = " > ".join("=".join(group) for group in ballot.ranking)
        sure = "" if ballot.confidence is None else f" ({ballot.confidence:.2f}{_stated(vote, ballot)})"
        lines.append(f"{ballot.voter}: {order}{sure} {vote.reasons.get(ballot.voter, '')}".rstrip())
    yield Bullets(title=f"Ballots, round {vote.round}, counted by {vote.election.method}", entries=tuple(lines))
    if vote.weights and vote.election.method == "weighted":
        columns = ("voter", "confidence", "tests passed", "other models", "right before", "weight")
        yield Grid(title="What each ballot weighs", columns=columns, rows=tuple(map(_weigh, vote.weights)))
    names, pairwise = vote.candidates, vote.election.pairwise
    rows = [
        make_row(name, *("-" if other == name else str(pairwise.get(name, {}).get(other, "")) for other in names))
        for name in names
    ]
    yield Grid(columns=("beats", *names), rows=tuple(rows))
