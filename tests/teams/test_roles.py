"""Roles, teams and records: files that are read or refused, scores by tables, records that are kept once."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import pytest
from conftest import Cli

from moot.core.errors import ConfigError
from moot.core.experience import Judged, TrackRecord
from moot.edge.files.roles import read_roles, read_team_file
from moot.edge.store import SqlStore
from moot.edge.store.records import TrackRecords
from moot.teams.roles import (  # fmt: skip
    DOMAINS,
    Domain,
    as_team,
    best_team,
    domain_of,
    domain_score,
    load_shipped_roles,
    positions,
    read_role,
    read_team,
    record_of,
    share_right,
)

R = TypeVar("R")
NOW = datetime(2026, 11, 15, tzinfo=UTC)
SESSION = "00000000-0000-0000-0000-000000000001"
OTHER = "00000000-0000-0000-0000-000000000002"
SPEC = [
    "proposer", "generator", "critic", "reviewer", "optimizer", "refactorer", "performance_analyzer", "moderator",
    "architect", "security", "test_agent", "validator", "red_team", "blue_team", "teacher", "compiler", "executor",
    "judge", "implementer", "designer",
]  # fmt: skip
GOOD = "---\nfocus: finding books\ntools: [search_files]\naffinities: {code: 0.2}\n---\nYou are the librarian.\n"


def test_the_twenty_roles_ship_and_are_short_enough_for_small_models() -> None:
    assert sorted(load_shipped_roles()) == sorted(SPEC)
    for role in load_shipped_roles().values():
        assert role.focus and role.tools and set(role.affinities) == set(DOMAINS)
        assert len(role.prompt) < 1200 and role.prompt.startswith("You are the ")
    assert (
        len({role.prompt for role in load_shipped_roles().values()})
        == len({role.focus for role in load_shipped_roles().values()})
        == 20
    )


@pytest.mark.parametrize(
    ("role", "tools"),
    [
        ("compiler", {"check_syntax", "check_types"}), ("executor", {"run_code", "run_tests"}),
        ("security", {"scan_code"}), ("red_team", {"scan_code"}), ("test_agent", {"run_tests"}),
    ],
)  # fmt: skip
def test_roles_that_are_about_a_tool_have_it(role: str, tools: set[str]) -> None:
    assert tools <= set(load_shipped_roles()[role].tools)


def test_a_role_of_ones_own_joins_and_may_replace_a_shipped_one(tmp_path: Path) -> None:
    (tmp_path / "librarian.md").write_text(GOOD)
    (tmp_path / "critic.md").write_text(GOOD.replace("\n", "\r\n"))
    roles = read_roles(str(tmp_path))
    assert len(roles) == 21 and roles["critic"].prompt == "You are the librarian."
    assert (roles["librarian"].affinity("code"), roles["librarian"].affinity("debug")) == (0.2, 0.3)


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("Big", GOOD, "must consist of lowercase letters"),
        ("x", "You are the librarian.", "must begin with ---"),
        ("x", "---\nfocus: a\n", "must begin with ---"),
        ("x", "---\nfocus: [\n---\nYou", "not valid YAML"),
        ("x", "---\njust text\n---\nYou", "must have focus"),
        ("x", "---\ntools: [scan]\n---\nYou", "lacks 'focus'"),
        ("x", "---\nfocus: a\nfocal: b\n---\nYou", "unknown key 'focal'"),
        ("x", "---\nfocus: a\ntools: [shell]\n---\nYou", "unknown tool 'shell'; known are run_code"),
        ("x", "---\nfocus: a\naffinities: {cooking: 1}\n---\nYou", "unknown domain 'cooking'"),
        ("x", "---\nfocus: a\naffinities: {code: 2}\n---\nYou", "affinities.code"),
        ("x", "---\nfocus: a\n---\n  \n", "no system prompt"),
        ("x", "---\nfocus: a\n---\n" + "x" * 4001, "at most 4000 fit"),
    ],
)
def test_a_role_file_that_is_wrong_is_refused(name: str, text: str, why: str) -> None:
    with pytest.raises(ConfigError) as raised:
        read_role(name, text, f"{name}.md")
    assert why in str(raised.value) and f"{name}.md" in str(raised.value)


def test_folders_and_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "x.md").write_bytes(b"\xff\xfe")
    for folder, why in (("none", "does not exist"), ("empty", "contains no NAME.md file"), ("bad", "is not UTF-8")):
        with pytest.raises(ConfigError, match=why):
            read_roles(str(tmp_path / folder))
    with pytest.raises(ConfigError, match="cannot be read"):
        read_team_file(str(tmp_path / "none.toml"), load_shipped_roles())


AGENT = '[[agents]]\nrole = "critic"\nmodel = "openai:x"\n'


def test_a_team_file_is_read_and_doubled_roles_are_numbered() -> None:
    team = read_team(
        AGENT * 2 + '[[agents]]\nid = "boss"\nrole = "moderator"\nmodel = "a:b"\n', "t.toml", load_shipped_roles()
    )
    assert team.seats == {"critic": "critic", "critic-2": "critic", "boss": "moderator"}
    assert [agent.id for agent in team.of("moderator", "critic")] == ["boss", "critic", "critic-2"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "must contain [[agents]]"),
        ("agents = []", "must contain [[agents]]"),
        ("agents = 3", "must contain [[agents]]"),
        ("agents = [3]", "agent 1: it is not a table"),
        (AGENT + "[other]\n", "nothing else"),
        ("[[agents", "not valid TOML"),
        (AGENT.replace("critic", "cook"), "agent 1: unknown role 'cook'"),
        (AGENT.replace('"critic"', '["critic"]'), "unknown role ['critic']"),
        (AGENT.replace("openai:x", "a model"), "provider:model"),
        (AGENT + AGENT.replace('model = "openai:x"', ""), "agent 2: model must be"),
        (AGENT + 'id = "a b"\n', "the id 'a b'"),
        (AGENT + "id = 3\n", "the id 3"),
        (AGENT + 'name = "x"\n', "unknown key 'name'"),
        (AGENT + 'id = "critic-2"\n' + AGENT, "two agents have the id 'critic-2'"),
        (AGENT * 51, "51 agents"),
    ],
)
def test_a_team_file_that_is_wrong_is_refused(text: str, why: str) -> None:
    with pytest.raises(ConfigError) as raised:
        read_team(text, "t.toml", load_shipped_roles())
    assert why in str(raised.value)


@pytest.mark.parametrize(
    ("task", "domain"),
    [
        ("Fix the crash when the list is empty", "debug"),
        ("Make the parser faster and use less memory", "optimization"),
        ("Implement a function that returns the longest word", "code"),
        ("Is this login open to SQL injection? Authentication must hold", "security"),
        ("Design the schema and the services of a shop", "architecture"),
        ("Why should we decide on one of them?", "reasoning"),
        ("Hello there", "general"),
        ("", "general"),
        ("capture the prefixes", "general"),
    ],
)
def test_the_domain_of_a_task_comes_from_its_words(task: str, domain: Domain) -> None:
    assert domain_of(task) == domain


def tried(
    model: str, right: int, total: int, role: str = "proposer", domain: str = "code", band: int | None = None
) -> TrackRecord:
    return TrackRecord(model=model, role=role, domain=domain, band=band, right=right, total=total)


def test_records_are_shares_that_begin_in_the_middle() -> None:
    rows = [
        tried("a:x", 8, 8),
        tried("a:x", 0, 2, domain="debug"),
        tried("a:x", 3, 4, role="critic"),
        tried("b:y", 0, 9),
    ]
    assert share_right([]) == 0.5
    assert record_of(rows, "a:x", "proposer") == pytest.approx(9 / 12)
    assert domain_score(rows, "a:x", "code") == pytest.approx(12 / 14)
    assert domain_score(rows, "c:z", "code") == 0.5


def team(models: list[str], *rows: TrackRecord, domain: Domain = "code", size: int = 5) -> list[tuple[str, str]]:
    seats = positions(load_shipped_roles(), domain, size)
    return [(each.agent.id, each.agent.model) for each in best_team(seats, models, load_shipped_roles(), domain, rows)]


@pytest.mark.parametrize(
    ("models", "rows", "chosen"),
    [
        (["a:x"], [], ["a:x"] * 5),
        (["a:x", "b:y"], [], ["a:x", "b:y", "a:x", "b:y", "a:x"]),
        (["a:x", "b:y", "a:x", "c:z"], [], ["a:x", "b:y", "c:z", "a:x", "b:y"]),
        # b is better everywhere in this domain (by .35 × .4 = .14): it begins, but does not sit alone
        (["a:x", "b:y"], [tried("b:y", 8, 8, role="judge")], ["b:y", "a:x", "b:y", "a:x", "b:y"]),
        # much better (.35 × .75 = .26): two seats before another view is worth more
        (
            ["a:x", "b:y"],
            [tried("b:y", 30, 30, role="judge"), tried("a:x", 4, 20, role="judge")],
            ["b:y", "b:y", "a:x", "b:y", "a:x"],
        ),
        # a record in one role decides that role
        (["a:x", "b:y"], [tried("b:y", 9, 9, domain="debug")], ["b:y", "a:x", "a:x", "b:y", "a:x"]),
    ],
)
def test_seats_go_to_the_best_score_and_to_different_models(
    models: list[str], rows: list[TrackRecord], chosen: list[str]
) -> None:
    assert [model for _, model in team(models, *rows)] == chosen


def test_a_score_has_the_parts_of_the_specification() -> None:
    rows = [tried("a:x", 8, 8), tried("a:x", 0, 4, role="critic")]
    (best,) = best_team(["proposer"], ["a:x"], load_shipped_roles(), "code", rows)
    assert [best.record, best.domain, best.affinity] == pytest.approx([0.9, 9 / 14, 0.9])
    assert best.score == pytest.approx(0.40 * 0.9 + 0.35 * 9 / 14 + 0.25 * 0.9)


def test_the_first_five_sit_in_every_team_and_further_seats_go_by_domain() -> None:
    assert [name for name, _ in team(["a:x"])] == ["proposer", "critic", "reviewer", "optimizer", "moderator"]
    assert positions(load_shipped_roles(), "security", 7)[5:] == ("security", "red_team")
    assert positions(load_shipped_roles(), "architecture", 6)[5] == "architect"
    everyone = positions(load_shipped_roles(), "general", 20)
    assert sorted(everyone) == sorted(SPEC)
    assert [name for name, _ in team(["a:x"], size=22)][20:] == ["proposer-2", "critic-2"]
    assert len(as_team(best_team(everyone, ["a:x"], load_shipped_roles(), "code")).agents) == 20


def with_records(place: str, work: Callable[[TrackRecords], Awaitable[R]]) -> R:
    async def opened() -> R:
        store = SqlStore(place)
        try:
            return await work(TrackRecords(store))
        finally:
            await store.aclose()

    return asyncio.run(opened())


def judged(agent: str, right: bool, confidence: float | None = 0.9, model: str = "b:y") -> Judged:
    return Judged(agent=agent, role=agent, model=model, domain="code", right=right, confidence=confidence)


def test_records_are_kept_once_for_each_session_and_agent(place: str) -> None:
    async def work(records: TrackRecords) -> list[TrackRecord]:
        await records.judge(SESSION, [judged("proposer", True), judged("critic", False, None)], NOW)
        await records.judge(SESSION, [judged("proposer", False), judged("judge", True), judged("judge", False)], NOW)
        await records.judge(OTHER, [judged("proposer", False)], NOW)
        await records.judge(OTHER, [], NOW)
        return await records.count_results()

    assert with_records(place, work) == [
        TrackRecord(model="b:y", role="critic", domain="code", band=None, right=0, total=1),
        TrackRecord(model="b:y", role="judge", domain="code", band=4, right=1, total=1),
        TrackRecord(model="b:y", role="proposer", domain="code", band=4, right=1, total=2),
    ]


def test_a_team_is_built_from_the_records_in_the_store(cli: Cli, place: str) -> None:
    build = ("team", "build", "--task", "Implement a function", "-m", "a:x", "-m", "b:y", "--store", place)
    before = json.loads(cli(*build, "--json").out)
    assert before["domain"] == "code" and before["agents"][0]["model"] == "a:x"
    with_records(place, lambda records: records.judge(SESSION, [judged("proposer", True)], NOW))
    after = json.loads(cli(*build, "--json").out)["agents"][0]
    assert after == {
        "id": "proposer", "role": "proposer", "model": "b:y", "record": 0.6667, "domain": 0.6667, "affinity": 0.9,
        "score": 0.725,
    }  # fmt: skip


def test_what_build_prints_is_a_team_file(cli: Cli, tmp_path: Path) -> None:
    built = cli("team", "build", "-m", 'cmd:say "\\hi"', "-m", "b:y", "--size", "7", "--domain", "security")
    (tmp_path / "team.toml").write_text(built.out)
    shown = json.loads(cli("team", "show", "team.toml", "--json").out)["agents"]
    assert [agent["role"] for agent in shown][5:] == ["security", "red_team"]
    assert shown[0]["model"] == 'cmd:say "\\hi"' and "b:y" in cli("team", "show", "team.toml").out


def test_roles_are_shown(cli: Cli, tmp_path: Path) -> None:
    assert [role["name"] for role in json.loads(cli("team", "show", "--json").out)["roles"]] == sorted(SPEC)
    assert "makes points with evidence and brings breaking" in cli("team", "show").out
    assert "what is wrong with an answer" in cli("team", "show", "critic").out
    assert "You are the critic." in cli("team", "show", "critic").out
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "librarian.md").write_text(GOOD)
    assert json.loads(cli("team", "show", "librarian", "--roles", "own", "--json").out)["focus"] == "finding books"
    assert cli("team", "build", "--role", "librarian", "--roles", "own", "-m", "a:b").out.count("librarian") == 2


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["build"], "no models to build a team from"),
        (["build", "-m", "gpt"], "'gpt' is not of the form provider:model"),
        (["build", "-m", "a:b\nx"], "not of the form"),
        (["build", "-m", "a:b", "--domain", "cooking"], "unknown --domain 'cooking'"),
        (["build", "-m", "a:b", "--role", "cook"], "unknown role 'cook'"),
        (["show", "cook"], "no role or team file 'cook'"),
        (["show", "none.toml"], "cannot be read"),
        (["show", "--roles", "none"], "does not exist"),
    ],
)
def test_what_cannot_be_is_said(cli: Cli, arguments: list[str], why: str) -> None:
    ran = cli("team", *arguments)
    assert ran.code == 2 and why in ran.err and ran.out == ""
