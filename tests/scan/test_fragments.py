"""Functions that nobody in the given files calls: what their code builds is judged, and worded as possible."""

import json
import re
from pathlib import Path

import pytest
from conftest import Cli

from moot.core.types import Code, Language, SourceFile, Vulnerability
from moot.scan import StaticTeam

ENDINGS: dict[Language, str] = {"python": "a.py", "javascript": "a.js", "go": "a.go"}
TEXT = (Path(__file__).parent / "fragments" / "built_texts.txt").read_text(encoding="utf-8")
BLOCKS = [block.partition("\n") for block in re.split(r"(?m)^=== ", TEXT)[1:]]
FLAWED = [(title, text) for title, _, text in BLOCKS if title.startswith("flawed ")]
SOUND = [(title, text) for title, _, text in BLOCKS if title.startswith("sound ")]
QUERY = 'def find(db, name):\n    return db.execute("SELECT * FROM t WHERE n = \'" + name + "\'")\n'
READ = "import os\n\n\ndef read(name):\n    return open(os.path.join('/srv/data', name)).read()\n"


def scan(*files: SourceFile) -> list[Vulnerability]:
    return list(StaticTeam().scan(Code(files=files)).findings)


def python(text: str, path: str = "a.py", base: str | None = None) -> SourceFile:
    return SourceFile(path=path, language="python", text=text, base=base)


def of_title(title: str, text: str) -> SourceFile:
    language: Language = title.split()[1]  # type: ignore[assignment]
    return SourceFile(path=ENDINGS[language], language=language, text=text)


@pytest.mark.parametrize(("title", "text"), FLAWED, ids=[title for title, _ in FLAWED])
def test_what_a_fragment_builds_is_a_possible_flaw(title: str, text: str) -> None:
    findings = scan(of_title(title, text))
    assert [finding.certainty for finding in findings] == ["possible"]
    assert re.search(r", if `[^`]+` comes from outside$", findings[0].description)
    assert findings[0].severity != "critical" and (findings[0].confidence or 1) <= 0.5


@pytest.mark.parametrize("value", ["form.name.data", "form['name']", "form.rows[0]"])
def test_a_value_is_named_as_the_code_spells_it(value: str) -> None:
    text = f'def find(db, form):\n    return db.query("SELECT * FROM t WHERE n = \'" + {value} + "\'")\n'
    assert [f.description.partition("`")[2].partition("`")[0] for f in scan(python(text))] == [value]


@pytest.mark.parametrize(("title", "text"), SOUND, ids=[title for title, _ in SOUND])
def test_a_sound_fragment_is_silent(title: str, text: str) -> None:
    assert scan(of_title(title, text)) == []


def test_a_value_that_is_certainly_from_outside_is_not_called_possible() -> None:
    text = "from flask import request\n\n\ndef view(db):\n    find(db, request.args['n'])\n\n\n" + QUERY
    assert [(f.severity, f.certainty) for f in scan(python(text))] == [("critical", "")]


def test_callers_that_pass_constants_prove_a_parameter_safe() -> None:
    assert scan(python(READ + "\n\ndef main():\n    return read('motd')\n")) == []
    assert scan(python(QUERY + "\n\ndef main(db):\n    return find(db, 'root')\n")) == []


def test_a_whole_project_shows_what_the_parameter_alone_makes_a_flaw() -> None:
    others = [python("VALUE = 1\n", f"b{number}.py") for number in range(4)]
    assert [f.rule for f in scan(python(QUERY), *others)] == ["python-sql-string"]
    assert scan(python(READ), *others) == []
    assert [f.rule for f in scan(python(READ), *others[:2])] == ["python-path"]


def test_a_change_shows_it_in_a_project_of_any_size() -> None:
    others = [python("VALUE = 1\n", f"b{number}.py", "VALUE = 1\n") for number in range(4)]
    assert [f.rule for f in scan(python(READ, base=""), *others)] == ["python-path"]


def test_the_command_says_possible(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(READ)
    ran = cli("scan", str(tmp_path / "a.py"), "--no-cache", "--json")
    found = json.loads(ran.out)["findings"]
    assert ran.code == 1 and [(f["certainty"], f["severity"]) for f in found] == [("possible", "high")]
    assert "if `name` comes from outside" in cli("scan", str(tmp_path / "a.py"), "--no-cache").out.replace("\n", " ")
