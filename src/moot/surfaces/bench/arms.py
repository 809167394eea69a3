"""Arms: ways to spend calls on a task. All are debates by other rules, but for the scan and the judges of `decide`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from moot.core.errors import UsageError
from moot.protocols.debate.types import PHASES, DebateRules
from moot.protocols.solve.attempts import task_examples
from moot.surfaces.bench.rows import ArmPlan, Choice
from moot.surfaces.bench.tasks import BenchTask, TaskKind
from moot.surfaces.session.settings import Settings

FRESH: dict[str, Any] = {"lessons": 0, "episodes": 0, "records": False}
"""What one task teaches must not reach another: a task's result would depend on the order of the run."""
ANSWERS: dict[str, Any] = {
    **FRESH, "spend": "fixed", "phases": ["proposal"], "max_rounds": 1, "planning": "off", "enough_tests": 0,
}  # fmt: skip
"""Independent answers and nothing else."""
ALL_PHASES: dict[str, Any] = {
    **FRESH,
    "spend": "fixed",
    "phases": [phase for phase in PHASES if phase != "adversarial"],
}
USUAL: dict[TaskKind, tuple[str, ...]] = {
    "code": ("single", "vote", "vote+examples", "adaptive"),
    "choice": ("single", "vote", "adaptive"),
    "text": ("single", "adaptive"),
    "repository": ("single", "adaptive"),
    "label": ("scan",),
}
EXAMPLES_VOTE = "vote+examples"
KNOWN = ("single", "vote", "vote+examples", "adaptive", "debate", "decide", "scan", "harden")


@dataclass(frozen=True)
class ArmWishes:
    """What the user asks for."""

    names: Sequence[str] = ()
    """Default: those that are usual for the suite."""
    models: Sequence[str] = ()
    answers: int | None = None
    """Of the votes; default: by the reference arm's spending."""
    without: Sequence[str] = ()
    only: Sequence[str] = ()
    topologies: Sequence[str] = ()
    votings: Sequence[str] = ()
    rules: Sequence[str] = ()
    """`RULE=VALUE`, each an arm of its own over the defaults."""

    @property
    def parts(self) -> bool:
        return bool(self.without or self.only or self.topologies or self.votings)


def most_answers() -> int:
    """As many drafts as a debate may have."""
    limits = [getattr(rule, "le", None) for rule in DebateRules.model_fields["drafts"].metadata]
    return next((limit for limit in limits if isinstance(limit, int)), 12)


def plan_arms(suite: str, tasks: Sequence[BenchTask], wishes: ArmWishes, settings: Settings) -> tuple[ArmPlan, ...]:
    names = list(dict.fromkeys(wishes.names or _usual(suite, tasks, bool(wishes.models))))
    if unknown := [name for name in names if name not in KNOWN]:
        raise UsageError(f"unknown arm {unknown[0]!r}; known are {', '.join(KNOWN)}")
    if EXAMPLES_VOTE in names and "vote" in names and not _have_examples(tasks):
        raise UsageError(f"the arm {EXAMPLES_VOTE} would be the arm vote: no task has an example")
    if wishes.parts and "debate" not in names:
        names.append("debate")
    if wishes.rules and "adaptive" not in names:
        names.append("adaptive")
    if any(name not in ("scan",) for name in names) and not wishes.models:
        raise UsageError("a benchmark of models needs one: give --model PROVIDER:MODEL, or set `model` in moot.toml")
    arms = [arm for name in names for arm in _plain_arms(name, wishes)]
    if wishes.parts or wishes.rules:
        arms += _part_arms(wishes)
    if len({arm.name for arm in arms}) != len(arms):
        raise UsageError("an arm is given twice")
    return tuple(_resolve(arm, settings) for arm in arms)


def reference_of(arms: Sequence[ArmPlan], wanted: str) -> str:
    """The arm whose spending the votes get: the suite's own, else the first that is no vote and no single answer."""
    names = [arm.name for arm in arms]
    if wanted in names:
        return wanted
    others = [arm.name for arm in arms if not arm.is_vote and not arm.name.startswith("single")]
    return others[0] if others else names[0]


