"""Span edits: whatever the spans, the text around them stays as it was."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.scan.edits import Edit, EditOverlap, apply_edits, move_offset


@st.composite
def texts_and_edits(draw: st.DrawFn) -> tuple[str, list[Edit]]:
    """Pieces of text of which some are replaced; the edits are handed over in any order."""
    pieces = draw(st.lists(st.tuples(st.text(max_size=6), st.none() | st.text(max_size=4)), max_size=12))
    at, edits = 0, []
    for piece, new in pieces:
        size = len(piece.encode())
        if new is not None and size:
            edits.append(Edit(at, at + size, new))
        at += size
    return "".join(piece for piece, _ in pieces), draw(st.permutations(edits))


@given(texts_and_edits())
def test_only_the_spans_change(case: tuple[str, list[Edit]]) -> None:
    text, edits = case
    data = text.encode()
    expected, at = b"", 0
    for edit in sorted(edits):
        expected += data[at : edit.start] + edit.new.encode()
        at = edit.end
    assert apply_edits(data, edits) == expected + data[at:]


@given(texts_and_edits(), st.integers(0, 80))
def test_a_byte_outside_the_spans_is_found_again(case: tuple[str, list[Edit]], byte: int) -> None:
    text, edits = case
    data = text.encode()
    if byte >= len(data) or any(edit.start <= byte < edit.end for edit in edits):
        return
    assert apply_edits(data, edits)[move_offset(byte, edits)] == data[byte]


def test_insertions_at_one_place_keep_their_order() -> None:
    assert apply_edits(b"ab", [Edit(1, 1, "x"), Edit(1, 1, "y")]) == b"axyb"


def test_an_insertion_may_touch_a_replacement() -> None:
    assert apply_edits(b"abc", [Edit(2, 2, "!"), Edit(1, 2, "x")]) == b"ax!c"


def test_overlapping_edits_are_refused() -> None:
    with pytest.raises(EditOverlap):
        apply_edits(b"abcdef", [Edit(0, 3, "x"), Edit(2, 4, "y")])


def test_inside_a_replaced_span_is_its_start() -> None:
    assert move_offset(3, [Edit(0, 1, ""), Edit(2, 5, "xyz")]) == 1
