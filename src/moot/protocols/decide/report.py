"""Report of a decision."""

from collections import Counter
from collections.abc import Iterator

from moot.core.report import (
    Block,
    Grid,
    Headline,
    Paragraph,
    Report,
    Tone,
    count_things,
    list_figures,
    list_items,
    make_row,
    order_caveats,
)
from moot.protocols.decide.cases import TO_GET_ONE
from moot.protocols.decide.questions.values import Classification
from moot.protocols.decide.script import DecideResult
from moot.protocols.decide.verdicts import QuestionVerdict

TONES: dict[str, Tone] = {"RECOMMENDED": "good"}


def report_decide(result: DecideResult) -> Report:
    blocks: list[Block] = [
        Headline(
            verdict=result.outcome,
            text=_verdict(result),
            caveats=order_caveats(result.degraded),
            tone=TONES.get(result.outcome, "warning"),
        )
    ]
    for verdict in result.questions:
        blocks += _question(verdict, result.session_id)
    return Report(blocks=(*blocks, list_figures(result, count_things(result.rounds, "round"))))


def _verdict(result: DecideResult) -> str:
    full = count_things(result.calls_full_run, "question")
    calls = f"{count_things(result.calls, 'call')}; a full run asks {full}" if result.calls else "no calls"
    calls = "no call was answered" if result.calls_failed and not result.calls else calls
    cut = f"; {result.stop_reason.replace('_', ' ')}, cut short" if result.stop_reason != "decided" else ""
    if len(result.questions) == 1:
        return f"{result.outcome}: {_meaning(result.questions[0])} ({calls}){cut}"
    counts = Counter(verdict.outcome for verdict in result.questions)
    spread = ", ".join(f"{count} {outcome}" for outcome, count in counts.items())
    return f"{result.outcome}: {count_things(len(result.questions), 'question')}, {spread} ({calls}){cut}"


def _meaning(verdict: QuestionVerdict) -> str:
    label = {option.id: option.label for option in verdict.options}
    judges = len({position.judge for position in verdict.positions})
    match verdict.outcome:
        case "RECOMMENDED":
            option = verdict.recommended_option or ""
            for_it = len(verdict.distribution[option])
            how = f"{verdict.agreement.lower()}, {for_it} of {judges} judges, round {verdict.rounds}"
            return f"option {option}, {label[option]}; {how}"
        case "CONTESTED":
            chosen = f"{verdict.choice.by} chose {verdict.choice.option}" if verdict.choice else "it is yours to choose"
            return f"the judges disagree after {count_things(verdict.rounds, 'round')}; {chosen}"
        case "INSUFFICIENT_DATA":
            return f"{count_things(judges, 'judge')} gave a recommendation, too few to agree or disagree"
        case "NO_PANEL":
            said = f"; one adviser recommends {verdict.recommended_option}" if verdict.recommended_option else ""
            return f"classed {verdict.classification.classification}, no panel was asked; {TO_GET_ONE}{said}"


def _question(verdict: QuestionVerdict, session_id: str) -> Iterator[Block]:
    outcome = f"{verdict.outcome}: {_meaning(verdict)}\nclass {describe_class(verdict.classification)}"
    yield Paragraph(title=f"{verdict.question_id}: {verdict.question_text}", text=outcome)
    if verdict.perspectives:
        said = tuple(make_row(judge, _one_line(text)) for judge, text in verdict.perspectives.items())
        yield Grid(columns=("judge", "says"), rows=said)
    changes = [_one_line(f"{c.judge}: {c.before} -> {c.after}: {c.reason}") for c in verdict.change_log]
    yield from list_items("Changed their minds", changes)
    dissent = [_one_line(f"{d.judge}: option {d.option} - {d.reasons}") for d in verdict.dissent]
    yield from list_items("Dissent", dissent)
    yield from list_items("Notes", [_one_line(note) for note in verdict.notes])
    if verdict.choice:
        made = verdict.choice
        yield from list_items("Chosen", [_one_line(f"option {made.option} by {made.by}, {made.at}: {made.reason}")])
    elif verdict.user_prompt:
        later = f"later: moot choose {session_id[:8]} {verdict.question_id} OPTION --reason WHY"
        yield Paragraph(text=f"{verdict.user_prompt}\n{later}")


def describe_class(kind: Classification) -> str:
    words = ", ".join(match.word for match in kind.matched) or "no word of any list"
    return f"{kind.classification} ({kind.confidence}: {words})"


def _one_line(text: str) -> str:
    return " ".join(text.split())
