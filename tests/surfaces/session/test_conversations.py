"""What a conversation asks of a protocol."""

from typing import Any

import pytest

from moot.core.errors import UsageError
from moot.protocols import PROTOCOLS
from moot.surfaces.extensions import find_extension
from moot.surfaces.session.conversations import Message, read_conversation
from moot.surfaces.session.request_bodies import body_of

CODE = "Mend it.\n\n```python app.py\nx = 1\n```\n\n```python tests/test_app.py\nassert x\n```\nPlease."
BEFORE = "Earlier in this conversation:\n\nsystem: Be strict.\n\nassistant: Which one?"
QUESTION = "Which one?\n\n{}\n\nWe ship in May."
HARDENED = {
    "files": {"app.py": "x = 1\n"}, "tests": {"tests/test_app.py": "assert x\n"}, "task": "Mend it.\n\n\nPlease.",
}  # fmt: skip
OPTIONS = [{"id": "A", "label": "all"}, {"id": "B", "label": "none"}]
READ: list[tuple[str, str, dict[str, Any]]] = [
    ("harden", CODE, HARDENED),
    ("harden", "```js\nf()\n```\n```ts\ng()\n```", {"files": {"code.js": "f()\n", "code2.ts": "g()\n"}, "task": ""}),
    ("solve", CODE, {"task": CODE, "tests": {"tests/test_app.py": "assert x\n"}}),
    ("debate", "Tabs or spaces?", {"task": "Tabs or spaces?"}),
    ("vet", "drop the table", {"action": "drop the table"}),
    ("review", "# Plan\n\nDo it.", {"artefacts": {"document.md": "# Plan\n\nDo it."}, "context": ""}),
    ("review", "```md PLAN.md\nDo it.\n```", {"artefacts": {"PLAN.md": "Do it.\n"}, "context": ""}),
    *(
        ("decide", QUESTION.format(lines), {"questions": [asked], "force_panel": True})
        for lines, options in (("A: all\nB: none", OPTIONS), ("- (A) all\n- (B) none", OPTIONS), ("- x\n- y", [*"xy"]))
        for asked in ({"text": "Which one?", "options": options, "context": "We ship in May."},)
    ),
]  # fmt: skip


def read(protocol: str, *messages: tuple[str, str]) -> dict[str, Any]:
    extension = find_extension(protocol)
    talk = read_conversation([Message.model_validate({"role": role, "content": text}) for role, text in messages])
    return extension.read_chat(talk, extension.body or body_of(PROTOCOLS[protocol]))


@pytest.mark.parametrize(("protocol", "asked", "given"), READ, ids=lambda part: part if isinstance(part, str) else "")
def test_the_last_message_is_the_input(protocol: str, asked: str, given: dict[str, Any]) -> None:
    assert read(protocol, ("user", asked)) == given


@pytest.mark.parametrize(("protocol", "place"), [("vet", "context"), ("solve", "task")])
def test_what_was_said_before_is_context(protocol: str, place: str) -> None:
    given = read(
        protocol, ("system", "Be strict."), ("assistant", "Which one?"), ("user", "This."), ("assistant", "Ok")
    )
    assert given[place] == (BEFORE if place == "context" else f"This.\n\n{BEFORE}")


@pytest.mark.parametrize(
    ("protocol", "asked", "words"),
    [
        ("harden", "x = 1", "fenced block"),
        ("harden", "```python a.py\n1\n```\n```python a.py\n2\n```", "two blocks are called a.py"),
        ("decide", "Which one?", "its options, a line each"),
        ("decide", "A: all\nB: none", "write the question"),
        ("vet", " ", "is empty"),
    ],
)
def test_what_is_missing_is_said(protocol: str, asked: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        read(protocol, ("user", asked))
