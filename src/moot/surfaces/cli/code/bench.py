"""`moot bench`: does a debate earn its calls, on your own models and tasks?"""

import asyncio
import os
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal, get_args

import typer

from moot.core.errors import UsageError
from moot.core.protocol import CUT_SHORT, INTERRUPTED
from moot.surfaces.bench.arms import KNOWN, ArmWishes
from moot.surfaces.bench.carriers import check_own_models
from moot.surfaces.bench.compare import FinishedBench, compare_runs, report_comparison
from moot.surfaces.bench.launch import (
    RUNS,
    PreparedRun,
    RunWishes,
    carry_run,
    estimate_run,
    hold_folder,
    prepare_run,
    reopen_run,
    report_run_estimate,
)
from moot.surfaces.bench.metrics import BenchFigures, count_figures
from moot.surfaces.bench.report import report_run, write_reports
from moot.surfaces.bench.rows import PLAN_FILE, Equal, RunPlan, read_plan, read_rows
from moot.surfaces.bench.runner import AT_ONCE, BenchRunner, RunProgress
from moot.surfaces.bench.starter import find_quick_suite
from moot.surfaces.bench.suites import SUITES, SuiteSource
from moot.surfaces.cli.interrupts import stop_on_interrupt
from moot.surfaces.cli.options import JsonFlag, TeamModelFlag
from moot.surfaces.cli.report_terminal import show_report
from moot.surfaces.cli.screen import ask_on_terminal, err, plain, print_json
from moot.surfaces.cli.session_flags import LIMITS, LimitFlags, with_flags
from moot.surfaces.session.settings import Settings, open_store

STOPPED = "stopped by you"
QUICK_TASKS = 12
EVERY = 5.0
"""Seconds between two lines of progress where there is no terminal."""
EXAMPLES = """Examples:

  moot bench run custom my-tasks -m openai:gpt-5-mini           your tasks, your tests

  moot bench run human_eval -m ollama:qwen3 --limit 40 --estimate

  moot bench run custom my-tasks -m A -m B --arm adaptive --without critique --topology chain

  moot bench run harden                          labelled code, without a model

  moot bench run custom my-tasks --name first --resume          after an interruption
"""


@dataclass(frozen=True)
class BenchFlags(LimitFlags):
    """What commands that measure take. The limits are those of each task's session."""

    model: TeamModelFlag = None
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Only say what it would cost: calls, tokens, dollars. Asks no model.")
    ] = False
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask, whatever it may cost.")] = False

    def settings(self) -> Settings:
        limits = {name: getattr(self, name) for name in (*LIMITS, "timeout", "store")}
        settings = Settings.load({"model": tuple(self.model or ()), **limits})
        before: Literal["go", "ask", "estimate"] = "estimate" if self.estimate else "go" if self.yes else "ask"
        return replace(settings.with_pick(), before=before)


@dataclass(frozen=True)
class ArmFlags(BenchFlags):
    """Which arms a run has."""

    arm: Annotated[
        list[str] | None, typer.Option("--arm", help=f"An arm: {', '.join(KNOWN)}. Repeatable; default: by the suite.")
    ] = None
    equal: Annotated[
        str, typer.Option("--equal", help="What arms spend equally much of: calls, tokens, usd, none.")
    ] = "calls"
    answers: Annotated[int | None, typer.Option("--answers", min=1, help="Answers of a vote, instead of --equal.")] = (
        None
    )
    without: Annotated[list[str] | None, typer.Option("--without", help="An arm: all phases but this one.")] = None
    only: Annotated[list[str] | None, typer.Option("--only", help="An arm: this phase alone.")] = None
    topology: Annotated[list[str] | None, typer.Option("--topology", help="An arm: this topology.")] = None
    voting: Annotated[list[str] | None, typer.Option("--voting", help="An arm: this way to count ballots.")] = None
    rule: Annotated[
        list[str] | None, typer.Option("--set", metavar="RULE=VALUE", help="An arm: the default debate with this rule.")
    ] = None

    def wishes(self, settings: Settings) -> ArmWishes:
        return ArmWishes(
            names=self.arm or (),
            models=settings["model"],
            answers=self.answers,
            without=self.without or (),
            only=self.only or (),
            topologies=self.topology or (),
            votings=self.voting or (),
            rules=self.rule or (),
        )

    def measure(self) -> Equal:
        found: Equal | None = next((word for word in get_args(Equal) if word == self.equal), None)
        if found is None:
            raise UsageError(f"--equal must be one of {', '.join(get_args(Equal))}, not {self.equal!r}")
        return found


def register(app: typer.Typer) -> None:
    app.command("bench-run", epilog=EXAMPLES)(with_flags(ArmFlags)(run_command))
    app.command("bench-quick")(with_flags(BenchFlags)(quick_command))
    app.command("bench-compare")(compare_command)
    app.command("bench-report")(report_command)
    app.command("bench-export")(export_command)


