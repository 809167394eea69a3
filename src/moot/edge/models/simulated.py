"""Agents of a given accuracy, correlation and sycophancy. They answer simulated questions only: those that carry the
line `SIMULATED QUESTION q1 OPTIONS A,B KEY B`. Every draw is a hash of the seed, so the order of calls does not matter.

Correlation is a common cause: with probability √correlation an agent repeats a draw that all agents of its seed share
for this question, else it draws by itself. Two agents then agree on being right with exactly that correlation.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import Field, ValidationError

from moot.core.errors import ModelError, UsageError
from moot.core.ports import Model
from moot.core.types import ModelCall, Reply, Unit, Value
from moot.edge.models.usage import free_usage

MARKER = re.compile(r"^SIMULATED QUESTION (\S+) OPTIONS (\w+(?:,\w+)+) KEY (\w+)$", re.MULTILINE)
ANSWER = "Simulated answer: "
OWN = re.compile(r"you recommended option (\w+):")
"""In the second round of `decide`: the agent's own first answer."""
OTHERS = re.compile(r"^.+ \([\w-]+\): option (\w+)$", re.MULTILINE)
"""... and the answers that it is shown."""
CANDIDATE = re.compile(rf"^Candidate (\w+)\n`{{3,}}text\n{ANSWER}(\w+)\.$", re.MULTILINE)


class Population(Value):
    """What the agents of one name have in common."""

    accuracy: Unit
    """How often an agent is right before it has heard another."""
    correlation: Unit = 0.0
    """Between any two agents' being right."""
    sycophancy: Unit = 0.0
    """How often an agent adopts the majority that it is shown."""
    seed: int = Field(default=1, ge=0)


@dataclass(frozen=True)
class SimulatedQuestion:
    id: str
    options: tuple[str, ...]
    key: str


def parse_population(text: str) -> Population:
    pairs = [part.partition("=") for part in text.split(",")]
    values = {name.strip(): value.strip() for name, _, value in pairs}
    try:
        if len(values) < len(pairs):
            raise UsageError(f"simulated:{text} says the same thing twice")
        return Population.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = ".".join(map(str, first["loc"]))
        known = ", ".join(Population.model_fields)
        raise UsageError(f"simulated:{text}: {name}: {first['msg']}; write {known} as name=number") from None


def find_question(prompt: str) -> SimulatedQuestion | None:
    """None unless there is exactly one marker, whose key is one of its options."""
    found = {match.groups() for match in MARKER.finditer(prompt)}
    if len(found) != 1:
        return None
    name, options, key = found.pop()
    question = SimulatedQuestion(name, tuple(options.split(",")), key)
    return question if key in question.options else None


def draw(population: Population, *about: str) -> float:
    """A number from 0 to 1 that is the same whenever the same is drawn."""
    drawn = hashlib.sha256("\0".join((str(population.seed), *about)).encode()).digest()
    return int.from_bytes(drawn[:7]) / 2**56


def draw_answer(population: Population, question: SimulatedQuestion, agent: str) -> str:
    """What an agent says before it has heard another."""
    follows = draw(population, question.id, agent, "follows") ** 2 < population.correlation
    source = "" if follows else agent
    if draw(population, question.id, source, "right") < population.accuracy:
        return question.key
    wrong = [option for option in question.options if option != question.key]
    return wrong[int(draw(population, question.id, source, "which") * len(wrong))]


def revise_answer(
    population: Population, question: SimulatedQuestion, agent: str, mine: str, shown: Sequence[str], number: int = 2
) -> str:
    """What an agent says in a later round: its own answer, or the majority of all that it knows. In a tie it stays."""
    ranked = Counter((mine, *shown)).most_common(2)
    tied = len(ranked) > 1 and ranked[0][1] == ranked[1][1]
    yields = draw(population, question.id, agent, "yields", str(number)) < population.sycophancy
    return ranked[0][0] if yields and not tied else mine


class SimulatedModel(Model):
    """Tokens are estimated; the price is 0."""

    def __init__(self, name: str, population: Population) -> None:
        self._name = name
        self._population = population

    @property
    def name(self) -> str:
        return self._name

    async def reply(self, call: ModelCall) -> Reply:
        question = find_question(call.prompt)
        if question is None:
            raise self._refuse("this is no simulated question: it lacks the line SIMULATED QUESTION … OPTIONS … KEY …")
        fields = call.json_schema.get("properties") if call.json_schema else None
        said = self._fill(call, question, fields) if isinstance(fields, dict) else None
        if said is None:
            raise self._refuse(f"a simulated agent votes only, and has nothing for this question of {call.phase}")
        text = json.dumps(said)
        return Reply(text=text, model=self._name, usage=free_usage(call, text), finish="stop")

    def skip(self, call: ModelCall) -> None: ...

    async def aclose(self) -> None: ...

    def _fill(
        self, call: ModelCall, question: SimulatedQuestion, fields: Mapping[str, object]
    ) -> dict[str, object] | None:
        mine = draw_answer(self._population, question, call.seat)
        if "challenges" in fields and "option" in fields:
            return self._rebut(call, question, fields["challenges"])
        if "option" in fields:
            return {"analysis": {}, "reasons": "It was drawn.", "option": mine, "confidence": "MEDIUM"}
        if "position" in fields:
            return {"arguments": ["It was drawn."], "limits": [], "position": f"{ANSWER}{mine}."}
        return self._rank(call, question, mine) if "ranking" in fields else None

    def _rebut(self, call: ModelCall, question: SimulatedQuestion, challenges: object) -> dict[str, object] | None:
        own, others = OWN.search(call.prompt), OTHERS.findall(call.prompt)
        named = challenges.get("properties") if isinstance(challenges, dict) else None
        if own is None or not isinstance(named, dict) or len(others) != len(named):
            return None
        now = revise_answer(self._population, question, call.seat, own[1], others)
        return {
            "challenges": dict.fromkeys(named, "It was drawn, as mine was."),
            "reasons": "It was drawn.",
            "convinced_by": "NONE" if now == own[1] else "the size of the majority",
            "option": now,
            "confidence": "MEDIUM",
        }

    def _rank(self, call: ModelCall, question: SimulatedQuestion, mine: str) -> dict[str, object] | None:
        """Candidates with the agent's own answer first, in their order."""
        found = CANDIDATE.findall(call.prompt)
        if not found:
            return None
        now = revise_answer(self._population, question, call.seat, mine, [answer for _, answer in found])
        ranking = [letter for letter, _ in sorted(found, key=lambda each: each[1] != now)]
        return {"reasons": "It was drawn.", "ranking": ranking, "confidence": self._population.accuracy}

    def _refuse(self, why: str) -> ModelError:
        return ModelError(f"model {self._name!r}: {why}", kind="refused")
