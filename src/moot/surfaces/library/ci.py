"""CI hooks from Python: `await ci_checks("post_proposal", Path("app.py"), actions=["linter"])`."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from moot.core.ci import Checks, OwnCommand, Point
from moot.core.types import Tests
from moot.edge.files.sources import read_tests
from moot.edge.sandbox import find_sandbox
from moot.surfaces.code_checks.ci_hooks import parse_point, refuse_ignored, run_checks_at, with_actions
from moot.surfaces.session.input_fields import Source, gather_code, paths_of
from moot.surfaces.session.project_environment import project_at
from moot.surfaces.session.settings import Settings


async def ci_checks(  # noqa: PLR0913 - a public door: everything but the first two is by name
    point: Point,
    source: Source,
    *,
    tests: str | Path | Tests | None = None,
    python: str | Path | None = None,
    actions: Sequence[str] = (),
    commands: Sequence[OwnCommand] = (),
    language: str | None = None,
) -> Checks:
    """Runs the checks of this point on code; `actions` and `commands` replace those of moot.toml.

    `source` is code as a `str` (then give `language`), a `Path`, several of them, or a `Code`.
    """
    point, settings = parse_point(point), Settings.load({})
    if not actions and not commands:
        refuse_ignored(settings)
    hooks = with_actions(settings.ci(), point, actions)
    if commands:
        kept = tuple(each for each in hooks.commands if each.point != point)
        chosen = hooks.actions if actions else {at: each for at, each in hooks.actions.items() if at != point}
        hooks = hooks.model_copy(update={"actions": chosen, "commands": (*kept, *commands)})
    given = tests if isinstance(tests, Tests) or tests is None else read_tests(str(tests))
    places = (None if isinstance(tests, Tests) else tests, *paths_of(source))
    box = partial(find_sandbox, False, settings.sandbox(), project_at(places, python))
    return await run_checks_at(point, gather_code(source, language).code, given, hooks, box)
