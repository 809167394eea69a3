"""What the documents show is true: their snippets are executed, their links lead somewhere."""

import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from fork_server import run_forked

from moot.core.config import Layer, flat, resolve
from moot.edge.models.script import parse_script
from moot.surfaces.session.settings import all_settings

ROOT = Path(__file__).resolve().parents[1]
AT_THE_ROOT = ("README.md", "CONTRIBUTING.md", "AGENTS.md", "SECURITY.md")
PAGES = [ROOT / name for name in AT_THE_ROOT] + sorted((ROOT / "docs").rglob("*.md"))
RECORDED = {
    *("transcripts/harden.md", "transcripts/vet.md", "transcripts/debate-python.md"),
    *("transcripts/debate-typescript.md", "transcripts/debate-go.md"),
}  # as it was; there is nothing in it to run


@dataclass(frozen=True)
class Snippet:
    page: Path
    line: int
    kind: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.name}:{self.line}"


def snippets() -> list[Snippet]:
    found = []
    for page in PAGES:
        if "/".join(page.parts[-2:]) in RECORDED:
            continue
        lines, at = page.read_text(encoding="utf-8").splitlines(), 0
        while at < len(lines):
            if fence := re.match(r"```(\w+)\s*$", lines[at]):
                end = next(n for n in range(at + 1, len(lines)) if lines[n].startswith("```"))
                found.append(Snippet(page, at + 1, fence[1], "\n".join(lines[at + 1 : end])))
                at = end
            at += 1
    return found


def of_kind(kind: str) -> list[Snippet]:
    return [snippet for snippet in snippets() if snippet.kind == kind]


def run_in_examples(folder: Path, *words: str, given: str = "", python: str = "") -> subprocess.CompletedProcess[str]:
    work = folder / "examples"
    if not work.exists():
        shutil.copytree(ROOT / "examples", work)
    env = {**os.environ, "MOOT_STORE": str(folder / "moot.db"), "COLUMNS": "120"}
    text = (work / given).read_text(encoding="utf-8") if given else ""
    return run_forked(words, work, env, given=text, python=python)


@pytest.mark.parametrize("snippet", of_kind("console"), ids=str)
def test_commands_print_what_the_page_shows(snippet: Snippet, tmp_path: Path) -> None:
    """`$ command [< file]`, then what it prints; `...` stands for any lines. They run in a copy of `examples`."""
    for block in re.split(r"(?m)^(?=\$ )", snippet.text)[1:]:
        command, *shown = block.splitlines()
        arguments = shlex.split(command.removeprefix("$ "))
        if arguments[0] in ("make", "git", "cd", "pip", "pipx", "uv", "uvx", "export"):
            continue  # set-up, covered by running the two commands themselves
        assert arguments[0] == "moot", command
        given = arguments[arguments.index("<") + 1] if "<" in arguments else ""
        words = arguments[1 : arguments.index("<")] if given else arguments[1:]
        done = run_in_examples(tmp_path, *words, given=given)
        assert done.returncode in (0, 1, 126), done.stderr  # 126: a guard refuses
        rest = done.stdout
        for line in (line for line in shown if line.strip() and line.strip() != "..."):
            assert line in rest, f"{command!r} does not print {line!r}:\n{done.stdout}"
            rest = rest.split(line, 1)[1]


@pytest.mark.parametrize("snippet", of_kind("python"), ids=str)
def test_python_snippets_run(snippet: Snippet, tmp_path: Path) -> None:
    done = run_in_examples(tmp_path, python=snippet.text)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("snippet", of_kind("toml"), ids=str)
def test_settings_in_the_documents_exist(snippet: Snippet) -> None:
    import tomllib

    resolve(all_settings(), [Layer("moot.toml", flat(tomllib.loads(snippet.text)))])


@pytest.mark.parametrize("snippet", of_kind("yaml"), ids=str)
def test_scripts_in_the_documents_can_be_read(snippet: Snippet) -> None:
    assert yaml.safe_load(snippet.text)
    parse_script(snippet.text, "replies.yaml")


