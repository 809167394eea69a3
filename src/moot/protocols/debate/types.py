"""Values of a debate: team, brief, candidates, claims, runs, outcome."""

from functools import cached_property
from typing import Annotated, Literal, get_args

from pydantic import BeforeValidator, Field, model_validator

from moot.core.ci import Checks
from moot.core.errors import CutKind
from moot.core.experience import FactKind
from moot.core.protocol import Option
from moot.core.types import (
    Answer,
    Code,
    Language,
    Names,
    Result,
    Rules,
    SuiteRun,
    Tests,
    Unit,
    Value,
    Vulnerability,
    split_names,
)
from moot.evidence.trials.selection import Rating
from moot.evidence.trials.values import Difficulty, TestCategory
from moot.protocols.debate.acts import RoleAct, UnseatedRole
from moot.protocols.debate.coordination import CheckedCriterion, Delegation, HeardTokens, Relay
from moot.protocols.harden.script import HardenRules
from moot.protocols.solve.script import UsedLesson
from moot.teams.planning.cognition import Comparison, Emphasis
from moot.teams.planning.plans import TaskPlan
from moot.teams.voting import Election, Method, RankedBallot, TieBreak
from moot.teams.weighting import BallotWeight

Phase = Literal[
    "dehallucination", "self_evolvement", "proposal", "critique", "review", "optimization", "adversarial", "convergence"
]
PHASES: tuple[Phase, ...] = get_args(Phase)
Talk = Phase | Literal["planning"]
ONCE: frozenset[Phase] = frozenset({"dehallucination", "self_evolvement"})
PARALLEL: dict[Talk, int] = {**dict(zip(PHASES, (2, 4, 4, 6, 4, 4, 4, 8), strict=True)), "planning": 4}
LEAST: dict[Phase, int] = dict(zip(PHASES, (1, 1, 1, 1, 1, 1, 0, 1), strict=True))
"""With fewer usable answers a phase counts as failed, unless a rule says otherwise."""
Topology = Literal["auto", "graph_mesh", "star", "chain", "tree"]
Planning = Literal["off", "auto", "cpde", "dpde", "adaptive"]
Clarify = Literal["auto", "always"]
Spending = Literal["auto", "adaptive", "fixed"]
Grade = Literal["tested", "agreed", "opinion"]
"""Tested: your tests or examples were run on it. Agreed: blind tests and other drafts speak for it. Opinion: nothing
was run."""
Outcome = Literal["agreed", "chosen", "contested", "unresolved", "inconclusive"] | CutKind
Stop = Literal["alike_and_green", "tests", "evidence", "consensus", "unchanged", "max_rounds", "no_candidate"] | CutKind
Conflict = Literal["correctness", "design", "requirement"]
Criterion = Literal["correctness", "coverage", "security", "performance", "maintainability"]
WEIGHTS: dict[Criterion, float] = {
    "correctness": 0.4, "coverage": 0.2, "security": 0.2, "performance": 0.1, "maintainability": 0.1
}  # fmt: skip


FIXED_RULES = ("phases", "drafts", "refinements", "voices", "reserve", "anew", "enough_tests", "max_rounds")
"""Rules of fixed spending: whoever sets one wants it kept."""
ARGUE_BELOW = 0.8
"""Where drafts fail your tests, and in sessions that were recorded before `argue_below` was a rule."""


