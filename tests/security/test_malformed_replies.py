"""The short form of `malformed_replies`, and the cases that it found."""

from collections import Counter

import pytest
from malformed_replies import attack_reader, good_replies, put_reply, refuse_nothing

from moot.protocols.debate.phases.critique import CritiqueReply
from moot.text.replies import ParseError, read


def test_every_good_reply_is_read() -> None:
    fates = [(shape.__name__, put_reply(shape, text, whole=True, salvage=False)) for shape, text in good_replies()]
    assert len(fates) > 30 and [each for each in fates if each[1] != "read"] == []


def test_a_malformed_reply_is_refused_or_read_and_nothing_else() -> None:
    fates = Counter(attack_reader(20_000, seed=7))
    assert set(fates) == {"read", "refused"} and min(fates.values()) > 500, fates


def test_what_is_empty_refused_or_cut_off_is_no_answer() -> None:
    assert list(refuse_nothing()) == []


def test_a_reply_of_which_nothing_can_be_read_is_no_empty_answer() -> None:
    with pytest.raises(ParseError, match="repeats the form"):
        read('{"tests": ["call == value, such as f(2) == 4"]}', CritiqueReply)
