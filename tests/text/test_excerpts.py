"""What does not fit is named, in the prompt and in the result; what fits is whole."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.text.excerpts import (
    CHARACTERS_PER_TOKEN,
    LEAST,
    MOST_NAMED,
    Fitted,
    TextPart,
    fit_parts,
    fit_text,
    name_some,
    show,
)

texts = st.lists(st.text(max_size=900), max_size=12)


class Notes(list[str]):
    def degrade(self, note: str) -> None:
        self.append(note)


def parts_of(*sizes: int) -> list[TextPart]:
    return [TextPart(f"part {number}", "x" * size) for number, size in enumerate(sizes, 1)]


def tokens(characters: int) -> int:
    return int(characters / CHARACTERS_PER_TOKEN)


@pytest.mark.parametrize(
    ("sizes", "space", "missing"),
    [
        ((), 700, ()),
        ((100, 200), 700, ()),
        ((700,), 700, ()),
        ((100, 1000), 700, ("part 2: 600 of 1000 characters shown",)),
        ((1000, 1000), 700, tuple(f"part {n}: 350 of 1000 characters shown" for n in (1, 2))),
        ((1000, 10, 1000, 1000, 1000), 630,
         ("part 1: 206 of 1000 characters shown", "part 3: 207 of 1000 characters shown",
          "part 4: 207 of 1000 characters shown", "part 5: not shown")),
        ((5000,), 7, ("part 1: 7 of 5000 characters shown",)),
    ],
)  # fmt: skip
def test_short_parts_are_whole_and_long_ones_share_what_is_left(
    sizes: tuple[int, ...], space: int, missing: tuple[str, ...]
) -> None:
    fitted = fit_parts(parts_of(*sizes), tokens(space))
    assert fitted.missing == missing
    assert len(fitted.parts) == len(sizes) - sum(words.endswith("not shown") for words in missing)


@given(several=texts, space=st.integers(0, 3000))
def test_every_part_is_whole_or_named(several: list[str], space: int) -> None:
    parts = [TextPart(f"<{number}>", text) for number, text in enumerate(several)]
    fitted = fit_parts(parts, space)
    named = " ".join(fitted.missing)
    for part in parts:
        assert part in fitted.parts or f"{part.name}: " in named
    assert [part.name for part in fitted.parts] == [part.name for part in parts][: len(fitted.parts)]
    taken = sum(len(part.text.partition("\n[cut here: ")[0]) for part in fitted.parts)
    assert taken <= max(space * CHARACTERS_PER_TOKEN, 1)


def test_a_text_that_is_cut_says_so_at_its_end_and_in_the_result() -> None:
    room = Notes()
    fitted = show(fit_text("the task", "a" * 100, tokens(70)), "the seats", room)
    assert fitted.join() == "a" * 70 + "\n[cut here: 30 more characters]"
    assert room == ["the seats did not see everything: the task: 70 of 100 characters shown"]
    assert show(fit_text("the task", "a" * 70, tokens(70)), "the seats", room).join() == "a" * 70
    assert len(room) == 1, "what fits is no news"


def test_parts_that_are_left_out_are_named_where_they_would_stand() -> None:
    room = Notes()
    fitted = show(fit_parts(parts_of(*[LEAST * 2] * 4), tokens(LEAST * 3)), "moderator", room)
    assert fitted.join().endswith("[part 3: not shown; part 4: not shown: there was no room]")
    assert room == [f"moderator did not see everything: {'; '.join(fitted.missing)}"]


def test_of_very_many_the_first_are_named_and_the_rest_counted() -> None:
    room = Notes()
    show(Fitted((), tuple(f"turn {n}: not shown" for n in range(MOST_NAMED + 3))), "judge", room)
    assert "turn 0: not shown" in room[0] and room[0].endswith("and 3 more")
    assert (name_some(["a", "b"], 2), name_some(["a", "b", "c"], 2)) == ("a, b", "a, b and 1 more")