class DebateRules(Rules):
    timeout: float = Field(default=1800.0, gt=0, description="seconds the whole session may take")
    max_rounds: Annotated[int, Option(flag="--rounds", help="Rounds at most.")] = Field(
        default=3, ge=1, le=10, description="rounds of proposal, critique, review, vote"
    )
    spend: Annotated[Spending, Option(help="When to ask more: while evidence is missing, or always.")] = Field(
        default="auto",
        description="adaptive: drafts, tests and argument while evidence is missing; fixed: all phases in turn; auto: "
        "adaptive for code, unless a rule for fixed spending is set",
    )
    effort: Annotated[int, Option(help="Most calls for drafts and blind tests.")] = Field(
        default=20, ge=2, le=100, description="calls that adaptive spending may make for drafts and blind tests"
    )
    argue_below: Unit = Field(
        default=0.0,
        description="with adaptive spending and no tests, seats of different models argue below this confidence; 0: "
        "only where nothing could be compared",
    )
    consensus: Unit = Field(default=0.75, description="agreement at which a debate ends, given green tests")
    phases: Annotated[
        tuple[Phase, ...], BeforeValidator(split_names), Option(help="Phases to run, separated by commas.")
    ] = Field(
        default=tuple(phase for phase in PHASES if phase != "adversarial"), description="the phases that are held"
    )
    phase_timeouts: Annotated[
        dict[Phase, Annotated[float, Field(gt=0)]],
        Option(flag="--phase-timeout", metavar="PHASE=SECONDS", help="Time limit of a phase. Repeatable."),
    ] = Field(default_factory=dict, description="seconds this phase may take each time it is held")
    phase_calls: Annotated[
        dict[Phase, Annotated[int, Field(ge=1)]],
        Option(metavar="PHASE=N", help="Question limit of a phase. Repeatable."),
    ] = Field(default_factory=dict, description="questions that may be put in this phase each time it is held")
    least_answers: Annotated[
        dict[Phase, Annotated[int, Field(ge=0)]],
        Option(metavar="PHASE=N", help="Usable answers a phase needs to count. Repeatable."),
    ] = Field(default_factory=dict, description="usable answers without which this phase counts as failed")
    required_roles: Annotated[
        dict[Phase, Names],
        Option(metavar="PHASE=ROLE,…", help="Roles that must answer in a phase. Repeatable."),
    ] = Field(default_factory=dict, description="roles without whose answer this phase counts as failed")
    at_once: Annotated[
        dict[Phase, Annotated[int, Field(ge=1)]],
        Option(metavar="PHASE=N", help="Seats asked at the same time in a phase. Repeatable."),
    ] = Field(default_factory=dict, description="seats asked at the same time in this phase")
    adversarial: Annotated[bool, Option(help="Attack and patch the solution before the vote.")] = Field(
        default=False, description="attack and patch the improved solution before the vote"
    )
    drafts: Annotated[int, Option(help="Independent drafts at the start.")] = Field(
        default=3, ge=1, le=24, description="independent answers before anybody reads another's"
    )
    refinements: int = Field(default=2, ge=0, le=5, description="repairs of a draft by its own author")
    voices: int = Field(default=3, ge=2, le=12, description="seats asked at once for repairs and tests")
    reserve: int = Field(default=0, ge=0, le=12, description="more drafts while fewer than two pass and behave alike")
    anew: int = Field(default=1, ge=0, le=5, description="attempts at another reading where no draft passes")
    attempts: int = Field(default=2, ge=1, le=5, description="attempts at an improved solution that passes its tests")
    enough_tests: int = Field(
        default=3, ge=0, le=20, description="fewer tests than this: seats write more before a debate of code ends early"
    )
    breaking: int = Field(default=3, ge=0, le=10, description="breaking tests one critic may bring")
    temperature: float = Field(default=0.8, ge=0, le=2, description="of every draft but a model's first one")
    topology: Annotated[Topology, Option(help="Who sees whose turns.")] = Field(
        default="auto", description="who sees whose turns, and who speaks at the same time"
    )
    planning: Annotated[Planning, Option(help="Who splits the work, and how.")] = Field(
        default="auto", description="who splits the work, and how"
    )
    voting: Annotated[Method | Literal["auto"], Option(help="How ballots are counted.")] = Field(
        default="auto", description="how ballots are counted"
    )
    tie_break: TieBreak = Field(default="highest_confidence", description="what breaks a tie of ballots")
    clarify: Clarify = Field(default="auto", description="always: ask what is unclear also in a simple task")
    roles_folder: Annotated[str, Option(flag="--roles", help="Folder with your own roles, one NAME.md each.")] = Field(
        default="", description="a folder with roles of your own, NAME.md each"
    )
    adjust: bool = Field(
        default=True,
        description="compare each phase with what is expected of it, and adjust prompts, seats and review weights of "
        "the next round",
    )
    lessons: int = Field(default=3, ge=0, le=20, description="lessons of earlier sessions a prompt may hold; 0: none")
    episodes: int = Field(
        default=3,
        ge=0,
        le=20,
        description="last failures of its model in its role that a seat is shown; 0: none",
    )
    records: bool = Field(
        default=True, description="weigh a ballot by how often its voter's model was right in its role"
    )
    search_files: bool = Field(
        default=True, description="quote the passages that fit the task where its files are too long to show whole"
    )
    tools: Annotated[
        Names, Option(help="Tools that seats may use if their role allows, e.g. run_tests; see `moot tools`.")
    ] = Field(
        default=(),
        description="tools that seats may use before they answer, each only those of its role; default: those that "
        "cost nothing, while candidates are judged; none: none",
    )

    edition: Literal[1, 2, 3] = Field(
        default=3, description="version of the protocol; sessions recorded by an earlier version keep theirs"
    )

    @model_validator(mode="before")
    @classmethod
    def keep_edition(cls, given: object) -> object:
        """Rules recorded by an earlier version keep its edition. Recorded rules are complete; a user's are not."""
        if not isinstance(given, dict) or not given.keys() >= {"timeout", *FIXED_RULES}:
            return given
        first = {} if "edition" in given else {"spend": "fixed", "edition": 1}
        return {**first, "argue_below": ARGUE_BELOW, **given}

    @property
    def adaptive(self) -> bool:
        own = type(self).model_fields
        set_ones = [name for name in FIXED_RULES if getattr(self, name) != own[name].get_default()]
        return self.spend == "adaptive" or (self.spend == "auto" and not set_ones)

    def seats_at_once(self, phase: Talk) -> int:
        return PARALLEL[phase] if phase == "planning" else self.at_once.get(phase, PARALLEL[phase])

    def includes_phase(self, phase: Phase) -> bool:
        return phase in self.phases or (phase == "adversarial" and self.adversarial)


