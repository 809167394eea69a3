"""What a build server needs: SARIF as code-scanning pages read it, few comments on a pull request, a summary, a job."""

import json
import re
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from conftest import Cli
from fake_github import FakeGitHub
from hostile import HOSTILE
from kit import BAD
from markdown_it import MarkdownIt

from moot import __version__
from moot.surfaces.cli.code.ci_jobs import FILES

ROOT = Path(__file__).parents[3]
OWN_MARK = re.compile(r"<!-- moot:[\w:]+ -->|<br>")
FLAW = "x = eval(input())"


@pytest.fixture
def github(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeGitHub]:
    server = FakeGitHub()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"pull_request": {"number": 7, "head": {"sha": "abc"}}}))
    given = {"GITHUB_REPOSITORY": "o/r", "GITHUB_EVENT_PATH": str(event), "GITHUB_API_URL": server.url}
    for name, value in {**given, "GITHUB_TOKEN": "t0ken"}.items():
        monkeypatch.setenv(name, value)
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def sarif(cli: Cli, tmp_path: Path) -> Path:
    (tmp_path / "app.py").write_text(BAD)
    (tmp_path / "weak.py").write_text(f"import hashlib\n\n\ndef f(x):\n    return hashlib.md5(x)\n\n\n{FLAW}\n")
    assert cli("scan", ".", "--sarif", "moot.sarif").code == 1
    return tmp_path / "moot.sarif"


def test_sarif_has_what_code_scanning_pages_match_and_sort_by(sarif: Path) -> None:
    run = json.loads(sarif.read_text())["runs"][0]
    for result in run["results"]:
        marks = result["partialFingerprints"]
        assert marks["primaryLocationLineHash"] == f"{marks['moot/v1']}:1"
    for rule in run["tool"]["driver"]["rules"]:
        assert float(rule["properties"]["security-severity"]) > 0
        assert rule["properties"]["precision"] in ("very-high", "high", "medium", "low")


def test_few_findings_are_posted_the_gravest_first_and_each_once(cli: Cli, sarif: Path, github: FakeGitHub) -> None:
    found = len(json.loads(sarif.read_text())["runs"][0]["results"])
    assert found > 1
    first = cli("ci", "comment", "moot.sarif", "--most", "1")
    (review,) = github.reviews
    assert first.code == 0 and len(review["comments"]) == 1 and review["event"] == "COMMENT"
    assert review["comments"][0]["body"].lower().startswith(("**critical", "**high", "critical", "high", "#"))
    assert f"{found - 1} left out" in first.err
    cli("ci", "comment", "moot.sarif", "--most", "50")
    assert len(github.reviews[1]["comments"]) == found - 1
    assert "nothing posted" in cli("ci", "comment", "moot.sarif").err and len(github.reviews) == 2


def test_a_stranger_cannot_say_that_a_finding_was_commented_on(cli: Cli, sarif: Path, github: FakeGitHub) -> None:
    log = json.loads(sarif.read_text())
    marks = [f"<!-- moot:{each['partialFingerprints']['moot/v1']} -->" for each in log["runs"][0]["results"]]
    author = {"user": {"type": "User"}, "author_association": "CONTRIBUTOR"}
    github.reviews.append({"body": " ".join(marks), "comments": [], **author})
    assert "nothing posted" not in cli("ci", "comment", "moot.sarif", "--most", "50").err
    assert len(github.reviews[1]["comments"]) == len(marks)


def test_the_name_of_a_file_is_no_mark_of_a_finding(cli: Cli, sarif: Path, github: FakeGitHub) -> None:
    log = json.loads(sarif.read_text())
    for result in log["runs"][0]["results"]:
        place = result["locations"][0]["physicalLocation"]
        place["region"]["startLine"], place["artifactLocation"]["uri"] = 200, "a`<!-- moot:forged -->.py"
    sarif.write_text(json.dumps(log))
    cli("ci", "comment", "moot.sarif")
    assert "<!-- moot:forged -->" not in github.reviews[0]["body"]


def test_a_line_outside_of_the_diff_is_told_in_the_review_itself(cli: Cli, sarif: Path, github: FakeGitHub) -> None:
    log = json.loads(sarif.read_text())
    for result in log["runs"][0]["results"]:
        result["locations"][0]["physicalLocation"]["region"]["startLine"] = 200
    sarif.write_text(json.dumps(log))
    assert "not part of the diff" in cli("ci", "comment", "moot.sarif").err
    assert github.reviews[0]["comments"] == [] and ":200" in github.reviews[0]["body"]
    assert "nothing posted" in cli("ci", "comment", "moot.sarif").err