def run_command(
    flags: ArmFlags,
    suite: Annotated[str, typer.Argument(help=f"One of: {', '.join(SUITES)}.")],
    path: Annotated[Path | None, typer.Argument(help="Folder or file of your own tasks.")] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="Tasks, the first by the SHA-256 of their ids.")
    ] = None,
    no_examples: Annotated[
        bool, typer.Option("--no-examples", help="Remove the examples from the tasks' texts.")
    ] = False,
    repos: Annotated[Path | None, typer.Option("--repos", help="Folder with git clones, for swe_bench.")] = None,
    mutants: Annotated[
        int, typer.Option("--mutants", min=0, help="Faults put into each right answer, to rate the tests.")
    ] = 0,
    budget: Annotated[float | None, typer.Option("--budget", min=0, help="Dollars for the whole run.")] = None,
    name: Annotated[str, typer.Option("--name", help="Name of the run.")] = "",
    out_folder: Annotated[Path | None, typer.Option("--out", help=f"Folder of the run; default: {RUNS}/NAME.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the run of this --name or --out.")] = False,
    at_once: Annotated[int, typer.Option("--at-once", min=1, help="Sessions in parallel.")] = AT_ONCE,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the bootstrap.")] = 1,
) -> None:
    """Measure arms on a suite: single answer, vote, debate, at equal mean cost. Hidden tests judge.

    Every task of every arm is a session in the store. The run is a folder with its plan, its rows and its report.
    Exit code 0: complete; 2: sessions are missing (--resume does the rest) or no task has a verdict; 130: stopped by
    Ctrl-C.
    """
    settings, equal = flags.settings(), flags.measure()
    if resume:
        run = _reopen(suite, _folder_of(name, out_folder), repos)
    else:
        source = SuiteSource(folder=path, repos=repos, examples=not no_examples)
        wishes = RunWishes(suite, source, flags.wishes(settings), limit, equal, budget, mutants, seed, name)
        run = prepare_run(wishes, settings, out_folder)
        agree_to_run(run, settings, flags, always=False)
    raise typer.Exit(finish_run(run, settings, flags, at_once))


def _reopen(suite: str, folder: Path, repos: Path | None) -> PreparedRun:
    run = reopen_run(folder, repos)
    if run.plan.suite != suite:
        raise UsageError(f"{folder} is a run of {run.plan.suite}, not of {suite}")
    return run


def quick_command(
    flags: BenchFlags,
    limit: Annotated[int, typer.Option("--limit", min=1, help="Tasks.")] = QUICK_TASKS,
    name: Annotated[str, typer.Option("--name", help="Name of the run.")] = "",
    at_once: Annotated[int, typer.Option("--at-once", min=1, help="Sessions in parallel.")] = AT_ONCE,
) -> None:
    """Is a debate worth its cost on your models? A few tasks, in minutes: says what it would cost, then asks.

    Uses HumanEval where MOOT_DATA has it, else ten tasks of Moot's own.
    Exit code 0: complete; 2: sessions are missing; 130: stopped by Ctrl-C.
    """
    settings = flags.settings()
    suite, folder = find_quick_suite()
    source, arms = SuiteSource(folder=folder), ArmWishes(models=settings["model"])
    run = prepare_run(RunWishes(suite=suite, source=source, arms=arms, limit=limit, name=name), settings)
    agree_to_run(run, settings, flags, always=True)
    raise typer.Exit(finish_run(run, settings, flags, at_once))


def compare_command(
    first: Annotated[str, typer.Argument(help="Name or folder of a run.")],
    second: Annotated[str, typer.Argument(help="Name or folder of the other run.")],
    arm: Annotated[str, typer.Option("--arm", help="Only this arm.")] = "",
    json_output: JsonFlag = False,
) -> None:
    """Compare two runs, task by task, over the tasks that both have."""
    runs = [FinishedBench(read_plan(folder), read_rows(folder)) for folder in map(_find_run, (first, second))]
    found = compare_runs(runs[0], runs[1], arm)
    if json_output:
        print_json(found)
    else:
        show_report(report_comparison(found))


def report_command(
    run: Annotated[str, typer.Argument(help="Name or folder of a run.")],
    json_output: JsonFlag = False,
) -> None:
    """Show the report of a run again, from its rows, and rewrite its files."""
    folder = _find_run(run)
    present(read_plan(folder), folder, json_output=json_output, quiet=False)


def export_command(
    run: Annotated[str, typer.Argument(help="Name or folder of a run.")],
    log_file: Annotated[Path, typer.Option("--inspect", help="Log for Inspect to write: NAME.eval.")],
) -> None:
    """Export a run for other tools: a log that `inspect view` shows. Needs moot[inspect]."""
    from moot.surfaces.bench.inspect_log import export_run

    folder = _find_run(run)
    begun = datetime.fromtimestamp((folder / PLAN_FILE).stat().st_mtime, UTC)
    export_run(read_plan(folder), read_rows(folder), log_file, begun)
    err().print(plain(f"written: {log_file}"))