class Member(Value):
    """One agent of the debate."""

    seat: str
    role: str
    model: str = ""
    system: str = ""
    tools: tuple[str, ...] = ()
    offered: tuple[str, ...] = ()
    """Those it has without being asked for, while candidates are judged."""
    score: float = 0.0
    history: Unit = 0.0
    """How often it was right before."""


class DebateInput(Value):
    task: Annotated[str, Option(help="The task in words; - is standard input.")]
    kind: Annotated[Literal["code", "topic"], Option(derived=True)] = "code"
    context: Annotated[Code | None, Option(flag="--file", short="-f", help="A file or folder the task is about.")] = (
        None
    )
    tests: Annotated[Tests | None, Option(help="Tests the code must pass; run in a sandbox.")] = None
    """They decide, and everybody sees them."""
    hidden: Annotated[
        Tests | None,
        Option(flag="--hidden-tests", help="Hidden tests, run only at the end: did the debate help or harm?"),
    ] = None
    """Run once at the end, to tell help from harm. Nobody sees them, and they decide nothing."""
    language: Annotated[Language, Option(short="-l", help="Language of the solution.")] = "python"
    path: Annotated[str, Option(derived=True)] = "solution.py"
    repository: Annotated[str, Option(derived=True)] = ""
    """The git repository that those files are in, if any: tools may look at it."""
    harden: Annotated[HardenRules, Option(derived=True)] = HardenRules()
    """How the adversarial phase attacks; the time is that of the debate."""
    team: Annotated[tuple[Member, ...], Option(derived=True)] = Field(min_length=1)
    unseated: Annotated[tuple[UnseatedRole, ...], Option(derived=True)] = ()
    """Roles that were named for the team and have no act in this task."""


class Clarification(Value):
    question: str
    category: Literal["requirements", "constraints", "edge_cases", "performance", "integration"] = "requirements"
    priority: Literal["high", "medium", "low"] = "medium"
    answer: str = ""
    source: Literal["task", "file", "person", "assumption"] = "assumption"
    quote: str = ""
    confidence: Unit | None = None


