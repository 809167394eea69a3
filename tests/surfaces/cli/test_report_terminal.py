"""A report on the terminal and in a pipe: tables whole, nothing obeyed, colours for people only."""

import io
import re
import sys

import pytest

from moot.core.report import (
    Block,
    Bullets,
    Cell,
    Grid,
    Headline,
    Listing,
    Report,
    ReportDocument,
    ReportSection,
    make_row,
)
from moot.surfaces.cli.report_terminal import show_document, show_report

HOSTILE = "[bold]x[/] [/] \x1b]0;PWNED\x07\u202e[link=http://evil.example]y[/link]"
REPORT = Report(
    blocks=(
        Headline(verdict="bad", text=f"bad: {HOSTILE}", caveats=("one", HOSTILE), tone="bad"),
        Grid(
            columns=("id", "severity", HOSTILE), rows=(make_row("1", Cell(text="critical", tone="critical"), HOSTILE),)
        ),
        Bullets(title=HOSTILE, entries=(f"a\n{HOSTILE}",)),
        Listing(language="python", text=f"x = 1  # {HOSTILE}\n"),
        Listing(title="Quoted", text="one\ntwo"),
    )
)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_piped_it_is_plain_and_nothing_is_taken_for_markup(capsys: pytest.CaptureFixture[str]) -> None:
    show_report(REPORT)
    text = capsys.readouterr().out
    assert "\x1b" not in text and "\x07" not in text and "\u202e" not in text
    assert text.count("[bold]x[/] [/]") == 7 and text.startswith("bad: [bold]x[/] [/] ")
    assert "; 2 caveats, first: one\nCaveats:\n  - one\n  - [bold]x" in text
    assert "\nQuoted\n  one\n  two\n" in text and "\nx = 1  # [bold]" in text


def test_on_a_terminal_it_has_colours_of_its_own_only(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    show_report(REPORT)
    text = terminal.getvalue()
    assert "\x1b[1;31mbad\x1b[0m" in text and "\x1b[1;31mcritical" in text
    assert "\x1b]0;" not in text and "\x1b]8;" not in text and "\u202e" not in text


def draw(monkeypatch: pytest.MonkeyPatch, block: Block) -> str:
    """The report on a terminal of 40 columns, as bytes go to it."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.delenv("NO_COLOR", raising=False)
    show_report(Report(blocks=(Headline(verdict="v", text="v"), block)))
    return terminal.getvalue()


@pytest.mark.parametrize("language", ["diff", "python", "text"])
def test_a_line_longer_than_the_terminal_is_not_cut(monkeypatch: pytest.MonkeyPatch, language: str) -> None:
    text = draw(monkeypatch, Listing(language=language, text=f"+    {'word = ' * 20}the_end()"))
    assert "".join(re.sub(r"\x1b\[[0-9;]*m", "", text).split()).endswith("word=the_end()")


def test_code_is_in_colours_of_the_terminal_which_may_be_light(monkeypatch: pytest.MonkeyPatch) -> None:
    text = draw(monkeypatch, Listing(language="diff", text=" unchanged = 1\n-old = 2\n+new = 3"))
    assert "38;5;" not in text and "[49munchanged = 1" in text and re.search(r"\x1b\[92;49m\+new = 3", text)


def test_a_long_entry_stays_under_its_mark(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = draw(monkeypatch, Bullets(entries=("a " * 30, "b\nbelow"))).splitlines()
    assert lines[2].startswith("  - a a") and lines[3].startswith("    a a")
    assert lines[-2:] == ["  - b", "    below"]


def test_line_ends_of_windows_are_not_marked(capsys: pytest.CaptureFixture[str]) -> None:
    show_report(Report(blocks=(Listing(language="diff", text="-x = 1\r\n+x = 2\r\n"),)))
    assert capsys.readouterr().out == "-x = 1\n+x = 2\n"


def test_a_table_of_many_narrow_columns_loses_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    names = [f"candidate{n:02}" for n in range(16)]
    show_report(Report(blocks=(Headline(verdict="v", text="v"), Grid(columns=tuple(names), rows=(make_row(*names),)))))
    lines = capsys.readouterr().out.splitlines()
    assert "".join("".join(lines).split()).count("15") >= 2 and "…" not in "".join(lines)


def test_a_table_that_a_narrow_terminal_cannot_hold_is_shown_as_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = ("id", "severity", "where", "finding", "state")
    row = make_row(
        "VULN-001", Cell(text="critical", tone="critical"), "src/service.py:27", "SQL injection: a query", ""
    )
    lines = draw(monkeypatch, Grid(columns=columns, rows=(row,))).splitlines()[2:]
    shown = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in lines]
    assert shown == [
        "VULN-001", "  severity: critical", "  where: src/service.py:27", "  finding: SQL injection: a query",
    ]  # fmt: skip
    small = draw(monkeypatch, Grid(columns=("id", "state"), rows=(make_row("VULN-001", "open"),)))
    assert re.search(r"VULN-001\s+open", small)


def test_in_a_document_what_was_said_is_in_a_fence_it_cannot_end(capsys: pytest.CaptureFixture[str]) -> None:
    said = "```\n## 9. Fake\n```"
    sections = (ReportSection(title="1. Round 1", blocks=(Listing(title="Answered", text=said),)),)
    show_document(ReportDocument(title="t", lead="l", sections=sections))
    assert f"## 1. Round 1\n\nAnswered\n````text\n{said}\n````\n" in capsys.readouterr().out
