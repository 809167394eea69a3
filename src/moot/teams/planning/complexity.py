"""How hard and how unclear a task is, measured by its words, and the planning style that follows from it.

complexity = .20 length      words, 300 or more is 1
           + .30 demands     must, should, shall, list items, "and also": 10 or more is 1
           + .20 conditions  if, unless, except, at most, limits and the like: 8 or more is 1
           + .20 parts       files, modules, services, tables, endpoints, further functions: 5 or more is 1
           + .10 breadth     domains besides the first that its words touch: 3 or more is 1
ambiguity  = .45 vagueness   "appropriate", "etc", "somehow", "as needed", TBD and the like: 3 or more is 1
           + .25 no example  nothing like `f(1) == 2`, `>>>`, "e.g.", "for example"
           + .20 no measure  no number, type, signature or quoted value at all
           + .10 questions   2 or more is 1
A task is complex from .35, unclear from .50; either is reason to ask before answering.
"""

import re
from typing import Literal

from moot.core.types import Unit, Value
from moot.teams.planning.plans import Style
from moot.teams.roles.domains import patterns

COMPLEX, UNCLEAR, MANY = 0.35, 0.50, 5
READ = 100_000
"""Characters read: by then every part has reached its maximum."""
DEMANDS = re.compile(
    r"\b(?:must|should|shall|needs? to|has to|have to|required?|ensure|support|and also)\b|"
    r"^[ \t]*(?:[-*•]|\d{1,3}[.)])\s",
    re.MULTILINE,
)
CONDITIONS = re.compile(
    r"\b(?:if|unless|except|otherwise|when|whenever|until|only|at (?:most|least)|no more than|less than|greater than|"
    r"within|limit\w*|concurren\w*|backward\w*|compatib\w*|thread|secur\w*|deadline|timeout\w*)\b"
)  # fmt: skip
PARTS = re.compile(
    r"\b(?:files?|modules?|services?|classes|endpoints?|tables?|databases?|queues?|components?|pages?|screens?|migrations?|"
    r"clients?|servers?|packages?|functions|commands?)\b|\b[\w/-]{1,60}\.(?:py|js|ts|go|sql|yaml|toml|json)\b"
)  # fmt: skip
VAGUE = re.compile(
    r"\b(?:appropriate(?:ly)?|suitable|reasonabl[ey]|etc|and so on|somehow|something|some kind of|as needed|if needed|"
    r"nice(?:ly)?|user-?friendly|robust|flexible|modern|intuitive|various|several|maybe|perhaps|probably|ideally|"
    r"better|improve|as usual|the usual|tbd|todo|to be (?:defined|decided)|or similar|and the like|stuff|good)\b|\?\?"
)  # fmt: skip
EXAMPLE = re.compile(r">>>|==|=>|->|→|\be\.g\.|\b(?:for (?:example|instance)|examples?|such as)\b|\b(?:in|out)put:")
MEASURE = re.compile(
    r"\d|\b(?:int|str|string|list|dict|bool|float|tuple|array|json|none|null|true|false)\b|`[^`]{1,80}`|\"[^\"]{1,80}\"|\w\("
)


class Complexity(Value):
    complexity: Unit
    ambiguity: Unit
    length: Unit
    demands: Unit
    conditions: Unit
    parts: Unit
    breadth: Unit
    vagueness: Unit
    has_example: bool
    has_measure: bool
    questions: Unit

    @property
    def complex(self) -> bool:
        return self.complexity >= COMPLEX

    @property
    def unclear(self) -> bool:
        return self.ambiguity >= UNCLEAR

    @property
    def asks_first(self) -> bool:
        return self.complex or self.unclear


class PlanChoice(Value):
    style: Style
    why: str


def measure(task: str) -> Complexity:
    text = task[:READ].lower()
    length = _part(len(text.split()), 300)
    demands, conditions = _part(_count(DEMANDS, text), 10), _part(_count(CONDITIONS, text), 8)
    parts = _part(len(set(PARTS.findall(text))), 5)
    breadth = _part(max(sum(bool(words.search(text)) for words in patterns().values()) - 1, 0), 3)
    vagueness, questions = _part(_count(VAGUE, text), 3), _part(text.count("?"), 2)
    example, measured = bool(EXAMPLE.search(text)), bool(MEASURE.search(text))
    complexity = 0.20 * length + 0.30 * demands + 0.20 * conditions + 0.20 * parts + 0.10 * breadth
    ambiguity = 0.45 * vagueness + 0.25 * (not example) + 0.20 * (not measured) + 0.10 * questions
    return Complexity(
        complexity=round(complexity, 4), ambiguity=round(ambiguity, 4), length=length, demands=demands,
        conditions=conditions, parts=parts, breadth=breadth, vagueness=vagueness, has_example=example,
        has_measure=measured, questions=questions,
    )  # fmt: skip


def style_for(measured: Complexity, size: int, asked: Style | Literal["adaptive"] = "adaptive") -> PlanChoice:
    """One planner for simple or unclear tasks and small teams; owners plan their own parts of clear, complex work."""
    if asked != "adaptive":
        return PlanChoice(style=asked, why="asked for")
    if size < MANY:
        return PlanChoice(style="cpde", why=f"{size} agents are too few to negotiate")
    if not measured.complex:
        return PlanChoice(style="cpde", why=f"complexity {measured.complexity:.2f} is below {COMPLEX}")
    if measured.unclear:
        return PlanChoice(style="cpde", why=f"ambiguity {measured.ambiguity:.2f}: all must have one reading of it")
    return PlanChoice(
        style="dpde", why=f"complexity {measured.complexity:.2f}, clear, {size} agents: each plans its part"
    )


def _count(pattern: re.Pattern[str], text: str) -> int:
    return sum(1 for _ in pattern.finditer(text))


def _part(count: int, most: int) -> float:
    return round(min(count / most, 1.0), 4)
