"""Replies of real models, word for word, each with what a person reads in it."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from reply_shapes import SHAPES

from moot.text.replies import ParseError, read

FOLDER = Path(__file__).parent / "corpus"
REPLIES: list[Any] = [
    pytest.param(reply, id=f"{path.stem}-{number}")
    for path in sorted(FOLDER.glob("*.yaml"))
    for number, reply in enumerate(yaml.safe_load(path.read_text(encoding="utf-8")), start=1)
]


@pytest.mark.parametrize("reply", REPLIES)
def test_a_real_reply_is_read_as_a_person_reads_it(reply: dict[str, Any]) -> None:
    shape, whole = SHAPES[reply["shape"]], reply["finish"] != "length"
    if "error" in reply:
        with pytest.raises(ParseError):
            read(reply["text"], shape, whole=whole)
    else:
        assert read(reply["text"], shape, whole=whole).value == shape.model_validate(reply["reads_as"])


def test_the_corpus_is_whole() -> None:
    assert len(REPLIES) >= 40
    assert {param.values[0]["model"] for param in REPLIES} == {"qwen1.5b", "qwen0.5b", "smollm2"}
