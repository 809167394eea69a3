"""Pools: what a model or an agent once answered to each task of a set, in gzipped JSON lines.

A row of a pool has `task_id`, `prompt` (the task's text), `drafts` (code) and `tests` (lists of [call, value]); if a
task is there twice, `mode` says which row is without examples (`bare`) and which has them (`examples`).
"""

import ast
import gzip
import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from moot.core.errors import UsageError

VARIABLE, DEFAULT_FOLDER = "MOOT_DATA", Path("../shared/data")
QWEN = "qwen-pools.jsonl.gz"
TASKS, SOLUTIONS = "humaneval.jsonl.gz", "recorded-humaneval.jsonl.gz"
AGENTS = "humaneval/"
TEAMS: dict[str, tuple[str, ...]] = {
    "five-strong": (
        *("map-gpt-4-cot", "rfx-gpt4-simple-a", "ldb-gpt-4-1106-seed"),
        *("map-gpt-4-selfplanning", "rfx-gpt4-simple-b"),
    ),
    "six-weak": (
        *("ldb-gpt-3.5-seed", "map-gemini-pro-direct", "rfx-davinci003-simple"),
        *("ldb-codellama-34b-seed", "ldb-starcoder-seed", "rfx-gpt35-simple"),
    ),
}
"""Agents whose solutions are the drafts of one pool, in this order."""
PRELUDE = "import collections, functools, heapq, itertools, math, operator, re, string, sys\nfrom typing import *"
"""What the published solutions could take for granted when they were judged: several import nothing and were right."""
R = TypeVar("R", bound=BaseModel)


class PoolRow(BaseModel):
    task_id: str
    prompt: str
    drafts: tuple[str, ...]
    mode: str = ""
    tests: tuple[tuple[tuple[str, str], ...], ...] = ()


class AgentTask(BaseModel):
    task_id: str
    prompt: str
    entry_point: str


class AgentSolution(BaseModel):
    task_id: str
    agent: str
    solution: str


@dataclass(frozen=True)
class PoolTask:
    name: str
    text: str
    drafts: tuple[str, ...]
    """The greedy one first."""
    tests: tuple[tuple[str, ...], ...] = ()
    """Replies with tests, each line `call == value`. A reply may be empty: nothing in it could be used."""
    mode: str = ""


@dataclass(frozen=True)
class ReplyPool:
    name: str
    tasks: Mapping[str, PoolTask]
    """By the task's text, without the space around it."""


def open_pool(name: str, env: Mapping[str, str]) -> ReplyPool:
    """`qwen`, `humaneval/AGENT`, `humaneval/TEAM` or a file; `UsageError` if it is not here or not a pool."""
    if name.startswith(AGENTS):
        return _open_agents(name, find_data(TASKS, env), find_data(SOLUTIONS, env))
    if name == "qwen":
        return read_pool(find_data(QWEN, env), name)
    if not name.endswith((".jsonl", ".jsonl.gz")):
        known = f"qwen, {AGENTS}AGENT, {', '.join(AGENTS + team for team in TEAMS)}"
        raise UsageError(f"unknown pool {name!r}; known are {known}, and files of the form NAME.jsonl.gz")
    path = Path(name).expanduser()
    if not path.is_file():
        raise UsageError(f"the pool {name!r} does not exist; check the path")
    return read_pool(path, path.name)


def list_pools(env: Mapping[str, str]) -> tuple[str, ...]:
    """The pools whose data is here; `UsageError` if there is none."""
    folder = find_data_folder(env)
    found = ("qwen",) if (folder / QWEN).is_file() else ()
    if (folder / TASKS).is_file() and (folder / SOLUTIONS).is_file():
        found = (*found, *(AGENTS + team for team in TEAMS), f"{AGENTS}AGENT")
    if not found:
        here = f" in {str(folder)!r}" if env.get(VARIABLE) else ""
        raise UsageError(f"there is no pool{here}; set {VARIABLE} to the folder that has {QWEN}")
    return found


def find_data(name: str, env: Mapping[str, str]) -> Path:
    path = find_data_folder(env) / name
    if not path.is_file():
        raise UsageError(f"{name} is not in {str(path.parent)!r}; set {VARIABLE} to the folder that has it")
    return path


def find_data_folder(env: Mapping[str, str]) -> Path:
    """MOOT_DATA, from the current folder; by default beside the checkout that holds this file. An installed Moot has no
    checkout, and looks from the current folder."""
    if said := env.get(VARIABLE):
        return Path(said).expanduser().resolve()
    checkout = Path(__file__).resolve().parents[4]
    root = checkout if (checkout / "pyproject.toml").is_file() else Path.cwd()
    return (root / DEFAULT_FOLDER).resolve()


def read_pool(path: Path, name: str) -> ReplyPool:
    """Of two rows with the same text the first counts."""
    return _read_pool(path, name, path.stat().st_mtime_ns)


@lru_cache(maxsize=4)
def _read_pool(path: Path, name: str, changed: int) -> ReplyPool:
    tasks = dict[str, PoolTask]()
    for row in _read_rows(path, PoolRow):
        tests = tuple(tuple(f"{call} == {value}" for call, value in reply) for reply in row.tests)
        text = row.prompt.strip()
        tasks.setdefault(text, PoolTask(row.task_id, text, row.drafts, tests, row.mode))
    if not tasks:
        raise UsageError(f"the pool {str(path)!r} is empty")
    return ReplyPool(name, tasks)


def _open_agents(name: str, tasks: Path, solutions: Path) -> ReplyPool:
    wanted = name.removeprefix(AGENTS)
    by_agent = _read_solutions(solutions, solutions.stat().st_mtime_ns)
    agents = TEAMS.get(wanted, (wanted,))
    if strangers := [agent for agent in agents if agent not in by_agent]:
        known = ", ".join((*TEAMS, *sorted(by_agent)))
        raise UsageError(f"{solutions.name} has no solutions of {strangers[0]!r}; known are {known}")
    found = dict[str, PoolTask]()
    for task in _read_rows(tasks, AgentTask):
        drafts = [
            complete_solution(task, by_agent[agent][task.task_id])
            for agent in agents
            if task.task_id in by_agent[agent]
        ]
        if drafts:
            found[task.prompt.strip()] = PoolTask(task.task_id, task.prompt.strip(), tuple(drafts))
    return ReplyPool(name, found)


@lru_cache(maxsize=1)
def _read_solutions(path: Path, changed: int) -> dict[str, dict[str, str]]:
    found = dict[str, dict[str, str]]()
    for row in _read_rows(path, AgentSolution):
        found.setdefault(row.agent, {})[row.task_id] = row.solution
    return found


def complete_solution(task: AgentTask, solution: str) -> str:
    """The whole program: some agents continued the task's code, others wrote the function anew."""
    before = task.prompt.partition(f"def {task.entry_point}(")[0].strip("\n")
    given = before if _defines(solution, task.entry_point) else task.prompt.strip("\n")
    return "\n\n".join(filter(None, (PRELUDE, given, solution.strip("\n")))) + "\n"


def _defines(code: str, name: str) -> bool:
    try:
        return any(isinstance(node, ast.FunctionDef) and node.name == name for node in ast.parse(code).body)
    except (SyntaxError, ValueError):
        return False


def _read_rows(path: Path, shape: type[R]) -> Iterator[R]:
    read = 0
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
            for line in lines:
                read += 1
                yield shape.model_validate(json.loads(line))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "it"
        raise UsageError(f"line {read} of {str(path)!r} is no row of a pool: {where}: {first['msg']}") from None
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise UsageError(f"{str(path)!r} cannot be read after line {read}: {error}") from None
