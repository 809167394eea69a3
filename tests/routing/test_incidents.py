"""Commands of real incidents and their harmless look-alikes. `benchmarks/run_routing.py` makes the confusion table."""

from collections import Counter
from pathlib import Path
from typing import NamedTuple

from moot.routing import route
from moot.routing.command import command_route

FOLDER = Path(__file__).parent
KNOWN_WRONG = {"env | grep -c '^NODE'"}
"""It counts and shows nothing, but the router takes `env` for what it prints."""


class Row(NamedTuple):
    expected: str
    command: str
    family: str
    source: str


def rows(name: str) -> list[Row]:
    """Tab-separated: stop or pass, command (`\\n` is a line break), family, incident or source."""
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()[1:]
    parts = [[*line.split("\t"), ""] for line in lines]
    return [Row(p[0], p[1].replace("\\n", "\n"), p[2], p[3]) for p in parts]


def test_every_command_of_the_table_is_told_apart() -> None:
    wrong = []
    for row in rows("incidents.tsv"):
        for seen in (route(row.command), command_route(row.command)):
            stopped = seen.stakes != "low" and not seen.bypass
            if stopped != (row.expected == "stop") and row.command not in KNOWN_WRONG:
                wrong.append(f"{row.expected}: {row.command!r} is {seen.stakes} {seen.bypass}: {seen.reason}")
    assert not wrong, "\n".join(wrong)


def test_the_tables_are_even_and_new() -> None:
    earlier = {line.split("\t")[0] for line in (FOLDER / "table.tsv").read_text(encoding="utf-8").splitlines()}
    for name, least in (("incidents.tsv", 100), ("held_out.tsv", 40)):
        found = rows(name)
        count = Counter(row.expected for row in found)
        assert set(count) == {"stop", "pass"} and min(count.values()) >= least
        assert max(count.values()) <= 1.1 * min(count.values())
        commands = [row.command for row in found]
        assert len(set(commands)) == len(commands) and not set(commands) & earlier
        assert all(row.family for row in found)
        earlier |= set(commands)


def test_incidents_are_named() -> None:
    assert len({row.source for row in rows("incidents.tsv") if row.source}) >= 20
