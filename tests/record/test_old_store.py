"""Sessions recorded by an earlier version replay, verify, and can be shown, exported and resumed."""

import gzip
import json
import shutil
from pathlib import Path

import pytest
from conftest import Cli

DATA = Path(__file__).parents[1] / "data" / "store-0.1.0"
EXAMPLES = Path(__file__).parents[2] / "examples"
FINISHED = {
    "harden": "c3e3d963",
    "solve": "5ecd9b5f",
    "debate": "c05ea55c",
    "review": "6b3ef3eb",
    "decide": "60de2411",
    "vet": "3221c75a",
}
OUT_OF_CALLS = {
    "harden": "8f26d6e3",
    "solve": "d3977724",
    "debate": "d5b00c2d",
    "review": "be17f113",
    "decide": "77e5e774",
    "vet": "1ee9ce93",
}
OUTCOMES = {
    "harden": ("unresolved", 1),
    "solve": ("solved", 0),
    "debate": ("agreed", 0),
    "review": ("no_objections", 0),
    "decide": ("RECOMMENDED", 0),
    "vet": ("modify", 1),
}


@pytest.fixture(autouse=True)
def old_store(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "examples"
    shutil.copytree(EXAMPLES, folder)
    shutil.copy(DATA / "red.yaml", folder)
    (tmp_path / "old.db").write_bytes(gzip.decompress((DATA / "store.db.gz").read_bytes()))
    monkeypatch.setenv("MOOT_STORE", str(tmp_path / "old.db"))
    monkeypatch.chdir(folder)


@pytest.mark.parametrize("protocol", FINISHED)
def test_an_old_session_replays_to_the_same_result(cli: Cli, protocol: str) -> None:
    for session in (FINISHED[protocol], OUT_OF_CALLS[protocol]):
        ran = cli("replay", session)
        assert ran.code == 0, ran.out + ran.err


def test_old_records_are_whole(cli: Cli) -> None:
    ran = cli("audit", "--verify")
    assert ran.code == 0, ran.out + ran.err


@pytest.mark.parametrize("protocol", FINISHED)
def test_an_old_session_is_shown_and_exported(cli: Cli, protocol: str) -> None:
    outcome, _ = OUTCOMES[protocol]
    session = FINISHED[protocol]
    assert outcome in cli("show", session).out.lower() or outcome in cli("show", session).out
    assert cli("export", session, "--format", "html").out.lstrip().lower().startswith("<!doctype html>")
    assert json.loads(cli("export", session).out)["session"]["protocol"] == protocol


@pytest.mark.parametrize("protocol", OUT_OF_CALLS)
def test_an_old_session_that_ran_out_of_calls_comes_to_its_end(cli: Cli, protocol: str) -> None:
    ran = cli("resume", OUT_OF_CALLS[protocol], "--max-calls", "60", "--json")
    assert ran.out, ran.err
    outcome, code = OUTCOMES[protocol]
    assert (json.loads(ran.out)["outcome"], ran.code) == (outcome, code), ran.err


def test_debates_of_the_second_edition_go_on_as_they_began(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "second.db").write_bytes(gzip.decompress((DATA / "edition2.db.gz").read_bytes()))
    monkeypatch.setenv("MOOT_STORE", str(tmp_path / "second.db"))
    for session in ("af8fb9c4", "3a8c0e5c"):
        ran = cli("replay", session)
        assert ran.code == 0, ran.out + ran.err
    ran = cli("resume", "3a8c0e5c", "--max-calls", "60", "--json")
    assert ran.code == 0 and json.loads(ran.out)["outcome"] == "agreed", ran.out + ran.err