class ClaimedTest(Value):
    """A test that somebody says follows from the task: a call, and what must come of it."""

    id: str
    call: str
    expected: str
    by: tuple[str, ...]
    """Seats that said so independently."""
    against: tuple[str, ...] = ()
    """Seats that, asked without the value, gave another."""
    origin: Literal["specification", "breaking"] = "specification"
    category: TestCategory = "functional"
    difficulty: Difficulty = "basic"
    target: str = ""
    """The candidate it was meant to break."""
    requirement: str = ""
    """The words of the task that its author cites."""
    status: Literal["agreed", "disputed", "alone", "invalid"] = "alone"
    why: str = ""


class Checked(Value):
    """What came of a candidate when it was run."""

    passed: int = 0
    of: int = 0
    """Given tests and the task's own examples."""
    worth: float = 0.0
    """Passed tests weighted by kind: refusals count little if few results are right."""
    examples: int = 0
    examples_of: int = 0
    """The task's own examples among them."""
    agreed: int = 0
    agreed_of: int = 0
    """Claims that several seats made independently."""
    outcomes: tuple[str, ...] = ()
    """Each given test and its result."""
    answers: dict[str, Answer] = Field(default_factory=dict)
    """Results of the shared calls."""
    failures: str = ""
    failing: tuple[str, ...] = ()
    """Failing given tests and examples, by name."""
    failed: tuple[str, ...] = ()
    """Agreed claims that do not hold, by id."""
    green: bool = False
    """All tests passed, and there were some."""
    apart: int = 0
    """Passes judged in a separate process."""
    caveat: str = ""
    """The caveat if a pass could have been faked."""
    seconds: float = 0.0

    @property
    def was_run(self) -> bool:
        return bool(self.outcomes or self.answers)

    @cached_property
    def marks(self) -> tuple[str, ...]:
        """Its behaviour on everything that was tried. Cached, because every phase compares all of them; never change
        one by `model_copy`, which would keep the cache."""
        return (*self.outcomes, *(answer.mark for answer in self.answers.values()))

    @property
    def rank(self) -> tuple[bool, float, int, int, int]:
        return self.green, self.worth, self.passed, self.apart, self.agreed


class Candidate(Value):
    id: str
    seat: str
    round: int
    phase: Phase
    code: str = ""
    text: str = ""
    """The approach and its arguments; for a topic, the position itself."""
    limits: tuple[str, ...] = ()
    argument: str = ""
    """Why its author holds it to be right, and the parts it has."""
    parent: str = ""
    dropped: str = ""
    """Why it was dropped although nothing replaced it."""
    checked: Checked = Checked()

    @property
    def stands_for_parent(self) -> bool:
        """Whether it is the leader of its time, hardened or refactored: it takes that one's place before its equals."""
        return self.phase == "adversarial" or (self.phase == "optimization" and bool(self.parent))


class Point(Value):
    """One point of a critique."""

    seat: str
    round: int
    candidate: str
    stance: Literal["agree", "disagree"]
    point: str
    evidence: str = ""
    quote: str = ""
    """The words of the task that it rests on."""
    unsupported: bool = False
    """The validator found no words of the task for it: its author need not answer it."""


class Score(Value):
    """One candidate on the rubric: what was measured, and what reviewers said where nothing could be."""

    candidate: str
    total: Unit
    parts: dict[Criterion, Unit]
    measured: tuple[Criterion, ...] = ()
    reviewers: tuple[str, ...] = ()
    leader: Unit | None = None
    """The mean of the leader's own marks: it breaks ties of the total."""
    weights: dict[Criterion, Unit] = Field(default_factory=dict)
    """If the planner changed them."""


class Baseline(Value):
    """What the independent answers alone would have given."""

    candidate: str | None = None
    agreement: Unit = 0.0
    clusters: tuple[tuple[str, ...], ...] = ()
    calls: int = 0


class Consensus(Value):
    level: Unit = 0.0
    confidence: Unit = 0.0
    agreement: Unit = 0.0
    overlap: Unit = 0.0


class Vote(Value):
    """One round's ballots, and what came of them."""

    round: int
    candidates: tuple[str, ...]
    left_out: dict[str, str] = Field(default_factory=dict)
    """Candidates that were not on the ballot, and why."""
    ballots: tuple[RankedBallot, ...] = ()
    weights: tuple[BallotWeight, ...] = ()
    """What is known of each voter, and what its ballot weighs where `weighted` counts."""
    reasons: dict[str, str] = Field(default_factory=dict)
    election: Election
    consensus: Consensus = Consensus()
    conflict: Conflict | None = None


