"""`python -m stress [--short] [SCENARIO …]`: plays them, prints what became of each, and ends with 1 if anything was
lost. Figures are kept in benchmarks/results/reliability.txt, each run below the command that made it."""

import argparse
import faulthandler
import os
import platform
import shlex
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fleetkit import Nursery

from benchmarks.kept import RESULTS, render_result
from stress.history import History
from stress.scenarios import SCENARIOS
from stress.scene import Ground, NotRun, Outcome
from stress.stand import Stuck

LIMIT = 1800
"""Seconds after which a scenario that does not end writes its stacks and is ended."""
SHOWN = 20
SHORT = "command: make stress STRESS=--short"
"""The run of all scenarios in short stands first."""


@dataclass(frozen=True)
class Played:
    name: str
    outcome: Outcome
    seconds: float
    skipped: str = ""


def play(name: str, nursery: Nursery, long: bool) -> Played:
    began = time.monotonic()
    faulthandler.dump_traceback_later(LIMIT, exit=True)
    with tempfile.TemporaryDirectory(prefix="moot-stress-") as folder:
        ground = Ground(Path(folder), nursery, long)
        try:
            outcome = SCENARIOS[name](ground)
        except NotRun as why:
            return Played(name, Outcome("", "", History()), 0.0, str(why))
        except Stuck as stuck:
            sys.stderr.write(f"{stuck.stacks}\n")
            outcome = Outcome("", "", History([str(stuck)]))
        finally:
            faulthandler.cancel_dump_traceback_later()
    return Played(name, outcome, time.monotonic() - began)


def tell(played: Played) -> list[str]:
    if played.skipped:
        return [f"{played.name}: not run: {played.skipped}"]
    found, outcome = played.outcome.history, played.outcome
    ends = ", ".join(f"{count} {status}" for status, count in sorted(found.ends.items()))
    return [
        f"{played.name}: {outcome.load}; {outcome.faults or 'stuck'}; {played.seconds:.0f} s",
        f"  ended: {ends}; taken over or resumed: {found.taken}; gates: {found.gates}; "
        f"requests of clients made again: {found.breaks}",
        f"  calls: {found.asked}, of them {found.failed} failed; answers recorded: {found.recorded}; "
        f"not recorded when something died, and asked again: {found.again}",
        *(f"  {note}" for note in outcome.notes),
        f"  lost, repeated, or wrong: {len(found.troubles)}",
        *(f"    {trouble}" for trouble in found.troubles[:SHOWN]),
    ]


def total(all_played: Sequence[Played]) -> list[str]:
    found = History()
    for played in all_played:
        found.add(played.outcome.history)
    seconds = sum(played.seconds for played in all_played)
    return [
        f"all: {found.sessions} sessions, {found.asked} calls, {found.gates} gates in {seconds / 60:.1f} minutes; "
        f"lost, repeated, or wrong: {len(found.troubles)}"
    ]


def command_of(given: argparse.Namespace) -> str:
    words = " ".join([*given.scenarios, *(["--short"] if given.short else [])])
    return " ".join(["make stress", *([f"STRESS={shlex.quote(words)}"] if words else [])])


def add_section(before: str, section: str) -> str:
    """In the place of the last run of the same command. A long run of all replaces everything."""
    command = section.partition("\n")[0]
    if command == "command: make stress":
        return section
    kept = [f"command: {each.strip()}\n" for each in before.split("command: ") if each.strip()]
    others = [each for each in kept if each.partition("\n")[0] != command]
    return "\n".join([*others, section] if command != SHORT else [section, *others])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scenarios", nargs="*", help=f"of {', '.join(SCENARIOS)}; default: all")
    parser.add_argument("--short", action="store_true", help="the form that `make test` runs")
    given = parser.parse_args()
    unknown = set(given.scenarios) - set(SCENARIOS)
    if unknown:
        parser.error(f"no scenario {', '.join(sorted(unknown))}")
    nursery, done = Nursery(), list[Played]()
    lines = [f"Python {platform.python_version()}, {os.cpu_count()} cores, load before {os.getloadavg()[0]:.1f}", ""]
    try:
        for name in given.scenarios or SCENARIOS:
            sys.stderr.write(f"{name} …\n")
            done.append(play(name, nursery, not given.short))
            lines += [*(said := tell(done[-1])), ""]
            sys.stdout.write("\n".join([*said, "", ""]))
            sys.stdout.flush()
    finally:
        nursery.end()
    lines += (last := total(done))
    sys.stdout.write("\n".join([*last, ""]))
    if not (given.scenarios and given.short):
        file = RESULTS / "reliability.txt"
        before = file.read_text(encoding="utf-8") if file.exists() else ""
        file.write_text(add_section(before, render_result("\n".join(lines), command_of(given), ())), encoding="utf-8")
    return int(any(played.outcome.history.troubles for played in done))


if __name__ == "__main__":
    sys.exit(main())
