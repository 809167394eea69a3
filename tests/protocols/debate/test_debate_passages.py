"""Files that do not fit into a prompt are searched for what the task is about, and quoted with their place."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli
from debate_script import says
from debates import RIGHT, code
from test_debate_cli import debated, prompts

from moot.core.types import Code, Passage, SourceFile
from moot.edge.files.passages import NO_FTS5, PassageSearch

FILLER = "\n\n".join(f"def unrelated_{n}(value):\n    return value + {n}" for n in range(400))
NEEDLE = (
    "def biggest_entry(values):\n    # The maximum of an array; nothing where there is nothing.\n"
    "    return max(values) if values else None\n"
)


def fill_folder(folder: Path) -> int:
    """Two long files; what the task is about stands late in the second. Returns its line."""
    lib = folder / "lib"
    lib.mkdir()
    (lib / "first.py").write_text(FILLER)
    (lib / "second.py").write_text(f"{FILLER}\n\n\n{NEEDLE}\n\n{FILLER}")
    return FILLER.count("\n") + 4


def asked_with(
    cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch, tokens: int = 4000
) -> tuple[dict[str, Any], dict[str, Any], str]:
    monkeypatch.setenv("MOOT_PROMPT_TOKENS", str(tokens))
    result = debated(cli, folder, says("code", code(RIGHT)), more=("--store", "s.db", "--file", "lib"))
    told = json.loads(cli("show", result["session_id"], "--json", "--store", "s.db").out)
    return result, told, prompts(told, "self_evolvement")[0]


def test_long_files_are_quoted_by_passages_that_fit_the_task(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = fill_folder(tmp_path)
    result, told, prompt = asked_with(cli, tmp_path, monkeypatch)
    (found,) = [step["value"]["found"] for step in told["steps"] if step["name"] == "search"]
    (near,) = [each for each in found if each["first"] <= line <= each["last"] and each["path"].endswith("second.py")]
    assert f"{near['path']}:{near['first']}-{near['last']}\n```python\n" in prompt and NEEDLE.strip() in prompt
    assert any("lines shown, those that fit the task" in note for note in result["degraded"])
    assert cli("replay", result["session_id"], "--store", "s.db").code == 0
    assert (
        f"{near['path']}:{near['first']}"
        in cli("export", result["session_id"], "--format", "md", "--store", "s.db").out
    )


def test_without_the_search_the_beginning_is_shown(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill_folder(tmp_path)
    monkeypatch.setenv("MOOT_DEBATE_SEARCH_FILES", "false")
    _, told, prompt = asked_with(cli, tmp_path, monkeypatch)
    assert NEEDLE.strip() not in prompt and "def unrelated_0(" in prompt
    assert "search" not in {step["name"] for step in told["steps"]}


def test_files_that_fit_are_shown_whole(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill_folder(tmp_path)
    _, told, prompt = asked_with(cli, tmp_path, monkeypatch, tokens=200_000)
    assert NEEDLE.strip() in prompt and "def unrelated_399(" in prompt
    assert "search" not in {step["name"] for step in told["steps"]}


def look(words: str, text: str, tokens: int = 500) -> tuple[Passage, ...]:
    file = SourceFile(path="a.py", language="python", text=text)
    return PassageSearch().search(Code(files=(file,)), words, tokens).found


@pytest.mark.parametrize("words", ["largestNumber", "the biggest number", "BIGGEST_ENTRY", "maximum"])
def test_names_are_split_and_synonyms_found(words: str) -> None:
    found = look(words, f"{FILLER}\n\n{NEEDLE}")
    assert any(NEEDLE.strip() in passage.text for passage in found), found


@pytest.mark.parametrize(
    "words", ["", "the of and", '" OR passages MATCH "', "NEAR(a b) AND NOT c*", "zzz yyy", "x" * 5000, "\0\ud800"]
)
def test_words_of_a_task_are_no_query_language(words: str) -> None:
    assert look(words, NEEDLE) == ()


def test_many_words_are_one_query() -> None:
    assert look(" ".join(f"word{n}" for n in range(5000)) + " maximum", NEEDLE)


def test_a_text_in_another_script_is_found() -> None:
    assert look("наибольшее число", f"{FILLER}\n\n# Наибольшее из чисел\n")


def test_without_full_text_search_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def lacking(*_: object) -> None:
        raise sqlite3.OperationalError("no such module: fts5")

    monkeypatch.setattr("moot.edge.files.passages.rank_passages", lacking)
    file = SourceFile(path="a.py", language="python", text=NEEDLE)
    assert PassageSearch().search(Code(files=(file,)), "maximum", 500).problem == NO_FTS5