class PhaseReport(Value):
    phase: Phase
    round: int
    status: Literal["held", "skipped", "off", "failed"]
    calls: int = 0
    said: str = ""
    cut: str = ""
    """The phase's own limit that ended it early."""
    leader: str = ""


class DebateLesson(Value):
    """What a debate taught: where, and from which test or finding."""

    id: str
    text: str
    kind: FactKind | Literal["taught"]
    phase: str
    source: str


class Attacked(Value):
    """What an attack on one candidate left open."""

    candidate: str
    round: int
    by: Literal["harden", "scan"] = "harden"
    """Attacked by the adversarial phase, or only scanned at the end."""
    findings: tuple[Vulnerability, ...] = ()


class Flips(Value):
    """Baseline against result: by hidden tests where there are any, else by the tests everybody saw."""

    by: Literal["hidden", "tests", "nothing"] = "nothing"
    baseline: bool | None = None
    result: bool | None = None

    helped: bool = False
    harmed: bool = False


class DebateResult(Result):
    outcome: Outcome
    stop_reason: Stop
    rounds: int
    tested: bool
    grade: Grade = "opinion"
    sure: Unit | None = None
    """How often a choice on such evidence was right; None where your tests decide or nothing was compared."""
    winner: str | None = None
    why: str = ""
    code: str = ""
    path: str = ""
    text: str = ""
    passed: int = 0
    of: int = 0
    candidates: tuple[Candidate, ...] = ()
    claims: tuple[ClaimedTest, ...] = ()
    clarifications: tuple[Clarification, ...] = ()
    points: tuple[Point, ...] = ()
    scores: tuple[Score, ...] = ()
    votes: tuple[Vote, ...] = ()
    dissent: tuple[str, ...] = ()
    baseline: Baseline = Baseline()
    flips: Flips = Flips()
    phases: tuple[PhaseReport, ...] = ()
    topology: str = ""
    planning: str = ""
    checks: tuple[Checks, ...] = ()
    """Results of the project's CI hooks, by point."""
    plan: TaskPlan | None = None
    criteria: tuple[CheckedCriterion, ...] = ()
    """Done-criteria of the plan's parts."""
    comparisons: tuple[Comparison, ...] = ()
    """What the planner expected of each phase, and what happened."""
    emphases: tuple[Emphasis, ...] = ()
    """What the planner gave more weight, by round."""
    relays: tuple[Relay, ...] = ()
    delegations: tuple[Delegation, ...] = ()
    heard_tokens: HeardTokens = HeardTokens()
    hidden: SuiteRun | None = None
    hidden_passed: dict[str, bool] = Field(default_factory=dict)
    """Whether a candidate passes the hidden tests: the winner, the baseline's choice, first places of ballots."""
    lessons_told: tuple[UsedLesson, ...] = ()
    lessons_learnt: tuple[DebateLesson, ...] = ()
    attacks: tuple[Attacked, ...] = ()
    ratings: tuple[Rating, ...] = ()
    """What speaks for each draft, best first."""
    known: str = ""
    """What is known of the winner, in words."""
    untested: tuple[str, ...] = ()
    """Requirements, in the task's words, without a test."""
    remaining_risks: tuple[str, ...] = ()
    """Open findings of the adversarial phase in the winner, most serious first."""
    calls_full_run: int = 0
    assumptions: tuple[str, ...] = ()
    remaining_ambiguities: tuple[str, ...] = ()
    """Questions about the task that neither its words, nor its files, nor a person answered for sure."""
    acts: tuple[RoleAct, ...] = ()
    """What single roles did, and what came of it."""
    unseated: tuple[UnseatedRole, ...] = ()
    """Roles of the team without an act in this task."""

    @property
    def consensus_level(self) -> float | None:
        """Of the last vote; None if nobody voted."""
        return self.votes[-1].consensus.level if self.votes and self.votes[-1].ballots else None
