"""Runs CI hooks without a session."""

from collections.abc import Callable, Sequence

from pydantic import TypeAdapter, ValidationError

from moot.core.ci import ACTIONS, POINTS, Actions, Checks, CiHooks, Point
from moot.core.errors import UsageError
from moot.core.ports import Sandbox
from moot.core.types import Code, Tests
from moot.edge.checks import SandboxChecks
from moot.scan import StaticTeam
from moot.surfaces.code_checks.measurements import vault_of
from moot.surfaces.session.settings import Settings
from moot.text.secrets.withheld import mask_feedback

EXIT_CODES = {"passed": 0, "failed": 1}
NOTHING_SAID = 2


def exit_code(checks: Checks) -> int:
    return EXIT_CODES.get(checks.verdict, NOTHING_SAID)


def parse_point(word: str) -> Point:
    """`post_optimization`, also written `post-optimization` or `optimization`."""
    wanted = f"post_{word.lower().replace('-', '_').removeprefix('post_')}"
    if (found := next((point for point in POINTS if point == wanted), None)) is None:
        raise UsageError(f"unknown point {word!r}; the points are {', '.join(POINTS)}")
    return found


def refuse_ignored(settings: Settings) -> None:
    """Skipped checks must not look like passed ones."""
    if "ci.commands" in settings.ignored:
        raise UsageError(
            "the commands under [[ci.commands]] are not run: the project's moot.toml is not trusted; "
            "see `moot trust`, or name the checks with --action"
        )


def with_actions(hooks: CiHooks, point: Point, actions: Sequence[str]) -> CiHooks:
    """Replaces the configured actions at a point."""
    if not actions:
        return hooks
    try:
        chosen = TypeAdapter(Actions).validate_python(tuple(actions))
    except ValidationError:
        unknown = next(word for word in actions if word not in ACTIONS)
        raise UsageError(f"unknown action {unknown!r}; the actions are {', '.join(ACTIONS)}") from None
    kept = tuple(each for each in hooks.commands if each.point != point)
    return hooks.model_copy(update={"actions": {**hooks.actions, point: chosen}, "commands": kept})


async def run_checks_at(
    point: Point, code: Code, tests: Tests | None, hooks: CiHooks, box: Callable[[], Sandbox]
) -> Checks:
    """Runs everything configured at the point; raises if nothing is."""
    if not hooks.at(point):
        raise UsageError(
            f"nothing is configured at {point}: write `actions` under [ci.{point}] into moot.toml, or name an action"
        )
    sandbox = box() if hooks.needs_sandbox(point) else None
    checks = await SandboxChecks(hooks, StaticTeam(), sandbox).check(point, code, tests or Tests(files=()))
    vault = vault_of(code, tests)
    return checks.model_copy(update={"feedback": tuple(mask_feedback(each, vault) for each in checks.feedback)})
