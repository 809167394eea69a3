"""Any text at all gives a value or a `ParseError`; nothing is invented, and half an answer is none."""

import json
import math
import re
import time
from collections.abc import Iterable
from typing import get_args

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel
from reply_shapes import (
    BLUE,
    RED,
    Choice,
    Count,
    Files,
    Fixes,
    Grade,
    Owned,
    Risks,
    Score,
    Sort,
    Team,
)  # fmt: skip

from moot.core.types import Category, Severity
from moot.protocols.harden.attack import Boundary, Flaw, Load, RedReply
from moot.protocols.harden.defend import BlueReply
from moot.text.render import fence_text
from moot.text.replies import CodeBlock, ParseError, instructions, read
from moot.text.replies.fit import NOTHING
from moot.text.replies.shape import is_blank, label_key, slots

ALL: list[type[BaseModel]] = [
    RedReply, BlueReply, Score, Count, Choice, Grade, Sort, Risks, Fixes, Team, Owned, Files,
]  # fmt: skip
LABELS = sorted({slot.name for shape in (RedReply, BlueReply, Flaw) for slot in slots(shape)})
SCRAPS = [
    "{", "}", "[", "]", '"', "'", ":", ",", "\\", "```", "````", "~~~", "```json\n", "```python\n", "\n", "\n\n", "",
    "---\n", "- ", "1. ", "## ", "**", "NONE", "None", "[]", "{}", "null", "true", "0.5", "8/10", "75%", "VULN-001",
    "high", "sql", "xss", "FILE: a.py\n", "x = 1\n", "<think>", "</think>", "<what is wrong>", "é", "\u2028", "\x00",
    "\x0c", "\r\n", '"\\ud800"', "\ud800", *(f'"{label}": ' for label in LABELS),
    *(f"{label.upper()}: " for label in LABELS), *(f"**{label}**: " for label in LABELS),
]  # fmt: skip
scraps = st.lists(st.sampled_from(SCRAPS) | st.text(max_size=8), max_size=60).map("".join)


# --- values, and the ways to write them down

prose = st.text(min_size=1, max_size=60).map(str.strip).filter(bool)
plain = st.text(st.sampled_from("abc XYZ019()[]{}'\"=.,;:_+*/<>%$#@!?|&~^\\-éß→"), max_size=50).map(
    lambda text: f"w{text}".strip()
)


def flaws(texts: st.SearchStrategy[str]) -> st.SearchStrategy[Flaw]:
    return st.builds(
        Flaw,
        description=texts,
        evidence=texts,
        exploit=texts,
        category=st.sampled_from(get_args(Category)),
        severity=st.sampled_from(get_args(Severity)),
    )


def reds(texts: st.SearchStrategy[str]) -> st.SearchStrategy[RedReply]:
    return st.builds(
        RedReply,
        vulnerabilities=st.lists(flaws(texts), max_size=4).map(tuple),
        edge_cases=st.lists(st.builds(Boundary, description=texts, input=texts, expected=texts), max_size=2).map(tuple),
        stress_scenarios=st.lists(st.builds(Load, description=texts), max_size=2).map(tuple),
        overall_risk=st.none() | st.floats(0, 1).map(lambda risk: round(risk, 3)),
    ).filter(
        lambda reply: not any(map(copies_form, (*reply.vulnerabilities, *reply.edge_cases, *reply.stress_scenarios)))
    )


def copies_form(item: BaseModel) -> bool:
    return any(is_blank(slot, str(getattr(item, slot.name))) for slot in slots(type(item)))


code = st.lists(
    plain | st.sampled_from(["```", "    ```", "```python", "PATCHES: none", "{", ""]), min_size=1, max_size=8
)
blues = st.builds(
    BlueReply,
    patches=st.dictionaries(st.from_regex(r"VULN-0[0-9]{2}", fullmatch=True), plain, max_size=3),
    remaining_risks=st.lists(plain.filter(lambda t: " " in t), max_size=3).map(tuple),
    confidence=st.none() | st.floats(0, 1).map(lambda share: round(share, 2)),
    patched_code=st.lists(
        st.builds(
            CodeBlock,
            path=st.sampled_from(["a.py", "src/b.go", "c-d_e.ts"]),
            text=code.map(lambda lines: "\n".join(["first", *lines, "last"]) + "\n"),
        ),
        min_size=1,
        max_size=2,
    ).map(tuple),
)


def as_json(reply: BaseModel, indent: int | None, wrapping: str) -> str:
    return wrapping.format(
        json.dumps(reply.model_dump(mode="json", exclude_none=True), indent=indent, ensure_ascii=False)
    )


WRAPPINGS = ["{}", "```json\n{}\n```", "Here it is:\n\n{}\n\nThat is all.", "Answer: {}", "```\n{}\n```\n"]


