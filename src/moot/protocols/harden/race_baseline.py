"""A version of the code as the scan sees it and, for Go tests, as the race detector sees it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from moot.core.room import Room
from moot.core.types import Code, RaceRun, Scan, SuiteRun, Tests, Vulnerability
from moot.evidence.races import count_unlocated, find_races, in_tests_only
from moot.protocols.harden.turn_reports import Version


@dataclass(frozen=True)
class BaselineRun:
    tests: Tests | None
    run: SuiteRun | None = None
    watch: bool = False
    """Whether the race detector can be used on them."""

    @property
    def why_not_run(self) -> str:
        """Why the given tests cannot run at all; empty if they can, or if there are none."""
        return why_not_run(self.run) if self.run else ""


def why_not_run(run: SuiteRun) -> str:
    """An inconclusive run, or one in which every test broke before it could fail, such as a missing package."""
    if run.problem:
        return run.problem
    broken = [outcome for outcome in run.outcomes if outcome.status != "skipped"]
    if not broken or any(outcome.status != "error" for outcome in broken):
        return ""
    lines = [line.removeprefix("E ").strip() for line in broken[0].detail.splitlines() if line.strip()]
    telling = [line for line in lines if "Error" in line or "No module" in line]
    return (telling or lines or ["every test broke"])[-1]


async def scan_given_code(code: Code, baseline: BaselineRun, room: Room) -> tuple[Version, BaselineRun]:
    """The code as given. A race detector that cannot be used now is not tried again."""
    version = Version(code, await room.scan(code))
    if baseline.tests is None or not can_detect_races(code, baseline):
        return version, baseline
    run = await room.race(code, baseline.tests)
    if run.problem:
        room.degrade(f"races were looked for by the scan alone, not by execution: {run.problem}")
        return version, baseline
    return note_races(version, run, (), baseline.tests, room), replace(baseline, watch=True)


async def scan_patched_code(code: Code, before: Version, baseline: BaselineRun, room: Room) -> Version:
    """A patched version. A known race is gone only if a successful run no longer shows it."""
    version = Version(code, await room.scan(code))
    if baseline.tests is None or not baseline.watch:
        return version
    run = await room.race(code, baseline.tests)
    if run.problem:
        room.degrade(f"a patched version could not be watched for races: {run.problem}")
    unsure = run.problem or count_unlocated(run.reports, code, baseline.tests)
    old = [f for f in before.scan.findings if f.source == "executed"] if unsure else []
    return note_races(version, run, old, baseline.tests, room)


def can_detect_races(code: Code, baseline: BaselineRun) -> bool:
    """Only Go has a race detector, and tests that do not run show nothing."""
    if baseline.tests is None or baseline.run is None or baseline.run.problem:
        return False
    return baseline.tests.language == "go" and any(file.language == "go" for file in code.files)


def note_races(version: Version, run: RaceRun, old: Sequence[Vulnerability], tests: Tests, room: Room) -> Version:
    races = find_races(run.reports, version.code, tests)
    for places in in_tests_only(run.reports, version.code, tests):
        room.degrade(f"a data race within the given tests: {places}")
    if lost := count_unlocated(run.reports, version.code, tests):
        room.degrade(f"{lost} data races at no place in the given files")
    known = {race.fingerprint for race in races}
    races = (*races, *(race for race in old if race.fingerprint not in known))
    return Version(version.code, with_races(version.scan, races))


def with_races(scan: Scan, races: Sequence[Vulnerability]) -> Scan:
    return scan.model_copy(update={"findings": (*scan.findings, *races)})
