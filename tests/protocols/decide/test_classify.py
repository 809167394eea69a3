"""Questions are classed by words alone: whole words, in the order of the classes, and the words are shown."""

import pytest

from moot.protocols.decide.questions.classify import CLASSES, classify, word_lists

SCOPE, UX, TECH, RULE = CLASSES


@pytest.mark.parametrize(
    ("text", "kind", "confidence", "word"),
    [
        ("Should we support guests?", SCOPE, "HIGH", "should we support"),
        ("Is the import in scope?", SCOPE, "HIGH", "in scope"),
        ("Is the import ıN SCOPE?", SCOPE, "HIGH", "in scope"),
        ("Is this out-of-scope?", SCOPE, "HIGH", "out of scope"),
        ("What goes into the MVP?", SCOPE, "HIGH", "MVP"),
        ("what goes into the mvp?", SCOPE, "HIGH", "MVP"),
        ("Is that for Phase 2?", SCOPE, "HIGH", "phase 2"),
        ("Can it come later?", SCOPE, "HIGH", "later"),
        ("Is search a must-have?", SCOPE, "HIGH", "must have"),
        ("Is search nice to have?", SCOPE, "HIGH", "nice to have"),
        ("Is the phone number optional?", SCOPE, "HIGH", "optional"),
        ("What is the maximum length?", SCOPE, "HIGH", "maximum"),
        ("Is there a cap on members?", SCOPE, "HIGH", "cap"),
        ("Do we hide it behind a feature flag?", SCOPE, "HIGH", "feature flag"),
        ("Who may enable it?", SCOPE, "HIGH", "enable"),
        ("Should we do it at all?", SCOPE, "MEDIUM", "should we"),
        ("What colour has the header?", UX, "HIGH", "colour"),
        ("Where does the button go?", UX, "HIGH", "button"),
        ("Is the dialog modal?", UX, "HIGH", "modal"),
        ("Which totals are shown?", UX, "MEDIUM", "shown"),
        ("Which database holds the events?", TECH, "HIGH", "database"),
        ("REST or GraphQL?", TECH, "HIGH", "REST"),
        ("How long is the timeout?", TECH, "HIGH", "timeout"),
        ("How do we implement it?", TECH, "MEDIUM", "implement"),
        ("Who approves a refund?", RULE, "HIGH", "refund"),
        ("How long is the grace period?", RULE, "HIGH", "grace period"),
        ("How is the total calculated?", RULE, "MEDIUM", "calculated"),
        ("What about Tuesdays?", RULE, "LOW", ""),
        ("", RULE, "LOW", ""),
    ],
)
def test_a_question_gets_its_class_and_the_word_that_gave_it(text: str, kind: str, confidence: str, word: str) -> None:
    found = classify(text)
    assert (found.classification, found.confidence, found.matched_indicator) == (kind, confidence, word)
    assert not found.compound


@pytest.mark.parametrize(
    "text",
    [
        "How do we capture the signature?",  # cap
        "What does the translater do?",  # later
        "Is it enabling?",  # enable
        "Does v1.2 of it run?",  # v1
        "Is the mvpx here?",  # MVP
        "Does it relimit?",  # limit
    ],
)
def test_a_word_inside_another_word_is_no_match(text: str) -> None:
    assert classify(text).classification != SCOPE, classify(text).matched


@pytest.mark.parametrize(
    ("text", "kind", "behind"),
    [
        ("Is the button in scope?", SCOPE, {UX}),
        ("Does the button call a REST endpoint with a discount?", UX, {TECH, RULE}),
        ("Is there a limit for discounts?", SCOPE, {RULE}),
        ("Is the price kept in the database?", TECH, {RULE}),
        ("Should we make the button blue?", UX, set()),  # a hint at scope does not outweigh a plain word
    ],
)
def test_the_classes_have_an_order_and_explicit_words_come_first(text: str, kind: str, behind: set[str]) -> None:
    found = classify(text)
    assert found.classification == kind
    assert {match.question_class for match in found.matched} == {kind}
    assert {match.question_class for match in found.other} == behind


def test_every_matching_word_is_shown_with_its_group() -> None:
    found = classify("Do we need a cap in v1?")
    assert [(m.group, m.word) for m in found.matched] == [("scope", "do we need"), ("phase", "v1"), ("boundary", "cap")]


def test_of_several_questions_the_first_counts_and_the_others_are_not_hidden() -> None:
    found = classify("Which colour has it? Is export in scope for v1?")
    assert (found.classification, found.compound) == (UX, True)
    assert found.notes[0].startswith("COMPOUND: 2 questions") and "SCOPE_CRITICAL (in scope)" in found.notes[1]
    harmless = classify("Which colour has it? Which font?")
    assert harmless.compound and len(harmless.notes) == 1


def test_a_text_before_one_question_belongs_to_it() -> None:
    found = classify("Clinics want reminders in the MVP. What do we do?")
    assert (found.classification, found.compound) == (SCOPE, False)


def test_every_word_of_every_list_is_found_by_itself_and_stands_there_once() -> None:
    for kind, strengths in word_lists().items():
        words = [word.lower() for listed in strengths.values() for _, word, _ in listed]
        assert len(words) == len(set(words)), sorted(word for word in words if words.count(word) > 1)
        for listed in strengths.values():
            for _, word, pattern in listed:
                assert pattern.search(f"Is it {word}?"), (kind, word)
                assert not pattern.search(f"Is it x{word}x?"), (kind, word)


def test_a_long_text_is_classed_in_its_length() -> None:
    assert classify("word " * 20_000).classification == RULE
    assert classify("why? " * 20_000).compound