# --- before, while and after


def agree_to_run(run: PreparedRun, settings: Settings, flags: BenchFlags, *, always: bool) -> None:
    """Say what it would cost and end, or ask: always, or above the amount that is spent unasked."""
    if settings.before != "estimate":
        check_own_models(run.plan.models, settings)
    limit = settings["ask_above"]
    if settings.before == "go" or (settings.before == "ask" and limit is None and not always):
        return
    estimate = estimate_run(run, settings)
    if settings.before == "estimate" and flags.json_output:
        print_json(estimate)
        raise typer.Exit(0)
    most = estimate.usd_most
    if settings.before == "ask" and not always and (most is not None and most <= limit):
        return
    if not flags.json_output:
        show_report(report_run_estimate(estimate))
    if settings.before == "estimate":
        raise typer.Exit(0)
    if ask_on_terminal("moot: begin? [y/N] ") not in ("y", "yes"):
        raise UsageError("not started; --yes starts without asking, --estimate only says what it would cost")


def finish_run(run: PreparedRun, settings: Settings, flags: BenchFlags, at_once: int) -> int:
    with hold_folder(run.folder):
        runner = asyncio.run(_run(run, settings, flags, at_once))
        present(run.plan, run.folder, json_output=flags.json_output, quiet=flags.quiet)
    for why in dict.fromkeys(runner.unfinished.values()):
        err().print(plain(f"not finished: {why}"))
    if runner.is_complete:
        return 0 if any(row.right is not None for row in runner.rows.values()) else CUT_SHORT
    err().print(plain(f"{runner.why_stopped or 'sessions are missing'}; continue with: {_resume_line(run)}"))
    return INTERRUPTED if runner.why_stopped == STOPPED else CUT_SHORT


def _resume_line(run: PreparedRun) -> str:
    default = run.folder == RUNS / run.plan.name
    where = f"--name {run.plan.name}" if default else f"--out {run.folder}"
    return f"moot bench run {run.plan.suite} {where} --resume"


async def _run(run: PreparedRun, settings: Settings, flags: BenchFlags, at_once: int) -> BenchRunner:
    store = open_store(settings)
    show = ProgressLine(quiet=flags.quiet)
    try:
        return await carry_run(run, settings, store, tell=show, at_once=at_once, while_running=_stop_on_interrupt)
    finally:
        show.close()
        await store.aclose()


def _stop_on_interrupt(runner: BenchRunner) -> AbstractContextManager[None]:
    return stop_on_interrupt(lambda: runner.stop(STOPPED))


class ProgressLine:
    """One moving line on a terminal, else a line now and then."""

    def __init__(self, *, quiet: bool, clock: Callable[[], float] = time.monotonic) -> None:
        self._quiet, self._clock, self._last, self._live = quiet, clock, 0.0, sys.stderr.isatty()

    def __call__(self, progress: RunProgress) -> None:
        if self._quiet or (not self._live and self._clock() - self._last < EVERY and progress.done < progress.total):
            return
        self._last = self._clock()
        line = format_progress(progress)
        if self._live:
            width = os.get_terminal_size(sys.stderr.fileno()).columns - 1
            sys.stderr.write("\r" + plain(line).plain[:width].ljust(width))
            sys.stderr.flush()
        else:
            err().print(plain(line))

    def close(self) -> None:
        if self._live and self._last:
            sys.stderr.write("\n")


def format_progress(progress: RunProgress) -> str:
    left = progress.seconds_left
    rest = f", about {format_time(left)} left" if left is not None and progress.done < progress.total else ""
    row = progress.row
    mark = "skipped" if row.skipped else "no verdict" if row.right is None else "right" if row.right else "wrong"
    spent = format_time(progress.seconds)
    return f"{progress.done} of {progress.total}, {spent}{rest}: {row.arm} {row.task} {mark}"


def format_time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def present(plan: RunPlan, folder: Path, *, json_output: bool, quiet: bool) -> BenchFigures:
    """Write the reports and show one."""
    rows = read_rows(folder)
    figures = count_figures(plan, rows)
    report = report_run(plan, figures, rows)
    files = write_reports(folder, plan, figures, report)
    if json_output:
        print_json(figures)
    else:
        show_report(report)
        if not quiet:
            err().print(plain(f"written: {', '.join(map(str, files))}"))
    return figures


def _folder_of(name: str, out_folder: Path | None) -> Path:
    if not name and out_folder is None:
        raise UsageError("--resume needs the run: --name NAME or --out FOLDER")
    return out_folder or RUNS / name


def _find_run(said: str) -> Path:
    places = [Path(said), RUNS / said]
    found = next((place for place in places if (place / PLAN_FILE).is_file()), None)
    if found is None:
        raise UsageError(f"no run {said!r}: neither {places[0]} nor {places[1]} has a {PLAN_FILE}")
    return found
