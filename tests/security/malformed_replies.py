"""Malformed replies to every question that Moot asks: none may raise anything but `ParseError`, and no reply that is
empty, refused or cut off may pass for an answer.

`make replies` runs 100,000 (`REPLIES="--count N --seed N"`); the tests run a short form of it.
"""

import argparse
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator

from asked_shapes import QUESTIONS, Question
from pydantic import BaseModel

from moot.text.render import fence_text
from moot.text.replies import ParseError, instructions, read
from moot.text.replies.shape import Slot, has_code, slots

COUNT = 100_000
SCRAPS = (
    "{", "}", "[", "]", '"', "'", ":", ",", "\\", "```", "````\n", "```json\n", "~~~", "\n\n", "<think>", "</think>",
    "null", "NaN", "-1e999", "9" * 400, "true", "\0", "\x1b[2J", "\u202e", "\\ud800", "\ufeff", "None", "N/A", "- ",
    "FILE: ../../x.py\n", "TOOL: run_code\n", "CODE:\n", "A" * 3000, "[" * 400, '{"a":' * 200, "|---|---|\n", "éß→",
)  # fmt: skip
REFUSALS = (
    "", " ", "\n\n\t\n", "\ufeff", "{}", "[]", "null", '""', "```\n```", "```json\n```", "```json\n{}\n```", "<think>",
    "<think>The answer is A.</think>", "<think>I have to answer", "I'm sorry, but I can't help with that.",
    "I cannot answer this question.", "As an AI model I must refuse.", "Error 503: overloaded", "...", "-", "\0",
)  # fmt: skip


def fill(shape: type[BaseModel], only: dict[str, str]) -> dict[str, object]:
    """A good reply for the shape, as JSON."""
    return {slot.name: _value(slot, only) for slot in slots(shape) if slot.kind != "code"}


def write_good(question: Question) -> str:
    block = f"\n\nFILE: solution.py\n{fence_text('x = 1', 'python')}\n" if has_code(question.shape) else ""
    return json.dumps(fill(question.shape, dict(question.only)), indent=1) + block


def _value(slot: Slot, only: dict[str, str]) -> object:
    match slot.kind:
        case "items" | "item":
            assert slot.shape is not None
            inner = fill(slot.shape, {})
            return [inner, inner] if slot.kind == "items" else inner
        case "texts":
            return [only.get(slot.name, "a first point"), only.get(slot.name, "and a second")]
        case "mapping":
            return {key: "it is fine" for key in slot.keys or ("VULN-001",)}
        case "number" | "whole":
            return 1
        case "yesno":
            return True
        case "word":
            return slot.words[0]
        case "code":
            raise AssertionError("code stands below the JSON")
        case "text":
            return only.get(slot.name, "it holds as far as it was looked at")


def cut(text: str, lot: random.Random) -> str:
    return text[: lot.randrange(len(text) + 1)]


def drop(text: str, lot: random.Random) -> str:
    begin = lot.randrange(len(text) + 1)
    return text[:begin] + text[begin + lot.randrange(1, 40) :]


def repeat(text: str, lot: random.Random) -> str:
    begin = lot.randrange(len(text) + 1)
    return text[:begin] + text[begin : begin + 60] * lot.randrange(2, 4) + text[begin:]


def insert(text: str, lot: random.Random) -> str:
    begin = lot.randrange(len(text) + 1)
    return text[:begin] + lot.choice(SCRAPS) + text[begin:]


def swap(text: str, lot: random.Random) -> str:
    old, new = lot.choice('"{}[],:\n'), lot.choice(('"', "'", "\n", " ", "“", "\\", ""))
    return text.replace(old, new, lot.randrange(1, 6))


def shuffle(text: str, lot: random.Random) -> str:
    lines = text.split("\n")
    lot.shuffle(lines)
    return "\n".join(lines)


MUTATIONS: tuple[Callable[[str, random.Random], str], ...] = (cut, drop, repeat, insert, insert, swap, shuffle)


def good_replies() -> list[tuple[type[BaseModel], str]]:
    questions: list[Question] = [one for several in QUESTIONS.values() for one in several]
    return [(one.shape, write_good(one)) for one in questions]


def attack_reader(count: int, seed: int) -> Iterator[str]:
    """One word for what became of each reply, or a sentence for what must not be."""
    lot, good = random.Random(seed), good_replies()
    for number in range(count):
        shape, text = good[number % len(good)]
        if number % 5 == 0:
            text = instructions(shape)  # a form that was copied instead of filled in
        for _ in range(lot.choice((1, 1, 2, 4))):
            text = lot.choice(MUTATIONS)(text, lot) or " "
        yield put_reply(shape, text, whole=lot.random() < 0.7, salvage=lot.random() < 0.3)


def put_reply(shape: type[BaseModel], text: str, *, whole: bool, salvage: bool) -> str:
    try:
        value = read(text, shape, whole=whole, salvage=salvage).value
        value.model_dump_json()
    except ParseError:
        return "refused"
    except Exception as error:
        return f"{shape.__name__}: {type(error).__name__}: {error} for {text[:300]!r}"
    return "read" if value.model_fields_set else f"{shape.__name__}: read from nothing: {text[:300]!r}"


def refuse_nothing() -> Iterator[str]:
    """Replies that answer nothing, and good ones cut off before their end, which must all be refused."""
    for shape, text in good_replies():
        for said in REFUSALS:
            for whole in (True, False):
                if put_reply(shape, said, whole=whole, salvage=True) != "refused":
                    yield f"{shape.__name__}: {said!r} passed for an answer"
        for end in range(1, len(text.rstrip()) - 3, 7):
            if put_reply(shape, text[:end], whole=False, salvage=False) != "refused":
                yield f"{shape.__name__}: cut off after {end} of {len(text)} characters, it passed for an answer"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--seed", type=int, default=1)
    given, began = parser.parse_args(), time.monotonic()
    fates = Counter(attack_reader(given.count, given.seed))
    read_well, refused = fates.pop("read", 0), fates.pop("refused", 0)
    wrong = [*fates, *refuse_nothing()]
    sys.stdout.write("".join(f"{line}\n" for line in wrong[:20]))
    spent = time.monotonic() - began
    sys.stdout.write(f"{given.count} malformed replies: {refused} refused, {read_well} read, {len(wrong)} wrong ")
    sys.stdout.write(f"({len(good_replies())} good ones to begin with, seed {given.seed}, {spent:.0f} s)\n")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
