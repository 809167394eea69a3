"""What makes two findings the same, where a finding is, and what findings add up to."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.core.findings import add_fingerprints, by_gravity, fingerprint, locate, normalise_evidence, overall_risk
from moot.core.types import Vulnerability
from moot.testing import one_file

CODE = one_file("import os\n\ndef f(x):\n    hits[x] += 1\n    os.system('ls ' + x)\n")


def finding(severity: str, evidence: str = "e", line: int = 1) -> Vulnerability:
    return Vulnerability.model_validate(
        {"id": "", "category": "other", "severity": severity, "description": "", "evidence": evidence, "line": line}
    )


@pytest.mark.parametrize(
    ("evidence", "line"),
    [
        ("os.system('ls ' + x)", 5),
        ("    os.system('ls '   + x)  ;", 5),
        ("line 5: `os.system('ls ' + x)`", 5),
        ("5: os.system('ls ' + x)", 5),
        ("5 | os.system('ls ' + x)", 5),
        ("```python\nos.system('ls ' + x)\n```", 5),
        ("the call `hits[x] += 1` is not atomic", 4),
        ("def f(x):\n    hits[x] += 1", 3),
        ("os.popen(x)", None),
        ("", None),
        ("x", None),
    ],
)
def test_evidence_is_found_where_it_stands(evidence: str, line: int | None) -> None:
    place = locate(CODE, evidence)
    assert (place[1] if place else None) == line


@given(st.text(alphabet=" \tabc()='\n", max_size=40))
def test_layout_does_not_change_a_fingerprint(text: str) -> None:
    spread = " ".join(f" {word}  " for word in text.split())
    assert fingerprint("xss", "a.py", text) == fingerprint("xss", "a.py", spread)
    assert normalise_evidence(normalise_evidence(text)) == normalise_evidence(text)


def test_category_file_line_and_order_tell_findings_apart() -> None:
    prints = {fingerprint(c, f, e, n) for c in ("xss", "auth") for f in ("a", "b") for e in ("x", "y") for n in (1, 2)}
    assert len(prints) == 16
    twins = add_fingerprints([finding("low"), finding("low")])
    assert twins[0].fingerprint != twins[1].fingerprint


@pytest.mark.parametrize(
    ("severities", "said", "risk"),
    [
        ((), None, 0.0),
        ((), 0.9, 0.9),
        (("low",), None, 0.2),
        (("high", "low"), None, 0.76),
        (("high", "medium"), 0.9, 0.9),
        (("high", "medium"), 0.3, 0.82),
    ],
)
def test_risk_is_the_larger_of_said_and_computed(severities: tuple[str, ...], said: float | None, risk: float) -> None:
    assert overall_risk([finding(s) for s in severities], said) == risk


SURE = st.one_of(st.none(), st.floats(0, 1))
SOME = st.lists(st.tuples(st.sampled_from(["critical", "high", "medium", "low"]), SURE), max_size=50)


@given(SOME, st.one_of(st.none(), st.floats(0, 1)), st.randoms(use_true_random=False))
def test_risk_never_rises_when_a_finding_goes(
    severities: list[tuple[str, float | None]], said: float | None, lot: Random
) -> None:
    findings = [finding(severity).model_copy(update={"confidence": sure}) for severity, sure in severities]
    lot.shuffle(findings)
    risks = [overall_risk(findings[:count], said) for count in range(len(findings) + 1)]
    assert risks == sorted(risks) and risks[0] >= 0 and risks[-1] <= 1


def test_many_mild_flaws_are_more_than_the_few_grave_ones_among_them() -> None:
    grave = [finding("critical").model_copy(update={"confidence": 0.6})] * 8
    mild = [finding("medium").model_copy(update={"confidence": 0.6})] * 35
    assert overall_risk([*grave, *mild]) >= overall_risk(grave)


@pytest.mark.parametrize("severity", ["critical", "high"])
def test_a_doubtful_grave_finding_is_never_accepted_by_default(severity: str) -> None:
    assert overall_risk([finding(severity).model_copy(update={"confidence": 0.0})]) > 0.2


def test_the_gravest_come_first() -> None:
    mixed = [finding("low"), finding("critical"), finding("medium"), finding("high")]
    assert [f.severity for f in by_gravity(mixed)] == ["critical", "high", "medium", "low"]