def _usual(suite: str, tasks: Sequence[BenchTask], has_models: bool) -> tuple[str, ...]:
    if suite == "decide":
        return ("single", "vote", "decide")
    if suite == "harden":
        return ("scan", "harden") if has_models else ("scan",)
    kinds = {task.kind for task in tasks}
    usual = next((USUAL[kind] for kind in USUAL if kind in kinds), USUAL["code"])
    return tuple(name for name in usual if name != EXAMPLES_VOTE or _have_examples(tasks))


def _have_examples(tasks: Sequence[BenchTask]) -> bool:
    return any(task.kind == "code" and task_examples(task.prompt, task.language) for task in tasks)


def _plain_arms(name: str, wishes: ArmWishes) -> list[ArmPlan]:
    models = tuple(wishes.models)
    match name:
        case "single":
            first = ArmPlan(
                name="single", title="one answer of the first model", rules=ANSWERS, models=models[:1], answers=1
            )
            others = [
                ArmPlan(
                    name=f"single {model}", title=f"one answer of {model}", rules=ANSWERS, models=(model,), answers=1
                )
                for model in models[1:]
            ]
            return [first, *others]
        case "vote":
            title = "the answer that most others behave like"
            return [_vote(name, title, wishes)]
        case "vote+examples":
            title = "the same among those that pass most of the task's examples"
            return [_vote(name, title, wishes)]
        case "adaptive":
            return [
                ArmPlan(
                    name=name,
                    title="the default debate: makes calls only where evidence is missing",
                    rules=FRESH,
                    models=models,
                )
            ]
        case "debate":
            title = "debate with all phases except adversarial"
            return [ArmPlan(name=name, title=title, rules=ALL_PHASES, models=models)]
        case "decide":
            return [ArmPlan(name=name, title="judges with fixed stances", protocol="decide", models=models)]
        case "harden":
            return [ArmPlan(name=name, title="red and blue team with a model", protocol="harden", models=models)]
        case _:
            return [ArmPlan(name="scan", title="the deterministic scan, without a model", protocol="")]


def _vote(name: str, title: str, wishes: ArmWishes) -> ArmPlan:
    choose: Choice = "vote" if name == "vote" else "vote+examples"
    return ArmPlan(
        name=name, title=title, rules=ANSWERS, choose=choose, models=tuple(wishes.models), answers=wishes.answers
    )


def _part_arms(wishes: ArmWishes) -> list[ArmPlan]:
    def switch(name: str, base: str = "debate", **rules: Any) -> ArmPlan:
        under = ALL_PHASES if base == "debate" else FRESH
        return ArmPlan(name=name, title=f"{base}, {name}", rules={**under, **rules}, models=models, base=base)

    models, phases = tuple(wishes.models), ALL_PHASES["phases"]
    for phase in (*wishes.without, *wishes.only):
        if phase not in PHASES:
            raise UsageError(f"unknown phase {phase!r}; known are {', '.join(PHASES)}")
    arms = [switch(f"without {each}", phases=[phase for phase in phases if phase != each]) for each in wishes.without]
    arms += [switch(f"only {each}", phases=[each]) for each in wishes.only]
    arms += [switch(f"topology {each}", topology=each) for each in wishes.topologies]
    arms += [switch(f"voting {each}", voting=each) for each in wishes.votings]
    for pair in wishes.rules:
        rule, equals, value = (part.strip() for part in pair.partition("="))
        if not equals or rule not in DebateRules.model_fields:
            raise UsageError(f"--set must be RULE=VALUE with a rule of debate, not {pair!r}; see `moot config`")
        arms.append(switch(f"{rule}={value}", "adaptive", **{rule: value}))
    return arms


def _resolve(arm: ArmPlan, settings: Settings) -> ArmPlan:
    """With every rule written out, so that a resumed run does not depend on settings that changed."""
    if not arm.protocol:
        return arm
    rules = settings.rules(arm.protocol)
    if arm.protocol == "debate":
        try:
            rules = DebateRules.model_validate({**rules, **arm.rules}).model_dump(mode="json")
        except ValueError as error:
            raise UsageError(f"arm {arm.name!r}: {error}") from None
    return arm.model_copy(update={"rules": rules})
