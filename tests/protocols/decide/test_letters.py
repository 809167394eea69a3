"""Which option an answer names: read however it is written, never guessed."""

import pytest
from pydantic import ValidationError

from moot.core.errors import ParseError
from moot.protocols.decide.ballots import ballot_for, match_challenges, rebuttal_for
from moot.protocols.decide.questions.letters import find_favoured, option_named
from moot.protocols.decide.questions.values import QuestionOption
from moot.text.replies import read

OPTIONS = (
    QuestionOption(id="A", label="Full offline mode", description="with sync"),
    QuestionOption(id="B", label="Online only"),
    QuestionOption(id="C", label="Limited offline"),
)


@pytest.mark.parametrize(
    ("said", "option"),
    [
        ("A", "A"),
        ("a", "A"),
        ("(a)", "A"),
        ("**A**", "A"),
        ("`c`", "C"),
        ("B)", "B"),
        ("B.", "B"),
        ('"B"', "B"),
        ("Option A", "A"),
        ("option b", "B"),
        ("**Option C**", "C"),
        ("Option A: Full offline mode", "A"),
        ("A - Full offline mode", "A"),
        ("I recommend Option A because it is the safest option.", "A"),
        ("My choice: C", "C"),
        ("I choose A.", "A"),
        ("I would go with B", "B"),
        ("Online only", "B"),
        ("online only.", "B"),
        ("a full offline mode", "A"),
        ("We should go for the limited offline variant", "C"),
        ('{"id": "A", "label": "Full offline mode"}', "A"),
        ("Option A is a risk we can take", "A"),
    ],
)
def test_one_option_is_read_however_it_is_written(said: str, option: str) -> None:
    assert option_named(said, OPTIONS) == option


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        ("A or B", "names A and B"),
        ("A, B", "names A and B"),
        ("A/B", "names A and B"),
        ("Option A and Option C", "names A and C"),
        ("Online only, later Option C", "names C and B"),
        ("I recommend C over B", "names B and C"),
        ("D", "no option 'D'"),
        ("Option D", "no option 'D'"),
        ("Option A or Option E", "no option 'E'"),
        ("7", "no option '7'"),
        ("none", "names no option"),
        ("both", "names no option"),
        ("all of them", "names no option"),
        ("A good plan is needed first", "names no option"),
        ("the second one", "names no option"),
        ("", "names no option"),
        ("not C", "what not to choose"),
        ("I would never choose option B", "what not to choose"),
    ],
)
def test_two_none_or_an_unknown_one_are_no_answer(said: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint.replace("(", r"\(")):
        option_named(said, OPTIONS)


def test_a_label_inside_a_longer_one_is_not_meant() -> None:
    options = (QuestionOption(id="A", label="Offline"), QuestionOption(id="B", label="Offline drafts"))
    assert option_named("Offline drafts", options) == "B"
    assert option_named("offline", options) == "A"


def test_ids_may_be_numbers_or_words() -> None:
    options = (QuestionOption(id="1", label="Small"), QuestionOption(id="big", label="The large one"))
    assert (option_named("Option 1", options), option_named("BIG", options)) == ("1", "big")
    assert (
        option_named("_opt_2_", (QuestionOption(id="opt_1", label="x"), QuestionOption(id="opt_2", label="y")))
        == "opt_2"
    )
    with pytest.raises(ValueError, match="no option '3'"):
        option_named("3", options)


@pytest.mark.parametrize(
    ("reply", "option"),
    [
        ('{"analysis": {"A": "x"}, "reasons": "safe", "option": "Option A", "confidence": "HIGH"}', "A"),
        ('Here you are:\n```json\n{"reasons": "safe", "option": "(b)"}\n```', "B"),
        ("REASONS: it is safe\nOPTION: C\nCONFIDENCE: low", "C"),
        ("## My Recommendation\n\n**Chosen Option:** Option A\n**Confidence:** HIGH\n**Rationale:** safe", "A"),
        ('{"reasoning": "safe", "recommendation": "Online only"}', "B"),
        (
            "# Risk Judge Evaluation\n\n## My Recommendation\n\n**Chosen Option:** Option C\n**Confidence:** LOW",
            "C",
        ),
    ],
)
def test_a_ballot_is_read_in_many_forms(reply: str, option: str) -> None:
    assert read(reply, ballot_for(OPTIONS)).value.option == option


@pytest.mark.parametrize(
    "reply",
    [
        "I think Option A is best.",
        '{"reasons": "safe", "option": "A or B"}',
        '{"reasons": "safe", "option": "D"}',
        '{"reasons": "safe"}',
        '{"reasons": "safe", "option": "<one of: A | B | C>"}',
        '{"reasons": "safe", "option": "A"} and {"reasons": "safe", "option": "B"}',
        "",
    ],
)
def test_a_ballot_that_says_too_little_is_not_read(reply: str) -> None:
    with pytest.raises(ParseError):
        read(reply, ballot_for(OPTIONS))


def test_each_of_the_others_must_be_challenged() -> None:
    assert match_challenges(
        {"Value Judge": "no", "the EFFORT": "too slow"} | {"Value Judge": "too rosy"}, ("value", "effort")
    ) == {
        "value": "too rosy",
        "effort": "too slow",
    }
    for said in ({"value": "too rosy"}, {"value": "too rosy", "effort": ""}, {"value": "x", "effort": "none"}):
        with pytest.raises(ValueError, match="does not challenge effort"):
            match_challenges(said, ("value", "effort"))


def test_a_rebuttal_without_a_challenge_is_not_read() -> None:
    shape = rebuttal_for(OPTIONS, ("value",))
    with pytest.raises(ParseError, match="does not challenge value"):
        read('{"challenges": {}, "reasons": "safe", "option": "A"}', shape)
    with pytest.raises(ValidationError):
        shape.model_validate({"reasons": "safe", "option": "A"})
    said = read("CHALLENGES:\nvalue: too rosy\nREASONS: safe\nCONVINCED_BY: NONE\nOPTION: A", shape).value
    assert (said.challenges, said.option) == ({"value": "too rosy"}, "A")


@pytest.mark.parametrize(
    ("reasons", "expected"),
    [
        ("Option B is the safest choice.", "B"),
        ("I recommend option B, as nothing can break.", "B"),
        ("I prefer Online only.", "B"),
        ("Online only remains the better plan for a small team.", "B"),
        ("I prefer A over B.", "A"),
        ("Option B is too risky.", ""),
        ("I do not recommend option B.", ""),
        ("Although option B is the best for users, it is dear.", ""),
        ("A is best, and B is better.", ""),
        ("Users gain most.", ""),
        ("", ""),
    ],
)
def test_which_option_reasons_recommend(reasons: str, expected: str) -> None:
    options = (QuestionOption(id="A", label="Full offline"), QuestionOption(id="B", label="Online only"))
    assert find_favoured(reasons, options) == expected