def as_labelled(reply: BaseModel) -> str:
    """The reply in the labelled form that `instructions` asks for."""
    parts = []
    for slot in slots(type(reply)):
        said, label = getattr(reply, slot.name), slot.name.upper()
        match slot.kind:
            case "items":
                parts.append(
                    f"{label}:\n" + ("\n---\n".join(as_labelled(item).replace("\n\n", "\n") for item in said) or "NONE")
                )
            case "texts":
                parts.append(f"{label}:\n" + ("\n".join(f"- {entry}" for entry in said) or "NONE"))
            case "mapping":
                parts.append(f"{label}:\n" + ("\n".join(f"{name}: {text}" for name, text in said.items()) or "NONE"))
            case "code":
                parts.append(
                    f"{label}:\n" + "\n\n".join(f"FILE: {block.path}\n{fence_text(block.text)}" for block in said)
                )
            case _ if said is not None:
                parts.append(f"{label}: {said}")
    return "\n\n".join(parts)


# --- never a crash, never an invention


def attempt(text: str, shape: type[BaseModel], *, whole: bool = True, salvage: bool = False) -> BaseModel | None:
    try:
        return read(text, shape, whole=whole, salvage=salvage).value
    except ParseError as error:
        assert str(error)
        return None


def check_nothing_invented(value: BaseModel, text: str) -> None:
    """Every word and every number stands in the text; a choice may stand there in words stated to mean it."""
    for slot in slots(type(value)):
        said = getattr(value, slot.name)
        match slot.kind:
            case "items" | "code":
                for item in said:
                    check_nothing_invented(item, text)
            case "item":
                check_nothing_invented(said, text)
            case "number" | "whole" if said is not None:
                assert any(math.isclose(said, number) for number in numbers(text)), said
            case "word":
                meant = [key for key, word in slot.synonyms.words if word == said] if slot.synonyms else []
                otherwise = slot.synonyms and slot.synonyms.otherwise == said
                assert otherwise or any(label_key(key) in label_key(text) for key in (said, *meant)), said
            case "text" | "texts" | "mapping":
                words = re.findall(r"\w+", " ".join(spoken(said)).casefold())
                heard = text.replace("\\n", " ").casefold()
                assert [word for word in words if word not in heard] == []


def spoken(said: str | tuple[str, ...] | dict[str, str]) -> Iterable[str]:
    return [said] if isinstance(said, str) else [*said, *said.values()] if isinstance(said, dict) else said


def numbers(text: str) -> set[float]:
    plain = {float(digits[:18]) for digits in re.findall(r"-?\d+(?:\.\d+)?", text)}
    return plain | {one / other for one in plain for other in plain | {100.0} if other}


def check_fails_closed(value: BaseModel | None, text: str) -> None:
    if isinstance(value, RedReply) and not value.vulnerabilities:
        assert re.search(r"\[\s*\]|\bno(ne|thing|t)?\b|n/?a", text, re.IGNORECASE), "nothing found, and nobody said so"


@pytest.mark.parametrize("shape", ALL)
@given(text=st.text() | scraps)
@settings(max_examples=80)
def test_any_text_gives_a_value_or_a_parse_error(shape: type[BaseModel], text: str) -> None:
    for salvage in (False, True):
        value = attempt(text, shape, salvage=salvage)
        check_fails_closed(value, text)
        if value is not None:
            check_nothing_invented(value, text)
    attempt(text, shape, whole=False)


@pytest.mark.parametrize("shape", ALL)
def test_the_form_itself_is_no_answer(shape: type[BaseModel]) -> None:
    for form in (instructions(shape), instructions(shape).split("\n\n", 1)[1]):
        with pytest.raises(ParseError):
            read(form, shape)


GOOD = [as_json(RED, 2, w) for w in WRAPPINGS] + [as_json(RED, None, "{}"), as_labelled(RED), as_labelled(BLUE)]


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """Good replies, cut, spliced, repeated, with scraps thrown in."""
    text = draw(st.sampled_from(GOOD))
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 200)))
        middle = draw(st.sampled_from(["", text[start:end] * 2, *SCRAPS, draw(st.sampled_from(GOOD))]))
        text = text[:start] + middle + text[end:]
    return text


@given(text=mutated(), shape=st.sampled_from([RedReply, BlueReply]))
@settings(max_examples=300)
def test_mutated_replies(text: str, shape: type[BaseModel]) -> None:
    for salvage in (False, True):
        value = attempt(text, shape, salvage=salvage)
        check_fails_closed(value, text)
        if value is not None:
            check_nothing_invented(value, text)
    attempt(text, shape, whole=False)


# --- half an answer is none