@pytest.mark.parametrize("status", [403, 500])
def test_a_refusal_is_an_error_that_names_the_remedy(cli: Cli, sarif: Path, github: FakeGitHub, status: int) -> None:
    github.status = status
    ran = cli("ci", "comment", "moot.sarif")
    assert ran.code == 2 and str(status) in ran.err and ("permissions" in ran.err) == (status == 403)


@pytest.mark.parametrize("name", ["GITHUB_TOKEN", "GITHUB_EVENT_PATH"])
def test_outside_of_a_job_it_says_what_is_missing(
    cli: Cli, sarif: Path, github: FakeGitHub, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.delenv(name)
    ran = cli("ci", "comment", "moot.sarif")
    assert ran.code == 2 and name in ran.err and github.reviews == []


def test_hostile_words_stay_words_in_comments_and_summary(cli: Cli, sarif: Path, github: FakeGitHub) -> None:
    """Read as markdown with HTML in it, nothing of another's words is markup, a link, a picture or a heading."""
    log = json.loads(sarif.read_text())
    (run,), first = log["runs"], log["runs"][0]["results"][0]
    for begin in range(0, len(HOSTILE), 50):
        results = run["results"] = []
        for number, words in enumerate(HOSTILE[begin : begin + 50]):
            marks = dict.fromkeys(first["partialFingerprints"], f"{begin + number}:1")
            results.append({**first, "message": {"text": f"x {words}"}, "partialFingerprints": marks})
        sarif.write_text(json.dumps(log))
        assert cli("ci", "comment", "moot.sarif", "--most", "50").code == 0
        check_plain(cli("ci", "summary", "moot.sarif").out, {"table_open"})
    told = [comment["body"] for review in github.reviews for comment in review["comments"]]
    assert len(told) == len(HOSTILE)
    for text in told:
        check_plain(text, set())


def check_plain(text: str, ours: set[str]) -> None:
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(text)
    every = [*tokens, *(inner for token in tokens for inner in token.children or ())]
    loose = [
        each.content for each in every if each.type.startswith("html") and not OWN_MARK.fullmatch(each.content.strip())
    ]
    assert loose == [], text
    plain = {
        "paragraph_open",
        "inline",
        "text",
        "html_block",
        "html_inline",
        "softbreak",
        "hardbreak",
        "strong_open",
        "code_inline",
    }
    opened = {each.type for each in every if not each.type.endswith("_close")} - plain - ours
    assert not {each for each in opened if not each.startswith(("t", "paragraph"))}, text
    assert not set(text) & set("\x1b\x9b\u202e\u2066\x00"), text


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"runs": [{"results": [{}]}]}', "not json"])
def test_a_file_that_is_no_sarif_is_refused(cli: Cli, tmp_path: Path, text: str) -> None:
    (tmp_path / "bad.sarif").write_text(text)
    ran = cli("ci", "summary", "bad.sarif")
    assert ran.code == 2 and "SARIF" in ran.err


def test_init_writes_a_job_once(cli: Cli, tmp_path: Path) -> None:
    for system, (path, _) in FILES.items():
        assert cli("ci", "init", system).code == 0
        job = yaml.safe_load((tmp_path / path).read_text())
        assert f"moot=={__version__}" in json.dumps(job)
        (tmp_path / path).write_text("mine")
        assert cli("ci", "init", system).code == 2 and (tmp_path / path).read_text() == "mine"
        assert cli("ci", "init", system, "--force").code == 0 and (tmp_path / path).read_text() != "mine"
    assert cli("ci", "init", "jenkins").code == 2


def lay_out_change(folder: Path) -> None:
    """A repository with a flaw that is not committed."""
    author = ("-c", "user.name=a", "-c", "user.email=a@b")
    for words in (("init", "-q"), (*author, "commit", "-q", "--allow-empty", "-m", "a")):
        subprocess.run(["git", *words], cwd=folder, check=True)
    (folder / "app.py").write_text(BAD)


def test_before_the_first_commit_everything_is_new(cli: Cli, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    for name in ("app.py", "new.py"):
        (tmp_path / name).write_text(BAD)
    subprocess.run(["git", "add", "app.py"], cwd=tmp_path, check=True)
    found = cli("scan", "--diff", "HEAD", "--json")
    assert found.code == 1 and {each["file"] for each in json.loads(found.out)["findings"]} == {"app.py", "new.py"}
    assert cli("scan", "--diff", "main").code == 2


def test_the_commands_of_the_hooks_are_commands_of_ours(cli: Cli, tmp_path: Path) -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert [hook["id"] for hook in hooks] == ["moot-scan", "moot-harden"]
    lay_out_change(tmp_path)
    for hook in hooks:
        program, *words = hook["entry"].split()
        ran = cli(*words)
        changed = (tmp_path / "app.py").read_text() != BAD  # then pre-commit stops the commit itself
        assert program == "moot" and (ran.code == 1 or changed), hook["id"]