def test_the_example_of_the_page_about_scripts_runs_to_its_end(tmp_path: Path) -> None:
    work = tmp_path / "examples"
    work.mkdir()
    shown = {s.kind: s.text for s in snippets() if s.page.name == "scripts.md"}
    for kind in ("python", "yaml"):
        (work / shown[kind].split("\n", 1)[0].removeprefix("# ")).write_text(shown[kind], encoding="utf-8")
    done = run_in_examples(tmp_path, *shlex.split(shown["sh"])[1:])
    assert done.returncode == 0 and done.stdout.startswith("hardened: "), done.stdout + done.stderr
    assert "replies.yaml: 3 calls" in done.stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda p: "/".join(p.parts[-2:]))
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def list_anchors(page: Path) -> set[str]:
    """The anchors that a renderer gives the headings of a page."""
    prose = re.sub(r"(?ms)^```.*?^```", "", page.read_text(encoding="utf-8"))
    headings = [line.lstrip("#").strip().lower() for line in prose.splitlines() if line.startswith("#")]
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: "/".join(p.parts[-2:]))
def test_anchors_lead_to_a_heading(page: Path) -> None:
    for target, anchor in re.findall(r"\]\(([^)#\s]*)#([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if not target.startswith("http"):
            found = list_anchors(page.parent / target if target else page)
            assert anchor in found, f"{page.name} links to {target}#{anchor}"


def test_the_index_links_every_page() -> None:
    pages = {page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").rglob("*.md")} - {"index.md"}
    linked = re.findall(r"\]\(([\w/-]+\.md)", (ROOT / "docs" / "index.md").read_text(encoding="utf-8"))
    assert pages - set(linked) == set()


def test_the_page_of_commands_is_what_help_says(tmp_path: Path) -> None:
    done = run_forked([], tmp_path, {}, python=(ROOT / "scripts" / "cli_page.py").read_text(encoding="utf-8"))
    assert (ROOT / "docs" / "cli.md").read_text(encoding="utf-8") == done.stdout, f"run `make docs` {done.stderr}"


@pytest.mark.parametrize("name", ["http.md", "schema.md"])
def test_reference_pages_are_what_the_code_says(tmp_path: Path, name: str) -> None:
    script = (ROOT / "scripts" / "reference_pages.py").read_text(encoding="utf-8").replace("__file__", "__name__")
    done = run_forked([], tmp_path, {}, python=f"{script.split('if __name__')[0]}\nprint(PAGES[{name!r}](), end='')")
    assert (ROOT / "docs" / name).read_text(encoding="utf-8") == done.stdout, f"run `make docs` {done.stderr}"


@pytest.mark.parametrize("picture", sorted((ROOT / "docs" / "img").glob("*.svg")), ids=lambda p: p.name)
def test_a_picture_asks_no_other_host_for_anything(picture: Path) -> None:
    found = set(re.findall(r"(?:https?:)?//[^\s\"')]+", picture.read_text(encoding="utf-8")))
    assert found == {"http://www.w3.org/2000/svg"}


def test_every_setting_is_documented() -> None:
    page = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    missing = [s.key for s in all_settings() if f"`{s.key.removesuffix('.*')}" not in page]
    assert not missing


IN_WORDS = (
    *("store", "timeout", "telemetry.enabled", "vet.memory", "debate.phases", "debate.tools"),
    *("debate.least_answers.", "debate.at_once."),
)
"""Settings whose default is a sentence on the page, or depends on the phase."""


def test_settings_have_the_names_variables_and_defaults_of_the_code() -> None:
    known, told = {setting.key: setting for setting in all_settings()}, set[str]()
    page = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    for row in re.findall(r"(?m)^\| (`.+) \|$", page):
        names, variable, default, _ = (cell.strip() for cell in row.split(" | ", 3))
        keys = re.findall("`([^`]+)`", names)
        defaults = [each.strip() for each in default.split(",")] if len(keys) > 1 else [default]
        for key, said in zip(keys, defaults if len(defaults) == len(keys) else [default] * len(keys), strict=True):
            setting = known.get(key) or known[f"{key}.*"]
            told.add(setting.key)
            if len(keys) == 1 and variable and "*" not in setting.key:
                assert variable.strip("`") == setting.variable, key
            if not key.startswith(IN_WORDS) and "*" not in setting.key and said:
                assert said in render_default(setting.default), (key, said, setting.default)
    assert told == set(known)


def render_default(value: object) -> tuple[str, ...]:
    """What the page may say."""
    if value is None or value == () or value == "":
        return ("none", "never", "forever")
    if isinstance(value, tuple | list | frozenset):
        return (",".join(map(str, value)), str(len(value)))
    return (f"{value:g}", str(value)) if isinstance(value, float) else (str(value).lower(), str(value))


def test_the_site_has_every_page_in_its_menu(tmp_path: Path) -> None:
    """`make site` builds it and checks links and diagrams; that takes npm and a browser."""
    script = (ROOT / "scripts" / "site.py").read_text(encoding="utf-8").split("if __name__")[0]
    done = run_forked(
        [], tmp_path, {}, python=f"__file__ = {str(ROOT / 'scripts' / 'site.py')!r}\n{script}\nprint(find_forgotten())"
    )
    assert done.stdout.strip() == "[]", done.stdout + done.stderr
