"""`moot scan`: the deterministic red team alone, through the command line."""

import json
from pathlib import Path

import pytest
from conftest import Cli
from kit import BAD, CLEAN

from moot.scan.catalogue import catalogue

FLOW = """from flask import Flask, request
import sqlite3

app = Flask(__name__)


def build(name):
    return "SELECT * FROM t WHERE n = '" + name + "'"


@app.route("/x")
def x():
    name = request.args.get("name")
    return str(sqlite3.connect("a").execute(build(name)).fetchall())
"""


def test_json_has_the_documented_fields_and_the_way_of_the_value(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(FLOW)
    ran = cli("scan", "app.py", "--json")
    report = json.loads(ran.out)
    assert ran.code == 1 and report.keys() == {"findings", "not_analysed", "files", "skipped"} and report["files"] == 1
    (finding,) = [f for f in report["findings"] if f["cwe"] == 89]
    assert finding.keys() >= {
        "rule", "cwe", "category", "severity", "confidence", "file", "line", "column", "message", "path",
    }  # fmt: skip
    assert (finding["line"], finding["category"]) == (14, "injection") and 0 <= finding["confidence"] <= 1
    assert finding["path"][0]["line"] == 13 and finding["path"][-1]["line"] == 14


def test_exit_codes_and_thresholds(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "clean.py").write_text(CLEAN)
    (tmp_path / "app.py").write_text(FLOW)
    (tmp_path / "broken.py").write_text("def broken(:\n")
    assert cli("scan", "clean.py").code == 0
    assert cli("scan", "app.py").code == 1
    assert cli("scan", "broken.py").code == 2
    assert cli("scan", "app.py", "--min-confidence", "1").code == 0
    assert cli("scan", "app.py", "--min-severity", "urgent").code == 2
    low = json.loads(cli("scan", "app.py", "--json").out)["findings"]
    high = json.loads(cli("scan", "app.py", "--json", "--min-severity", "critical").out)["findings"]
    assert [f for f in low if f["severity"] == "critical"] == high


def test_sarif_holds_the_code_flow(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(FLOW)
    cli("scan", "app.py", "--sarif", "out.sarif")
    results = json.loads((tmp_path / "out.sarif").read_text())["runs"][0]["results"]
    stations = results[0]["codeFlows"][0]["threadFlows"][0]["locations"]
    assert stations[0]["location"]["physicalLocation"]["region"]["startLine"] == 13
    assert all(station["location"]["message"]["text"] for station in stations)


@pytest.mark.parametrize("arguments", [[], ["nowhere.py"], ["--diff", "HEAD"]])
def test_bad_input_is_one_line(cli: Cli, tmp_path: Path, arguments: list[str]) -> None:
    ran = cli("scan", *arguments)
    assert ran.code == 2 and len(ran.err.strip().splitlines()) == 1


def test_a_table_for_people(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(BAD)
    shown = cli("scan", "app.py").out
    assert "app.py:2" in shown and "high" in shown and "1 finding in 1 file" in shown


def test_with_a_baseline_only_new_findings_fail(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(BAD)
    assert cli("scan", "app.py", "--write-baseline", "known.json").code == 1
    assert cli("scan", "app.py", "--baseline", "known.json").code == 0
    (tmp_path / "app.py").write_text("# moved down\n" + BAD + BAD.replace("find", "drop").replace("name", "title"))
    report = json.loads(cli("scan", "app.py", "--baseline", "known.json", "--json").out)
    assert [f["line"] for f in report["findings"]] == [5]
    (tmp_path / "known.json").write_text("{}")
    for bad in ("missing.json", "app.py"):
        assert cli("scan", "app.py", "--baseline", bad).code == 2


def test_rules_are_listed_with_their_examples(cli: Cli) -> None:
    listed = json.loads(cli("scan", "--rules", "--json").out)
    asked = ("rule", "language", "category", "cwe", "severity", "description", "fix", "reference", "fires", "silent")
    assert all(entry[key] for entry in listed for key in asked)
    assert {entry["rule"] for entry in listed} == {one.rule.id for one in catalogue()}
    shown = cli("scan", "--rules").out
    assert shown.count("fires on:") == shown.count("silent on:") == len(listed)
