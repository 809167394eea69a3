"""One question in progress: classified, judged in round 1 and perhaps 2, and its verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from moot.core.types import Absent
from moot.protocols.decide.ballots import Ballot, JudgeRebuttal, fit_question
from moot.protocols.decide.questions.classify import classify
from moot.protocols.decide.questions.values import Classification, Judge, PanelQuestion
from moot.protocols.decide.verdicts import (
    USUAL,
    JudgePosition,
    PanelTerms,
    QuestionVerdict,
    away_note,
    changes,
    dissent,
    distribution,
    drift,
    find_agreement,
    first_position,
    perspectives,
    second_position,
    user_prompt,
)

TO_GET_ONE = "--force-panel with --model asks one"


@dataclass(frozen=True)
class DecisionCase:
    question: PanelQuestion
    kind: Classification
    panel: bool
    terms: PanelTerms = USUAL
    first: tuple[JudgePosition, ...] = ()
    second: tuple[JudgePosition, ...] = ()
    advice: Ballot | None = None
    gaps: bool = False
    """A judge was absent, or gave no second answer."""
    cut: bool = False
    """Stopped by budget, deadline or a person before everybody was heard."""
    notes: tuple[str, ...] = ()
    weak: tuple[str, ...] = ()

    @property
    def last(self) -> tuple[JudgePosition, ...]:
        return self.second or self.first

    @property
    def goes_on(self) -> bool:
        """Two or more judges, and no agreement yet."""
        return (
            self.panel
            and not self.cut
            and not self.second
            and len(self.first) > 1
            and find_agreement(self.first, self.terms) is None
        )


def needs_panel(question: PanelQuestion) -> bool:
    return classify(question.text).classification == "SCOPE_CRITICAL"


def open_case(question: PanelQuestion, allowance: int, *, forced: bool, terms: PanelTerms = USUAL) -> DecisionCase:
    kind = classify(question.text)
    panel = forced or needs_panel(question)
    notes = list(kind.notes)
    if not panel:
        notes += [f"classed {kind.classification}: no panel was asked", TO_GET_ONE]
    elif kind.classification != "SCOPE_CRITICAL":
        notes.append(f"classed {kind.classification}: the panel was forced")
    missing = fit_question(question, allowance).whole.missing
    weak = (f"the judges did not see everything: {'; '.join(missing)}",) if missing else ()
    return DecisionCase(question, kind, panel, terms, notes=tuple(notes), weak=weak)


def after_first(
    case: DecisionCase, judges: Sequence[Judge], said: Mapping[str, Ballot | Absent | None]
) -> DecisionCase:
    """The case after round 1. `None`: the session was stopped before that judge answered."""
    first, weak, strayed = [], list(case.weak), list[str]()
    for judge in judges:
        if isinstance(ballot := said[judge.name], Ballot):
            position = first_position(judge, ballot)
            signs = drift(judge, position, [other for other in judges if other != judge])
            weak += signs
            if case.terms.excludes(signs):
                strayed.append(f"{judge.title} left its stance: option {position.option} is not counted")
            else:
                first.append(position)
    away = [(judge, absent) for judge in judges if isinstance(absent := said[judge.name], Absent)]
    gone = [*strayed, *(away_note(judge, absent, len(first)) for judge, absent in away)]
    notes = [*case.notes, *gone]
    if find_agreement(first, case.terms) is not None:
        notes.append("agreement in round 1: round 2 was skipped")
    cut = any(answer is None for answer in said.values())
    return replace(case, first=tuple(first), gaps=bool(gone), cut=cut, notes=tuple(notes), weak=(*weak, *gone))


def after_second(
    case: DecisionCase, judges: Sequence[Judge], said: Mapping[str, JudgeRebuttal | Absent | None]
) -> DecisionCase:
    """The case after round 2. A judge without a second answer keeps its position: silence is no change of mind."""
    if not any(isinstance(answer, JudgeRebuttal) for answer in said.values()):
        return replace(case, cut=True, notes=(*case.notes, "nobody was heard in round 2"))
    if any(answer is None for answer in said.values()):
        return replace(case, cut=True)
    known = {judge.name: judge for judge in judges}
    second, notes, weak, gaps = [], list(case.notes), list(case.weak), case.gaps
    for before in case.first:
        judge, answer = known[before.judge], said[before.judge]
        if not isinstance(answer, JudgeRebuttal):
            why = f"{judge.title} was not heard in round 2: its recommendation of round 1 stands"
            notes, weak = [*notes, why], [*weak, why]
            second.append(before)
            gaps = True
            continue
        names = [*known, *(option.id for option in case.question.options)]
        position = second_position(before, answer, names, case.terms)
        signs = drift(judge, position, [other for other in judges if other != judge])
        weak += signs
        if case.terms.excludes(signs):
            why = f"{judge.title} left its stance in round 2: its recommendation of round 1 stands"
            notes, weak, position = [*notes, why], [*weak, why], before
        second.append(position)
        if position.wanted:
            change = f"from {before.option} to {position.wanted}"
            why = f"{judge.title} wanted to change {change} and did not say what convinced it: not accepted"
            notes, weak = [*notes, why], [*weak, why]
    return replace(case, second=tuple(second), gaps=gaps, notes=tuple(notes), weak=tuple(weak))


def verdict(case: DecisionCase) -> QuestionVerdict:
    last = case.last
    common = QuestionVerdict(
        question_id=case.question.id,
        question_text=case.question.text,
        options=case.question.options,
        classification=case.kind,
        panel=case.panel,
        outcome="INSUFFICIENT_DATA",
        rounds=2 if case.second else 1 if case.first else 0,
        distribution=distribution(last),
        baseline=distribution(case.first),
        perspectives=perspectives(case.first, last),
        change_log=changes(case.first, last),
        positions=(*case.first, *(p for p in case.second if p.round == 2)),
        notes=case.notes,
        degraded=case.weak,
    )
    return common.model_copy(update=_settle_without_panel(case) if not case.panel else _count_positions(case))


def _count_positions(case: DecisionCase) -> dict[str, object]:
    last, option = case.last, find_agreement(case.last, case.terms)
    if case.cut:
        return {"notes": (*case.notes, "cut short before all judges were heard")}
    if len(last) < 2:
        return {"recommended_option": last[0].option if last else None, "notes": (*case.notes, _too_few(last))}
    if option is None:
        return {"outcome": "CONTESTED", "confidence": "REQUIRES_INPUT", "user_prompt": user_prompt(case.question)}
    against = dissent(last, option)
    return {
        "outcome": "RECOMMENDED",
        "consensus": True,
        "agreement": "MAJORITY" if against else "UNANIMOUS",
        "recommended_option": option,
        "confidence": "MEDIUM" if case.gaps else "HIGH",
        "dissent": against,
    }


def _too_few(last: Sequence[JudgePosition]) -> str:
    if not last:
        return "no judge gave a recommendation"
    return f"one judge only: option {last[0].option} is a single recommendation, not an agreement"


def _settle_without_panel(case: DecisionCase) -> dict[str, object]:
    """Without a panel, an adviser's answer is a recommendation of low confidence."""
    if case.cut:
        return {"notes": (*case.notes, "cut short before the adviser was heard")}
    if case.advice is None:
        return {"outcome": "NO_PANEL"}
    said = f"Option {case.advice.option} - {case.advice.reasons}"
    return {"outcome": "NO_PANEL", "recommended_option": case.advice.option, "perspectives": {"advisor": said}}
