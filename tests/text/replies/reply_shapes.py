"""Small shapes, one for each kind of field a reply can have, and a good reply for each of the real ones."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from moot.protocols.harden.attack import Boundary, Flaw, RedReply
from moot.protocols.harden.defend import BlueReply
from moot.text.replies import Aliases, CodeBlock, FencedBlocks, Synonyms, Title

SHAPES: dict[str, type[BaseModel]] = {"RedReply": RedReply, "BlueReply": BlueReply}


class Score(BaseModel):
    score: float


class Count(BaseModel):
    count: int


class Choice(BaseModel):
    agreed: bool


class Grade(BaseModel):
    reason: str = Field(description="why")
    grade: Annotated[Literal["high", "low", "very_low"], Synonyms((("tiny", "low"),))]


class Sort(BaseModel):
    sort: Annotated[Literal["bug", "other"], Synonyms((("defect", "bug"),), otherwise="other")]


class Risks(BaseModel):
    risks: tuple[str, ...]


class Fixes(BaseModel):
    fixes: dict[str, str]


class Person(BaseModel):
    name: Annotated[str, Title()] = Field(min_length=1, description="the full name")
    role: Literal["author", "reviewer"]
    note: str = ""


class Team(BaseModel):
    people: Annotated[tuple[Person, ...], Aliases("members")]
    size: int | None = None


class Owned(BaseModel):
    owner: Person
    why: str = ""


class Files(BaseModel):
    files: Annotated[FencedBlocks, Aliases("code")]


SQLI = Flaw(
    description="the name is pasted into the query",
    evidence='cursor.execute("SELECT * FROM users WHERE name = \'" + name + "\'")',
    exploit="' OR 1=1 --",
    category="injection",
    severity="critical",
)
RACE = Flaw(
    description="hits is written by many requests at once",
    evidence="hits[name]++",
    exploit="",
    category="race_condition",
    severity="high",
)
RED = RedReply(
    vulnerabilities=(SQLI, RACE),
    edge_cases=(Boundary(description="no name", input="''", expected="None"),),
    overall_risk=0.9,
)
BLUE = BlueReply(
    patches={"VULN-001": "the name is bound", "VULN-002": "a lock around hits"},
    remaining_risks=("the table is never cleaned, it grows",),
    confidence=0.8,
    patched_code=(CodeBlock(path="accounts.py", text="def find(name):\n    return query(name)\n"),),
)
CLEAN = RedReply(vulnerabilities=())
