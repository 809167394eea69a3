"""A reply in the form that a prompt shows is read whole: every field that the form names, for every question."""

import json
import re
from dataclasses import dataclass, field
from typing import Any

import pytest
from asked_shapes import QUESTIONS, Question, places_that_ask
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from moot.text.replies import CodeBlock, native_schema, read
from moot.text.replies.fit import NOTHING
from moot.text.replies.shape import Slot, blank_of, is_blank, slots

CASES = [
    pytest.param(question, id=f"{place} {number}")
    for place, several in QUESTIONS.items()
    for number, question in enumerate(several, 1)
]
WRAPPINGS = ["{}", "Here is my answer:\n\n{}", "{}\n\nI hope that this helps.\n"]
CODE = "def largest(numbers):\n    return max(numbers)  # LIMITS: of the list\n"
sentences = st.lists(
    st.text(st.sampled_from("abcXYZ019()'=.,;_+/éß→-"), min_size=1, max_size=9), min_size=1, max_size=6
).map(lambda words: f"It says {' '.join(words)} here")


@dataclass
class Filling:
    """A form whose blanks are filled in from its beginning to its end."""

    text: str
    draw: st.DataObject
    only: dict[str, str]
    at: int = 0
    is_json: bool = field(init=False)

    def __post_init__(self) -> None:
        self.is_json = self.text.startswith("{")

    def fill(self, shape: type[BaseModel]) -> dict[str, object]:
        """Every field of the shape with what was written for it."""
        return {slot.name: self.written(slot) for slot in slots(shape)}

    def written(self, slot: Slot) -> object:
        match slot.kind:
            case "items" | "item":
                assert slot.shape is not None
                inner = self.fill(slot.shape)
                return [inner] if slot.kind == "items" else inner
            case "texts":
                return [self.put(blank_of(slot), self.sentence(slot))]
            case "mapping":
                return {key: self.put(blank_of(slot), self.sentence(slot)) for key in slot.keys}
            case "code":
                return self.code(slot)
            case "number" | "whole":
                return float(self.put(blank_of(slot), "0.25" if slot.kind == "number" else "3"))
            case "yesno":
                return self.put(blank_of(slot), "true" if self.is_json else "yes") in ("true", "yes")
            case "word":
                return self.put(blank_of(slot), self.draw.draw(st.sampled_from(slot.words)))
            case "text":
                return self.put(blank_of(slot), self.sentence(slot))

    def sentence(self, slot: Slot) -> str:
        fit = sentences.filter(lambda text: not is_blank(slot, text) and not NOTHING.fullmatch(text))
        return self.only.get(slot.name) or self.draw.draw(fit)

    def code(self, slot: Slot) -> list[CodeBlock]:
        path = ""
        if "<path>" in self.text[self.at :]:
            path = self.put("<path>", "solution.py")
        blank = re.search(r"<the complete code of [^<>]*>", self.text[self.at :])
        self.put(blank[0] if blank else blank_of(slot), CODE.rstrip("\n"))
        return [CodeBlock(path=path, text=CODE)]

    def put(self, blank: str, value: str) -> str:
        start = self.text.index(blank, self.at)
        told = json.dumps(value, ensure_ascii=False)[1:-1] if self.is_json else value
        self.text = self.text[:start] + told + self.text[start + len(blank) :]
        self.at = start + len(told)
        return value


@pytest.mark.parametrize("question", CASES)
@given(data=st.data(), wrapping=st.sampled_from(WRAPPINGS))
@settings(max_examples=8)
def test_every_field_of_the_form_survives(question: Question, data: st.DataObject, wrapping: str) -> None:
    filling = Filling(question.shown, data, dict(question.only))
    wanted = filling.fill(question.shape)
    heard = read(wrapping.format("{}").replace("{}", filling.text), question.shape)
    assert heard.value.model_dump(mode="json") == question.shape.model_validate(wanted).model_dump(mode="json")
    assert heard.dropped == ()


@pytest.mark.parametrize("question", CASES)
def test_a_schema_asks_for_every_field_of_the_form(question: Question) -> None:
    schema = native_schema(question.shape)
    if schema is None:
        assert any(slot.kind == "code" for slot in slots(question.shape))
        return
    assert schema["required"] == [slot.name for slot in slots(question.shape)]
    parts: Any = schema.get("$defs", {})
    assert all(part["required"] == list(part["properties"]) for part in parts.values() if "properties" in part)


def test_every_question_has_a_case() -> None:
    assert places_that_ask() == set(QUESTIONS)
