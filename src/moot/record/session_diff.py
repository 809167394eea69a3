"""Compares two sessions: inputs, first differing step, results."""

from pydantic import JsonValue

from moot.core.ports import StepRow
from moot.core.types import Value
from moot.record.chain import SessionSnapshot
from moot.record.json_diff import JsonDifference, differences, drop_volatile

OWN = ("branch",)
"""Parts of a result that name their session."""


class SessionDiff(Value):
    one: str
    two: str
    related: str = ""
    plan: tuple[JsonDifference, ...] = ()
    same_steps: int = 0
    """Steps before the first difference, with all their parts."""
    at: str = ""
    """The first differing step; empty if none."""
    step: tuple[JsonDifference, ...] = ()
    result: tuple[JsonDifference, ...] = ()

    @property
    def same(self) -> bool:
        return not (self.plan or self.at or self.result)


def compare_sessions(one: SessionSnapshot, two: SessionSnapshot) -> SessionDiff:
    steps = {(s.seq, s.part): s for s in one.steps if s.seq > 0}, {(s.seq, s.part): s for s in two.steps if s.seq > 0}
    places = sorted(steps[0].keys() | steps[1].keys())
    parting = next(
        (place for place in places if _step_fields(steps[0].get(place)) != _step_fields(steps[1].get(place))), None
    )
    unlike = (
        () if parting is None else differences(_step_fields(steps[0].get(parting)), _step_fields(steps[1].get(parting)))
    )
    return SessionDiff(
        one=one.session.id,
        two=two.session.id,
        related=_describe_relation(one, two),
        plan=tuple(differences(one.session.config, two.session.config)),
        same_steps=len({seq for seq, _ in places if parting is None or seq < parting[0]}),
        at="" if parting is None else f"{parting[0]}.{parting[1]}",
        step=tuple(unlike),
        result=tuple(differences(_result(one), _result(two))),
    )


def _step_fields(step: StepRow | None) -> JsonValue:
    return None if step is None else {"name": step.name, "asked": step.digest, "value": drop_volatile(step.value)}


def _result(whole: SessionSnapshot) -> JsonValue:
    outcome = whole.session.outcome
    result = outcome.get("result") if isinstance(outcome, dict) else None
    table = result if isinstance(result, dict) else {}
    return drop_volatile({key: value for key, value in table.items() if key not in OWN}) if result else None


def _describe_relation(one: SessionSnapshot, two: SessionSnapshot) -> str:
    if one.session.parent == two.session.id:
        return f"{one.session.id} was forked from {two.session.id}"
    if two.session.parent == one.session.id:
        return f"{two.session.id} was forked from {one.session.id}"
    return ""
