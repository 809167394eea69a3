"""What a newcomer meets first: `moot` alone, the list of commands, their help, and completion by the shell."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from conftest import Cli
from terminals import answered_on_a_terminal, shown_on_a_terminal

from moot.surfaces.cli.app import load_entry
from moot.surfaces.cli.group import CleanCommand
from moot.surfaces.cli.menu import LISTED, PANELS, SHORT

WIDTH = 80
GROUPED = [(group, inner, entry) for group, each in LISTED.items() for inner, entry in each.inside.items()]


def test_moot_alone_says_what_to_do_first(cli: Cli) -> None:
    ran = cli()
    assert ran.code == 0 and len([line for line in ran.out.splitlines() if line]) <= 6
    assert max(map(len, ran.out.splitlines())) <= WIDTH
    for hint in ("moot harden FILE", "without a model", "-m openai:", "moot --help"):
        assert hint in ran.out


def test_the_help_lists_every_command_on_one_line_in_its_panel(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    rest = cli("--help").out
    for panel, entries in PANELS.items():
        rest = rest.split(f"─ {panel} ─", 1)[1]
        for name, entry in entries.items():
            line = next(line for line in rest.splitlines() if line.startswith(f"│ {name} "))
            assert entry.about in line and len(line) == WIDTH, name


def test_what_an_example_shows_is_beside_it_or_below_it(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    lines = [line.rstrip() for line in cli("harden", "--help").out.splitlines()]
    at = lines.index(" moot harden app.py")
    assert lines[at + 1] == "     no model, no key: the deterministic teams"
    assert " moot harden --diff main                     only what this branch changes" in lines


@pytest.mark.parametrize(("group", "inner", "entry"), GROUPED, ids=lambda part: part if isinstance(part, str) else "")
def test_a_subcommand_and_its_short_form_are_one_command(group: str, inner: str, entry: object) -> None:
    short = getattr(entry, "short", "") or inner
    long = load_entry(group, LISTED[group], [inner])
    assert long.commands[inner].short_help
    assert {**LISTED, **SHORT}[short] is entry


def test_short_forms_work_and_are_not_listed(cli: Cli) -> None:
    ran = [cli(*words) for words in (("gate", "list"), ("gates",), ("session", "list"), ("list",))]
    assert [each.code for each in ran] == [0, 0, 0, 0]
    assert ran[0].out == ran[1].out != ran[2].out == ran[3].out
    assert "│ gates" not in cli("--help").out


def test_the_help_says_that_there_are_short_forms(cli: Cli) -> None:
    assert "`moot serve` is `moot admin serve`" in cli("--help").out


def test_config_alone_shows_the_settings_as_the_help_says(cli: Cli) -> None:
    alone = cli("config", "--json")
    assert alone.code == 0 and alone.out == cli("config", "show", "--json").out and "harden.max_rounds" in alone.out


@pytest.mark.parametrize("name", ["install", "uninstall", "mcp"])
def test_examples_are_about_the_command_whose_help_it_is(cli: Cli, name: str) -> None:
    examples = cli(name, "--help").out.split("Examples:")[1]
    assert f"moot {name}" in examples and (name == "mcp" or examples.count("moot ") == examples.count(f"moot {name} "))


@pytest.mark.parametrize("words", [("debate", "x"), ("solve", "x"), ("vet", "drop the table"), ("decide", "--ask",
    "Do we need it in the MVP?", "--option", "A: yes", "--option", "B: no")], ids=lambda words: words[0])  # fmt: skip
def test_without_a_model_the_next_step_is_named(cli: Cli, words: tuple[str, ...]) -> None:
    ran = cli(*words)
    assert ran.code == 2
    assert "give -m PROVIDER:MODEL, or set MOOT_MODEL" in ran.err and "`moot models` lists" in ran.err
    assert "`moot classify`" not in ran.err, "a command that `moot --help` does not list"


def test_a_narrow_terminal_shows_the_whole_id_of_a_session(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "app.py").write_text("x = 1\n")
    session = json.loads(cli("harden", "app.py", "--json").out)["session_id"]
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("LINES", "24")
    code, screen = shown_on_a_terminal([sys.executable, "-m", "moot", "list"], str(tmp_path))
    assert code == 0 and session[:8] in screen and "…" not in screen


def test_classify_is_inside_decide_and_a_file_of_that_name_can_still_be_read(cli: Cli, tmp_path: Path) -> None:
    inside = cli("decide", "classify", "Which colour should the button have?")
    assert inside.code == 0 and inside.out == cli("classify", "Which colour should the button have?").out
    (tmp_path / "classify").write_text("questions: 1\n")
    assert "'./classify'" in cli("decide", "./classify").err
    assert "moot decide choose" in cli("decide", "--help").out


def test_route_is_inside_vet_and_as_quick() -> None:
    code = (
        "import sys; from moot.__main__ import run; ended = run(['vet', 'route', 'rm -rf /'], debug=False); "
        "print(ended, [m for m in ('typer', 'pydantic', 'rich') if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "stakes high" in done.stdout and done.stderr.strip() == "0 []"


def help_of(command: CleanCommand) -> str:
    with typer.Context(command, info_name="x") as context:
        return command.get_help(context)


def test_words_in_brackets_are_no_markup_and_lines_break_where_the_screen_ends(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def with_brackets(
        flag: Annotated[bool, typer.Option("--flag", help="See [ci] and [/] of moot.toml.")] = False,
        word: Annotated[list[str] | None, typer.Option("--word", help="A moot[all].")] = None,
    ) -> None:
        """Reads [ci].

        Wrapped in the source,
        not on the screen.
        """

    app = typer.Typer()
    app.command("x", cls=CleanCommand, epilog="Needs moot[server].")(with_brackets)
    command = typer.main.get_command(app)
    assert isinstance(command, CleanCommand)
    said = [help_of(command), capsys.readouterr().out, help_of(command), capsys.readouterr().out]
    text = "".join(said[:2])
    for words in (
        "Reads [ci].",
        "See [ci] and [/] of moot.toml.",
        "A moot[all].",
        "Needs moot[server].",
        "source, not on",
    ):
        assert words in text
    assert "".join(said[2:]) == text, "drawing the help changes nothing"


def test_an_error_shows_brackets_as_they_were_typed(cli: Cli) -> None:
    assert "'[bold]x'" in cli("[bold]x").err
    assert "'[ci]'" in cli("scan", "[ci]").err


@pytest.mark.parametrize("name", LISTED)
def test_no_help_shows_a_flag_with_a_value(cli: Cli, name: str) -> None:
    said = cli(name, "--help").out
    assert "--help" in said and "<bool>" not in said and "list[" not in said


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_gets_its_script(cli: Cli, shell: str) -> None:
    ran = cli("completion", shell)
    assert ran.code == 0 and f"_MOOT_COMPLETE=complete_{shell}" in ran.out


def test_without_a_shell_completion_says_what_to_name(cli: Cli) -> None:
    assert cli("completion").code == 2 and "moot completion bash" in cli("completion").err


@pytest.mark.parametrize(
    ("words", "expected", "unexpected"),
    [
        ("moot ha", {"harden"}, {"scan"}),
        ("moot ", {"harden", "gate", "admin"}, {"gates", "worker"}),
        ("moot gate ", {"list", "approve", "reject", "answer"}, {"harden"}),
        ("moot scan --js", {"--json"}, {"--jobs"}),
    ],
)
def test_the_shell_is_told_what_could_come_next(words: str, expected: set[str], unexpected: set[str]) -> None:
    count = len(words.split(" ")) - 1
    env = {**os.environ, "_MOOT_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(count)}
    done = subprocess.run([sys.executable, "-m", "moot"], env=env, capture_output=True, text=True, check=True)
    offered = set(done.stdout.split())
    assert expected <= offered and not unexpected & offered


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_the_first_tab_of_a_new_terminal_completes(cli: Cli, shell: str, tmp_path: Path, monkeypatch: Any) -> None:
    if (found := shutil.which(shell)) is None:
        pytest.skip(f"not run: there is no {shell} here")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    for _ in range(2):
        assert cli("completion", shell, "--install").code == 0
    settings = tmp_path / f".{shell}rc"
    assert settings.read_text().count("moot" if shell == "bash" else "compinit;") == 1
    settings.write_text(settings.read_text() + "\nPS1='ready> '\n")
    _, seen = answered_on_a_terminal([found, "-i"], "exit; moot har\t\n", question="ready> ")
    assert "moot harden" in seen
