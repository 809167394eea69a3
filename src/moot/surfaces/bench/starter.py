"""What `moot bench quick` measures on: HumanEval if that data set is installed, else ten tasks of our own."""

from pathlib import Path

from moot.core.errors import UsageError
from moot.surfaces.bench.data import has_data
from moot.surfaces.bench.suites.human_eval import TASKS


def find_quick_suite() -> tuple[str, Path | None]:
    """The suite and the folder of its tasks."""
    return ("human_eval", None) if has_data(TASKS) else ("custom", find_starter())


def find_starter() -> Path:
    """In an installed package beside this file, in a checkout among the examples."""
    here = Path(__file__).resolve()
    places = (here.with_name("starter"), here.parents[4] / "examples" / "bench")
    found = next((place for place in places if place.is_dir()), None)
    if found is None:
        raise UsageError("the tasks of `moot bench quick` are not installed; use `moot bench run custom FOLDER`")
    return found
