"""Files that commands write: whole, and never over another one without a word."""

import json
import os
from pathlib import Path

import pytest
from conftest import Cli
from kit import BAD

from moot.core.errors import UsageError
from moot.edge.files.outputs import check_output, write_output

CODE = "```python\ndef add(a, b):\n    return a + b\n```\n"
MINE = "mine, for years\n"


@pytest.fixture
def session(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("MOOT_STORE", str(tmp_path / "s.db"))
    (tmp_path / "app.py").write_text(BAD)
    (tmp_path / "replies.yaml").write_text(json.dumps([{"reply": CODE, "always": True}]))
    return str(json.loads(cli("harden", "app.py", "--no-llm", "--json", "-q").out)["session_id"])


WRITERS = {
    "export": ("export", "SESSION", "-o"),
    "export md": ("export", "SESSION", "-f", "md", "-o"),
    "archive": ("export", "SESSION", "-f", "archive", "-o"),
    "scan": ("scan", "app.py", "--sarif"),
    "baseline": ("scan", "app.py", "--write-baseline"),
    "harden": ("harden", "app.py", "--no-llm", "-q", "--sarif"),
    "resume": ("resume", "SESSION", "-q", "--sarif"),
    "solve": ("solve", "add(a, b) adds; add(1, 2) == 3", "-q", "-m", "script:replies.yaml", "--write-anyway", "--out"),
    "debate": ("debate", "is it so?", "--topic", "-q", "-m", "script:replies.yaml", "--write-anyway", "-o"),
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_file_that_is_there_stays_as_it_is(cli: Cli, tmp_path: Path, session: str, name: str) -> None:
    words = [session if word == "SESSION" else word for word in WRITERS[name]]
    (tmp_path / "kept").write_text(MINE)
    before = len(json.loads(cli("list", "--json").out))
    ran = cli(*words, "kept")
    assert ran.code == 2 and "already exists" in ran.err and "--force" in ran.err
    assert (tmp_path / "kept").read_text() == MINE
    assert len(json.loads(cli("list", "--json").out)) == before, "nothing was begun"
    for link, target in (("link", "kept"), ("dangling", "nowhere")):
        (tmp_path / link).symlink_to(tmp_path / target)
        for more in ((), ("--force",)):
            ran = cli(*words, link, *more)
            assert ran.code == 2 and "is a link" in ran.err
    assert (tmp_path / "kept").read_text() == MINE and not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("name", ["export", "scan", "harden", "solve"])
def test_a_folder_that_is_not_there_is_noticed_before_anything_is_spent(
    cli: Cli, tmp_path: Path, session: str, name: str
) -> None:
    words = [session if word == "SESSION" else word for word in WRITERS[name]]
    ran = cli(*words, "nowhere/out")
    assert (ran.code, ran.out) == (2, "") and "there is no folder 'nowhere'" in ran.err
    assert len(json.loads(cli("list", "--json").out)) == 1, "nothing was begun"


def test_a_job_is_not_written_where_a_file_takes_the_place_of_its_folder(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / ".github").write_text(MINE)
    ran = cli("ci", "init")
    assert ran.code == 2 and "cannot write '.github/workflows/moot.yml'" in ran.err


@pytest.mark.parametrize("name", [name for name in WRITERS if name != "debate"])
def test_with_force_it_is_overwritten_at_once(cli: Cli, tmp_path: Path, session: str, name: str) -> None:
    words = [session if word == "SESSION" else word for word in WRITERS[name]]
    (tmp_path / "kept").write_text(MINE)
    (tmp_path / "kept").chmod(0o640)
    before = os.stat(tmp_path / "kept")
    assert cli(*words, "kept", "--force").code in (0, 1, 2)
    after = os.stat(tmp_path / "kept")
    assert (tmp_path / "kept").read_bytes() != MINE.encode() and after.st_mode == before.st_mode
    assert after.st_ino != before.st_ino, "replaced, not written into"
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".kept")] == []


def test_a_session_that_is_carried_on_may_find_its_own_file(cli: Cli, tmp_path: Path, session: str) -> None:
    words = WRITERS["solve"]
    session = json.loads(cli(*words, "won.py", "--json").out)["session_id"]
    written = (tmp_path / "won.py").read_text()
    assert "def add" in written and "written" in cli("resume", session).err
    (tmp_path / "won.py").write_text(MINE)
    assert cli("resume", session).code == 2 and (tmp_path / "won.py").read_text() == MINE
    assert cli("resume", session, "--force").code in (0, 1, 2) and (tmp_path / "won.py").read_text() == written


@pytest.mark.parametrize("words", [("export", "SESSION"), ("scan", "app.py"), ("harden", "app.py", "--no-llm"),
                                   ("resume", "SESSION"), ("solve", "x")])  # fmt: skip
def test_force_without_a_file_is_a_mistake(cli: Cli, session: str, words: tuple[str, ...]) -> None:
    ran = cli(*(session if word == "SESSION" else word for word in words), "--force")
    assert ran.code == 2 and "--force" in ran.err


def test_what_is_no_file_is_written_to(tmp_path: Path) -> None:
    write_output("/dev/null", b"x")
    check_output("/dev/null", force=False, flag="-o")
    reading, writing = os.pipe()
    write_output(f"/dev/fd/{writing}", b"all of it")
    os.close(writing)
    assert os.read(reading, 100) == b"all of it"
    os.close(reading)
    with pytest.raises(UsageError, match="directory"):
        write_output(str(tmp_path), b"x", force=True)
    with pytest.raises(UsageError, match="No such file"):
        write_output(str(tmp_path / "none" / "x"), b"x")


def test_a_new_file_has_the_usual_rights_and_the_same_again_is_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "new"
    (tmp_path / "usual").touch()
    write_output(str(path), b"x")
    write_output(str(path), b"x")
    assert path.stat().st_mode == (tmp_path / "usual").stat().st_mode
    with pytest.raises(UsageError, match="already exists"):
        write_output(str(path), b"y")


def test_a_full_disk_leaves_the_old_file(tmp_path: Path) -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("not run: there is no /dev/full")
    with pytest.raises(UsageError, match="No space"):
        write_output("/dev/full", b"x" * 100_000)