@given(reply=reds(prose), indent=st.sampled_from([None, 2]), wrapping=st.sampled_from(WRAPPINGS), data=st.data())
@settings(max_examples=150)
def test_cut_json_is_never_read(reply: RedReply, indent: int | None, wrapping: str, data: st.DataObject) -> None:
    text = as_json(reply, indent, wrapping)
    at = data.draw(st.integers(0, text.rindex("}")))
    for whole in (True, False):
        for salvage in (True, False):
            with pytest.raises(ParseError):
                read(text[:at], RedReply, whole=whole, salvage=salvage)


@given(one=reds(prose), other=reds(prose), between=st.sampled_from(["", "\n", "\n\nWait:\n\n", "\n```\n```\n"]))
@settings(max_examples=100)
def test_two_answers_that_differ_are_none(one: RedReply, other: RedReply, between: str) -> None:
    assume(one.vulnerabilities != other.vulnerabilities)
    with pytest.raises(ParseError):
        read(as_json(one, 2, "{}") + between + as_json(other, None, "{}"), RedReply)


@given(one=reds(plain), other=reds(plain), forms=st.tuples(st.booleans(), st.booleans()))
@settings(max_examples=100)
def test_findings_are_never_denied_by_a_second_answer(one: RedReply, other: RedReply, forms: tuple[bool, bool]) -> None:
    texts = [as_json(r, 2, "{}") if form else as_labelled(r) for r, form in zip((one, other), forms, strict=True)]
    value = attempt("\n\n".join(texts), RedReply)
    assert (
        not isinstance(value, RedReply) or value.vulnerabilities or not (one.vulnerabilities or other.vulnerabilities)
    )


@given(text=st.text(st.characters(exclude_characters="{[")) | scraps.filter(lambda t: "{" not in t and "[" not in t))
@settings(max_examples=100)
def test_a_cut_off_reply_needs_complete_json(text: str) -> None:
    for reply in (text, f"VULNERABILITIES: NONE\n{text}", f"{as_labelled(BLUE)}\n{text}"):
        assert attempt(reply, RedReply, whole=False) is None
        assert attempt(reply, BlueReply, whole=False) is None


# --- what is written in the form asked for is read back


@given(reply=reds(prose), indent=st.sampled_from([None, 1, 4]), wrapping=st.sampled_from(WRAPPINGS))
@settings(max_examples=100)
def test_json_round_trip(reply: RedReply, indent: int | None, wrapping: str) -> None:
    assert read(as_json(reply, indent, wrapping), RedReply).value == reply
    assert read(as_json(reply, indent, wrapping), RedReply, whole=False).value == reply


@given(reply=reds(plain))
@settings(max_examples=100)
def test_labelled_round_trip(reply: RedReply) -> None:
    assume(not any(NOTHING.fullmatch(case.description) for case in reply.edge_cases))
    assert read(as_labelled(reply), RedReply).value == reply


@given(reply=blues)
@settings(max_examples=300)
def test_defence_round_trip(reply: BlueReply) -> None:
    assert read(as_labelled(reply), BlueReply).value == reply


# --- a megabyte of anything takes a megabyte's time

UNITS = [
    "{", "[", "`", '"', '\\"', "```\n", "```a\n", "```a\n```b\n```\n", '["', '{"a":', '{"description":',
    '{"vulnerabilities":', '[{"description": "x"},', '{"description": "x"}\n', '{\n"description": "x"y"\n}\n',
    'x = {"name": y}\n', 'f({"name": x,\n', "a", " ", "\n", "\\", ": ", "VULNERABILITIES:\n", "CODE:\n", "1. x\n", "- ",
    "DESCRIPTION: x\n", "# ", "**", "---\n", "<think>", "</think>", "FILE: a.py\n```\nx\n```\n", "VULN-1: x\n", "none ",
    "9", "a.b/", "Vulnerability 1: x\n",
]  # fmt: skip
FRAMES = [
    "{}",
    '{"vulnerabilities": [{}"vulnerabilities": []}',
    "VULNERABILITIES:\nDESCRIPTION: a\nEVIDENCE: {}\nSEVERITY: low",
    "PATCHES:\n{}\nPATCHED_CODE:\n{}\n```\nx\n```",
]
SMALL, TIMES = 3_000, 8


@pytest.mark.parametrize("unit", UNITS)
def test_time_grows_with_the_length_and_no_faster(unit: str) -> None:
    for frame in FRAMES:
        for shape in (RedReply, BlueReply):
            small = max(0.005, seconds(frame, unit, SMALL, shape))
            quickest = min(seconds(frame, unit, SMALL * TIMES, shape), seconds(frame, unit, SMALL * TIMES, shape))
            assert quickest < small * TIMES * 4, (frame, shape, small, quickest)


def seconds(frame: str, unit: str, size: int, shape: type[BaseModel]) -> float:
    text = frame.replace("{}", unit * (size // len(unit)))
    start = time.process_time()
    attempt(text, shape)
    return time.process_time() - start
