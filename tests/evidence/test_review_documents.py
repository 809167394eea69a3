"""CHALLENGES and NO OBJECTIONS: what we write is read again as it was meant, also in the seed's own wording."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.core.errors import ParseError
from moot.evidence.artefacts.documents import challenges_document, find_challenges, no_objections_document, one_line
from moot.evidence.artefacts.kinds import CATEGORIES
from moot.evidence.artefacts.values import GRAVITIES, Assessment, Challenge
from moot.protocols.review.adversary import Opening, Rebuttal, reply_shape
from moot.text.replies import read

PLAIN = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cf", "Cs", "Zl", "Zp")), min_size=1, max_size=80
)
TEXTS = PLAIN.map(one_line).filter(
    lambda t: any(c.isalnum() for c in t) and "`" not in t and not t.startswith(("<", "*", "_"))
)
CHALLENGES = st.builds(
    Challenge,
    number=st.just(0),
    round=st.just(2),
    category=st.sampled_from(sorted(CATEGORIES["plan"])),
    concern=TEXTS,
    evidence=TEXTS,
    severity=st.sampled_from(GRAVITIES),
    recommendation=TEXTS,
)
STATES = st.sampled_from(["addressed", "rejected", "unaddressed"])


@settings(max_examples=200)
@given(st.lists(CHALLENGES, min_size=1, max_size=4), st.lists(st.tuples(STATES, TEXTS), min_size=1, max_size=3))
def test_what_is_written_is_read_again(challenges: list[Challenge], states: list[tuple[str, str]]) -> None:
    numbered = [c.model_copy(update={"number": n}) for n, c in enumerate(challenges, 1)]
    said = [
        Assessment.model_validate({"challenge": f"C{n}", "status": s, "notes": t}) for n, (s, t) in enumerate(states, 1)
    ]
    text = challenges_document(numbered, 2, 3, said, "converging", len(numbered))
    again = read(text, reply_shape("plan", 2)).value
    assert isinstance(again, Rebuttal)
    assert [(c.category, c.concern, c.severity) for c in again.challenges] == [
        (c.category, c.concern, c.severity) for c in numbered
    ]
    assert [(a.previous_challenge, a.status) for a in again.assessment] == [(a.challenge, a.status) for a in said]
    assert again.convergence == "converging"


SEED = """## CHALLENGES

**Round:** 2/3

### Challenge 1: Completeness
**Concern:** There is no way back
**Evidence:** "book a free berth" has no counterpart
**Severity:** critical
**Recommendation:** Add cancelling

### Challenge 2: User focus
**Concern:** It speaks of tables
**Evidence:** "One table"
**Severity:** minor
**Recommendation:** Speak of visitors

### Defense Assessment

| Previous Challenge | Status | Notes |
|-------------------|--------|-------|
| Challenge 1 | addressed | a link was added \\| and tested |
| [Challenge 2] | unaddressed | still a concern |

### Convergence Assessment

**Status:** continue
**Remaining concerns:** 2
**Recommendation:** continue debate
"""
ONE = '{"concern": "c", "evidence": "e", "category": "coverage", "severity": "minor"}'
NO_OBJECTIONS = """## NO OBJECTIONS

**Round:** 2/3

All challenges from previous round have been adequately addressed.

### Summary
- Challenge 1: Addressed by a link
- [Challenge 2]: Rejected with valid rationale

### Confidence
The artifact is sound. Proceeding is appropriate.
"""


def test_the_form_of_the_seed_is_read() -> None:
    said = read(SEED, reply_shape("requirements", 2)).value
    assert isinstance(said, Rebuttal)
    assert [(c.category, c.severity, c.recommendation) for c in said.challenges] == [
        ("completeness", "critical", "Add cancelling"),
        ("user focus", "minor", "Speak of visitors"),
    ]
    assert [(a.previous_challenge, a.status, a.notes) for a in said.assessment] == [
        ("Challenge 1", "addressed", "a link was added | and tested"),
        ("[Challenge 2]", "unaddressed", "still a concern"),
    ]
    assert said.convergence == "continue"


@pytest.mark.parametrize("text", [NO_OBJECTIONS, no_objections_document(2, 3, {"C1": "addressed: a link"})])
def test_no_objections_is_an_answer_in_every_round(text: str) -> None:
    first = read(text, reply_shape("plan", 1)).value
    later = read(text, reply_shape("plan", 2)).value
    assert isinstance(first, Opening) and first.challenges == ()
    assert isinstance(later, Rebuttal) and later.challenges == ()
    assert [(a.previous_challenge, a.status) for a in later.assessment] == [("all", "addressed")]


@pytest.mark.parametrize(
    "text",
    [
        NO_OBJECTIONS + SEED,
        SEED + "\n## NO OBJECTIONS\n",
        f'## NO OBJECTIONS\n\n{{"challenges": [{ONE}]}}',
        "## NO OBJECTIONS\n\n### Challenge 1: Coverage\n**Concern:** Nobody can cancel\n",
        '{"challenges": []}\n\n' + SEED,
        "There is nothing wrong with it, well done.",
        "I'm sorry, I cannot help with that.",
        "",
        "CHALLENGES:\nmany",
    ],
    ids=["both", "turned round", "json", "half a challenge", "json denies", "praise", "refusal", "empty", "no items"],
)  # fmt: skip
def test_neither_a_contradiction_nor_talk_is_an_answer(text: str) -> None:
    for kind in ("requirements", "verification"):
        with pytest.raises(ParseError):
            read(text, reply_shape(kind, 1))


def challenge(number: int, concern: str) -> Challenge:
    return Challenge(number=number, round=1, category="coverage", concern=concern, evidence="e", severity="minor")


@pytest.mark.parametrize(
    ("reference", "numbers"),
    [
        ("C2", [2]), ("c2", [2]), ("Challenge 2", [2]), ("[Challenge 2]", [2]), ("2", [2]), ("C1 and C2", [1, 2]),
        ("all", [1, 2]), ("C7", []), ("The cancel link is missing", [1]), ("nothing of it", []), ("", []),
    ],
)  # fmt: skip
def test_which_challenge_is_meant(reference: str, numbers: list[int]) -> None:
    both = [challenge(1, "The cancel link is missing."), challenge(2, "The table is empty")]
    assert [c.number for c in find_challenges(reference, both)] == numbers
