"""A model that says again what was recorded of another: the n-th question for a draft or for tests of a task gets the
n-th that the pool has. What a pool cannot answer is refused, never made up."""

import json
import re
from collections import Counter
from dataclasses import dataclass
from typing import Literal

from moot.core.errors import ModelError
from moot.core.ports import Model
from moot.core.types import ModelCall, Reply
from moot.edge.models.pools import PoolTask, ReplyPool
from moot.edge.models.usage import free_usage
from moot.text.render import fence_text
from moot.text.replies.fences import blocks

Wanted = Literal["draft", "tests reply"]
DRAFT = "Solve this task in "
EARLIER_WORK = re.compile(
    r"^(?:Your solution so far:|An attempt at it was run, and failed:"
    r"|(?:Attempt \d+|The code so far) failed its tests:)$",
    re.MULTILINE,
)
"""Text before work that the question asks to improve: the answers in a pool were given without seeing any."""
CODE_BLANK = re.compile(r"^```(?P<language>\w+)\n<the complete code of ", re.MULTILINE)
LABELS = re.compile(r"^(?P<label>[A-Z_]+): <", re.MULTILINE)


@dataclass(frozen=True)
class PoolReply:
    text: str = ""
    refusal: str = ""
    """Why there is no reply."""


class RecordedModel(Model):
    """Numbers questions in the order of the session's steps, in which parallel seats are asked and a resumed session
    skips. Tokens are estimated; the price is 0."""

    def __init__(self, name: str, pool: ReplyPool) -> None:
        self._name = name
        self._pool = pool
        self._counts: Counter[tuple[str, Wanted]] = Counter()
        """By the task's text: one task may be in a pool with examples and without."""
        self._put: dict[tuple[str, str, int], str] = {}
        """The last prompt of each seat, phase and round: one that only adds to it complains of the reply."""

    @property
    def name(self) -> str:
        return self._name

    async def reply(self, call: ModelCall) -> Reply:
        # Before any await: seats asked at the same time are numbered in their order.
        said = self._take(call)
        if said.refusal:
            raise ModelError(f"model {self._name!r}: {said.refusal}", kind="refused")
        return Reply(text=said.text, model=self._name, usage=free_usage(call, said.text), finish="stop")

    def skip(self, call: ModelCall) -> None:
        self._take(call)

    async def aclose(self) -> None: ...

    def _take(self, call: ModelCall) -> PoolReply:
        place = call.seat, call.phase, call.round
        before, self._put[place] = self._put.get(place), call.prompt
        task = find_task(call.prompt, self._pool)
        wanted = find_wanted(call)
        if wanted is None:
            return PoolReply(refusal=f"a pool has drafts and tests only, nothing for this question of {call.phase}")
        if task is None:
            return PoolReply(refusal=f"the task of this question is not in the pool {self._pool.name!r}")
        if before is not None and call.prompt != before and call.prompt.startswith(before):
            return PoolReply(refusal="its reply could not be read, and a pool has no second one to the same question")
        number = self._counts[task.text, wanted]
        self._counts[task.text, wanted] += 1
        have = task.drafts if wanted == "draft" else task.tests
        if number >= len(have):
            what = f"{wanted} {number + 1} of {task.name} was asked for"
            return PoolReply(refusal=f"{what}, and the pool {self._pool.name!r} has {len(have)}")
        return PoolReply(render_draft(call.prompt, task, number) if wanted == "draft" else render_tests(task, number))


def find_task(prompt: str, pool: ReplyPool) -> PoolTask | None:
    """The task whose whole text is one of the prompt's fenced blocks: with words added it is another task."""
    fenced = ("\n".join(block.lines).strip() for block in blocks(prompt.split("\n")))
    return next((pool.tasks[text] for text in fenced if text in pool.tasks), None)


def find_wanted(call: ModelCall) -> Wanted | None:
    """What is asked for: a draft made without seeing another, or tests; None if it is anything else."""
    if call.json_schema is not None:
        fields = call.json_schema.get("properties")
        return "tests reply" if isinstance(fields, dict) and list(fields) == ["tests"] else None
    own_words = "\n".join(_lines_outside_blocks(call.prompt))
    return "draft" if own_words.startswith(DRAFT) and not EARLIER_WORK.search(own_words) else None


def _lines_outside_blocks(prompt: str) -> list[str]:
    lines = prompt.split("\n")
    inside = {number for block in blocks(lines) for number in range(block.start, block.end + 1)}
    return [line for number, line in enumerate(lines) if number not in inside]


def render_draft(prompt: str, task: PoolTask, number: int) -> str:
    """The labels of the form, then the code. A pool does not know how its author would describe it."""
    blank = CODE_BLANK.search(prompt)
    labels = LABELS.findall(prompt[: blank.start()]) if blank else []
    filled = {"APPROACH": f"recorded draft {number + 1} of {len(task.drafts)}", "LIMITS": "NONE"}
    lines = [f"{label}: {filled[label]}" for label in labels if label in filled]
    code = fence_text(task.drafts[number], blank["language"] if blank else "python")
    return "\n".join([*lines, *([""] if lines else []), code])


def render_tests(task: PoolTask, number: int) -> str:
    return json.dumps({"tests": task.tests[number]}, ensure_ascii=False)
