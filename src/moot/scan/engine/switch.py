"""`match` and `switch`: impossible cases are skipped."""

from moot.scan.engine import facts
from moot.scan.engine.assign import assign, bind
from moot.scan.engine.fold import UNKNOWN, compare
from moot.scan.engine.ir import Attr, Case, Const, Expr, Many, Name, Opaque, Star, Switch, Table, Unary
from moot.scan.engine.machine import Machine
from moot.scan.engine.state import State, join_states, meet
from moot.scan.engine.values import ANY, Val, truth


def switch(m: Machine, s: Switch, state: State) -> bool:
    subject = m.eval(s.subject, state) if s.subject is not None else ANY
    ends: list[State] = []
    carried: State | None = None
    for case in s.cases:
        sure = _matches(m, case, subject, state, s.subject is None)
        if case.guard is not None and sure is True:
            sure = None
        if sure is False and carried is None:
            continue
        inner = m.branch(state) if carried is None else join_states([m.branch(state), carried]) or state
        carried = None
        _enter_case(m, s, case, subject, inner)
        if m.block(case.body, inner):
            if case.falls:
                carried = inner
            else:
                ends.append(inner)
        if sure is True and not case.falls:
            return meet(state, ends)
    return meet(state, [*ends, m.branch(state), *([carried] if carried is not None else [])])


def _matches(m: Machine, case: Case, subject: Val, state: State, conditions: bool) -> bool | None:
    if not case.patterns:
        return True
    results = [_fits(m, pattern, subject, state, conditions) for pattern in case.patterns]
    if any(result is True for result in results):
        return True
    return False if all(result is False for result in results) else None


def _fits(m: Machine, pattern: Expr, subject: Val, state: State, conditions: bool) -> bool | None:
    if conditions:
        return truth(m.eval(pattern, state))
    if isinstance(pattern, Name):
        return True
    if isinstance(pattern, Const | Attr | Unary):
        wanted = m.eval(pattern, state).const
        if wanted is UNKNOWN or subject.const is UNKNOWN:
            return None
        result = compare("==", subject.const, wanted)
        return result if isinstance(result, bool) else None
    return None


def _enter_case(m: Machine, s: Switch, case: Case, subject: Val, state: State) -> None:
    known = bool(case.patterns) and all(isinstance(pattern, Const) for pattern in case.patterns)
    if known and subject.taints and len(case.patterns) > 1 and s.subject is not None:
        state.proved |= facts.about(subject.taints, "*")
    elif len(case.patterns) == 1 and s.subject is None:
        state.proved |= m.eval(case.patterns[0], state).facts.true
    elif len(case.patterns) == 1:
        pattern = case.patterns[0]
        if isinstance(pattern, Const) and isinstance(s.subject, Name) and s.subject.id in state.names:
            state.names[s.subject.id] = Val(const=pattern.value)
        elif isinstance(pattern, Const) and subject.taints:
            state.proved |= facts.about(subject.taints, "*")
        else:
            _capture(m, pattern, subject, state)
    if case.guard is not None:
        state.proved |= m.eval(case.guard, state).facts.true


def _capture(m: Machine, pattern: Expr, subject: Val, state: State) -> None:
    match pattern:
        case Name():
            if pattern.id != "_":
                bind(m, pattern.id, subject, state, pattern.at)
        case Many() | Table():
            assign(m, pattern, subject, state)
        case Star():
            _capture(m, pattern.value, subject, state)
        case Opaque():
            for part in pattern.parts:
                _capture(m, part, subject, state)
        case _:
            pass
