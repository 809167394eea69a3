"""The evidence panels of recorded and scripted sessions, hostile words in all of them, and the bundle in a browser."""

import asyncio
import gzip
import io
import json
import re
import shutil
import zipfile
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import cycle
from pathlib import Path
from typing import Any, TypeVar

import pytest
from conftest import Cli
from hostile import HOSTILE
from pydantic import BaseModel, ValidationError

from moot.__main__ import run
from moot.core.types import ModelCall, SuiteRun, Vulnerability
from moot.edge.store import SqlStore
from moot.edge.store.snapshots import whole
from moot.protocols import PROTOCOLS
from moot.protocols.debate.types import Attacked, DebateResult
from moot.record.chain import SessionSnapshot
from moot.runtime.model_calls import Exchange
from moot.surfaces.page.panels import PANELS, render_panels
from moot.surfaces.page.panels.progress import MOST_CORNERS, draw_line
from moot.surfaces.page.panels.versions import ChangedPart, UnchangedPart, compare_files
from moot.surfaces.page.site import build_site

M = TypeVar("M", bound=BaseModel)
DATA = Path(__file__).parents[2] / "data"
EXPECTED = {
    "harden": ["tests", "findings", "versions"],
    "solve": ["tests", "versions", "progress"],
    "debate": ["tests", "behaviour", "breaking", "versions", "flips", "progress", "seats"],
    "review": ["challenges", "versions", "progress"],
    "decide": ["positions", "flips", "dissent", "progress"],
    "vet": ["arguments", "progress"],
    "topic": ["ballots", "flips", "progress", "seats"],
}
SCRIPT = [
    {"seat": "proposer", "contains": "Take a position", "reply": {"position": "Split it now.", "arguments": ["a"]}},
    {"contains": "Take a position", "times": 2, "reply": {"position": "Keep it whole.", "arguments": ["b"]}},
    {"contains": "Critics look", "always": True, "reply": {"points": [], "tests": []}},
    {"contains": "Score each", "always": True, "reply": {"scores": []}},
    {"contains": "Make one better", "always": True, "reply": {"position": "Keep it, measure.", "arguments": ["c"]}},
    {"seat": "proposer", "round": 1, "contains": "Rank the", "reply": {"ranking": ["A", "D"], "confidence": 0.4}},
    {"seat": "critic", "round": 1, "contains": "Rank the", "reply": {"ranking": ["B", "A", "D"], "confidence": 0.4}},
    {
        "contains": "Rank the",
        "always": True,
        "reply": {"reasons": "Measure first.", "ranking": ["D", "B", "A"], "confidence": 0.9},
    },
]
"""Two voters come over to D in round 2."""


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> dict[str, SessionSnapshot]:
    """A finished session of each protocol, and a debate of a topic with two votes."""
    folder = tmp_path_factory.mktemp("panels")
    store = folder / "old.db"
    store.write_bytes(gzip.decompress((DATA / "store-0.1.0" / "store.db.gz").read_bytes()))
    (folder / "replies.yaml").write_text(json.dumps(SCRIPT))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        command = "debate --topic Split? -m script:replies.yaml --voting condorcet --topology star --planning off"
        run([*command.split(), "--rounds", "2", "--store", str(store), "--quiet"], debug=False)
    return asyncio.run(load_finished(str(store)))


async def load_finished(place: str) -> dict[str, SessionSnapshot]:
    store = SqlStore(place)
    try:
        found: dict[str, SessionSnapshot] = {}
        for record in await store.sessions(50, ""):
            snapshot = await whole(store, record.id)
            outcome = snapshot.session.outcome
            if isinstance(outcome, dict) and outcome.get("outcome") not in ("budget_exhausted", "INSUFFICIENT_DATA"):
                found["topic" if record.topic == "Split?" else record.protocol] = snapshot
        return found
    finally:
        await store.aclose()


def show(snapshot: SessionSnapshot) -> dict[str, str]:
    return {panel.id: str(panel.html) for panel in render_panels(snapshot)}


def words(html: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())


def with_result(snapshot: SessionSnapshot, result: object) -> SessionSnapshot:
    session = snapshot.session.model_copy(update={"outcome": {"result": result}})
    return snapshot.model_copy(update={"session": session})


@pytest.mark.parametrize("name", EXPECTED)
def test_a_session_has_the_panels_it_has_data_for(sessions: dict[str, SessionSnapshot], name: str) -> None:
    assert list(show(sessions[name])) == EXPECTED[name]


def test_every_panel_is_seen_in_these_tests(sessions: dict[str, SessionSnapshot]) -> None:
    assert {panel.id for panel in PANELS} == {each for expected in EXPECTED.values() for each in expected}


def test_candidates_meet_tests_by_shape_and_word(sessions: dict[str, SessionSnapshot]) -> None:
    shown = show(sessions["debate"])
    matrix = words(shown["tests"])
    assert "largest([3, 1]) → 3 agreed, by critic, proposer ✕ failed 1 ✕ failed 1 ✓ passed" in matrix
    assert "Passed 1 of 2 1 of 2 2 of 2" in matrix and "Candidate C winner" in matrix
    assert "Breaks A, B." in words(shown["breaking"])
    assert "Group 1 A proposer 1 of 1 tests B critic" in words(shown["behaviour"])
    assert "Their vote alone would have chosen A." in words(shown["behaviour"])


def test_a_finding_is_followed_from_source_to_sink(sessions: dict[str, SessionSnapshot]) -> None:
    shown = words(show(sessions["harden"])["findings"])
    assert "source service.py:34 34 def login(db, name, password): parameter name of login() is read" in shown
    assert "sink service.py:36 36 row = db.execute(query).fetchone() reaches db.execute(query)" in shown
    assert "patched" in shown and "open" in shown


def test_findings_of_a_debate_are_those_left_in_each_candidate(sessions: dict[str, SessionSnapshot]) -> None:
    result = read_result(sessions["debate"])
    assert isinstance(result, DebateResult)
    finding = Vulnerability(
        id="V1", category="other", severity="high", description="odd", evidence="x", file="solution.py", line=2
    )
    attacks = (
        Attacked(candidate="A", round=1, findings=(finding, finding)),
        Attacked(candidate="A", round=2, findings=(finding,)),
    )
    changed = result.model_copy(update={"attacks": attacks}).model_dump(mode="json")
    shown = words(show(with_result(sessions["debate"], changed))["findings"])
    assert shown.count("V1") == 1 and "2 return numbers[-1] if numbers else None" in shown


def test_versions_lie_side_by_side_with_their_changed_words(sessions: dict[str, SessionSnapshot]) -> None:
    html = show(sessions["harden"])["versions"]
    assert "<del>f</del>" in html and "unchanged lines" in words(html) and "secrets" in html


def test_the_vote_is_shown_with_its_pairs_and_who_changed_their_mind(sessions: dict[str, SessionSnapshot]) -> None:
    shown = show(sessions["topic"])
    ballots = words(shown["ballots"])
    assert "Round 2: D wins condorcet" in ballots and "Earlier rounds" in ballots and "5 wins" in ballots
    flips = words(shown["flips"])
    assert "proposer changed from A → to D round 2 Measure first. After the turn of" in flips
    assert "critic changed from B" in flips
    turns = {str(turn.seq) for turn in sessions["topic"].turns}
    assert set(re.findall(r'href="#turn-(\d+)"', "".join(shown.values()))) <= turns
    seats = words(shown["seats"])
    assert "Whose turns each seat saw" in seats and "2 seats" not in seats
    assert "moderator · directly directly directly directly" in seats and "proposer no · no no no" in seats


def test_spend_adds_up_to_what_the_result_says(sessions: dict[str, SessionSnapshot]) -> None:
    for name, snapshot in sessions.items():
        result = read_result(snapshot)
        used = result.usage.values()
        if used:
            calls, tokens = sum(u.calls for u in used), sum(u.input_tokens for u in used)
            assert f"All {calls} {tokens:,} " in words(show(snapshot)["progress"]), name
    assert "0.75 was to be reached" in words(show(sessions["topic"])["progress"])


def test_a_result_that_cannot_be_read_leaves_what_the_record_says(sessions: dict[str, SessionSnapshot]) -> None:
    unreadable: tuple[object, ...] = (None, {}, [], "agreed", {"outcome": 7})
    for broken in unreadable:
        assert list(show(with_result(sessions["debate"], broken))) == ["versions", "progress"]
    session = sessions["debate"].session.model_copy(update={"protocol": "unknown", "config": {}, "outcome": None})
    assert show(SessionSnapshot(session=session, entries=(), steps=())) == {}


def test_line_ends_of_windows_are_not_marked() -> None:
    diff = "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n x = 1\r\n-y = 1\r\n+y = 2\r\n"
    (file,) = compare_files(diff, "x = 1\r\ny = 2\r\nz = 3\r\n")
    assert (file.added, file.removed) == (1, 1) and "\\r" not in repr(file)


@pytest.mark.parametrize(
    ("diff", "after", "parts"),
    [
        ("", "x", []),
        ("not a diff", "x", []),
        ("--- a/f\n+++ b/f\n@@ -1,9 +1,9 @@\n-cut", "", [1]),
        ("--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n--- x\n+++ y\n same\n", "++ y\nsame", [2]),
        ("--- a/f\n+++ b/f\n@@ -0,0 +1 @@\n+new\n\\ No newline at end of file\n", "new", [1]),
        ("--- a/f\n+++ b/f\n@@ -3 +3 @@\n-a\n+b\n", "1\n2\nb\n4\n", ["1-2", 1, "4-4"]),
        ("--- a/f\n+++ b/f\n@@ -9 +9 @@\n-a\n+b\n", "", ["1-8", 1]),
    ],
)
def test_a_diff_is_laid_out_whatever_is_in_it(diff: str, after: str, parts: list[object]) -> None:
    found: list[object] = []
    for file in compare_files(diff, after):
        for part in file.parts:
            match part:
                case ChangedPart():
                    found.append(len(part.lines))
                case UnchangedPart():
                    found.append(f"{part.new}-{part.new + len([t for t in part.texts or ' ' * part.count if t]) - 1}")
    assert found == parts


# --- hostile words


class Poison:
    """Adds a hostile string to every text that may hold any words; the same text gets the same one everywhere, so that
    names still fit together."""

    def __init__(self) -> None:
        self._next = cycle(HOSTILE)
        self._given: dict[str, str] = {}

    def text(self, value: str) -> str:
        if value not in self._given:
            self._given[value] = value + next(self._next)
        return self._given[value]

    def model(self, value: M) -> M:
        fields = {name: getattr(value, name) for name in type(value).model_fields}
        for name, held in list(fields.items()):
            try:
                fields = dict(type(value).model_validate({**fields, name: self.value(held)}))
            except ValidationError:
                continue  # a word of a closed set
        return type(value).model_validate(fields)

    def value(self, held: Any) -> Any:
        if isinstance(held, str):
            return self.text(held)
        if isinstance(held, BaseModel):
            return self.model(held)
        if isinstance(held, tuple | list):
            return type(held)(self.value(each) for each in held)
        if isinstance(held, dict):
            return {self.text(key) if isinstance(key, str) else key: self.value(each) for key, each in held.items()}
        return held


def read_result(snapshot: SessionSnapshot) -> Any:
    assert isinstance(snapshot.session.outcome, dict)
    return PROTOCOLS[snapshot.session.protocol].result.model_validate(snapshot.session.outcome["result"])


def poison(snapshot: SessionSnapshot, words: Poison) -> SessionSnapshot:
    given = PROTOCOLS[snapshot.session.protocol].input.model_validate(snapshot.session.config["input"])
    config = {**snapshot.session.config, "input": words.model(given).model_dump(mode="json")}
    result = words.model(read_result(snapshot)).model_dump(mode="json")
    if "topology" in result:  # without a known one, nothing is drawn
        result["topology"] = read_result(snapshot).topology
    outcome = {"result": result}
    session = snapshot.session.model_copy(
        update={"outcome": outcome, "config": config, "topic": words.text(snapshot.session.topic)}
    )
    changed = {
        "session": session,
        "turns": tuple(map(words.model, snapshot.turns)),
        "versions": tuple(map(words.model, snapshot.versions)),
        "steps": tuple(row.model_copy(update={"value": step_value(row, words)}) for row in snapshot.steps),
        "entries": tuple(row.model_copy(update={"value": step_value(row, words)}) for row in snapshot.entries),
    }
    return snapshot.model_copy(update=changed)


def step_value(row: Any, words: Poison) -> Any:
    if row.name == "execute":
        return words.model(SuiteRun.model_validate(row.value)).model_dump(mode="json")
    if row.name.startswith("ask "):
        shapes: dict[str, type[BaseModel]] = {"call": ModelCall, "exchange": Exchange}
        return {k: words.model(shapes[k].model_validate(v)).model_dump(mode="json") for k, v in row.value.items()}
    return row.value


class Audit(HTMLParser):
    """What a page would build, and the words in it."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.links: set[str] = set()
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links |= {value or "" for name, value in attrs if name in ("href", "src", "xlink:href", "marker-end")}

    def handle_data(self, data: str) -> None:
        self.text += data


def test_hostile_words_stay_words(sessions: dict[str, SessionSnapshot]) -> None:
    poisoner, text = Poison(), ""
    for name, snapshot in sessions.items():
        plain = Audit("".join(show(snapshot).values()))
        found = Audit("".join(show(poison(snapshot, poisoner)).values()))
        assert found.tags <= plain.tags | {"blockquote", "q", "p", "small", "ins", "del", "li", "ul", "pre"}, name
        assert not [each for each in found.attributes if each.startswith("on") or each in ("style", "src", "data-api")]
        assert all(re.fullmatch(r"#turn-\d+|url\(#arrow\)", link) for link in found.links), found.links
        text += found.text
    shown = [each for each in HOSTILE if each in text]
    assert len(shown) > 150, f"only {len(shown)} of {len(HOSTILE)} strings were seen"
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x1b]", text)


# --- the bundle


def test_a_site_is_written_to_a_folder_or_a_zip_file(
    cli: Cli, sessions: dict[str, SessionSnapshot], tmp_path: Path
) -> None:
    (tmp_path / "old.db").write_bytes(gzip.decompress((DATA / "store-0.1.0" / "store.db.gz").read_bytes()))
    export = ("export", "c05ea55c", "--store", "old.db", "-f", "site")
    assert cli(*export, "-o", "site").code == 0
    assert {file.name for file in Path("site").iterdir()} == {"index.html", "page.css", "panels.css", "icon.svg"}
    again = cli(*export, "-o", "site")
    assert again.code == 2 and "'site' is not empty" in again.err
    assert cli(*export, "-o", "site", "--force").code == 0
    assert cli(*export, "-o", "s.zip").code == 0
    with zipfile.ZipFile(io.BytesIO(Path("s.zip").read_bytes())) as packed:
        assert packed.read("index.html") == Path("site/index.html").read_bytes()
    assert "several files" in cli(*export).err
    Path("link").symlink_to("site")
    assert "is a link" in cli(*export, "-o", "link", "--force").err
    assert "cannot write" in cli(*export, "-o", "s.zip/x").err and "cannot write" in cli(*export, "-o", "no/x").err


@pytest.fixture
def browser(sessions: dict[str, SessionSnapshot]) -> Iterator[Any]:
    """Opened last and closed at once: a loop runs in this thread as long as it is open."""
    chromium = shutil.which("chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        pytest.skip("not run: playwright is not installed")
    if chromium is None:
        pytest.skip("not run: there is no Chromium here")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield opened
        opened.close()


def test_a_bundle_full_of_hostile_words_opens_from_disk(
    browser: Any, sessions: dict[str, SessionSnapshot], tmp_path: Path
) -> None:
    page, said, asked = browser.new_page(viewport={"width": 400, "height": 800}), [], []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: said.append(dialog.message))
    page.on("request", lambda request: asked.append(request.url))
    poisoner = Poison()
    for name, snapshot in sessions.items():
        folder = tmp_path / name
        folder.mkdir()
        hostile = poison(snapshot, poisoner)
        for file, data in build_site(hostile, read_result(hostile)).items():
            (folder / file).write_bytes(data)
        page.goto((folder / "index.html").as_uri())
        page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
        assert page.locator(".panel").count() == len(EXPECTED[name])
        # Styles were loaded: they are refused where the policy of the page does not fit files.
        assert page.evaluate("getComputedStyle(document.querySelector('.panel')).getPropertyValue('--accent')")
        wide = "[...document.querySelectorAll('.panel')].filter(p => p.scrollWidth > p.clientWidth).map(p => p.id)"
        assert page.evaluate(wide) == [], name
        assert page.locator("script, img, iframe, object, embed, base, form").count() == 0
        for link in page.locator(".panel a[href^='#turn-']").all()[:3]:
            link.click()
            assert page.locator(":target").count() == 1, f"{name}: {link.get_attribute('href')} leads nowhere"
    assert said == [] and {url.partition(":")[0] for url in asked} == {"file"}
    page.close()


def test_a_long_session_has_a_short_line() -> None:
    line = [(float(n), float(n)) for n in range(5000)]
    chart = draw_line("Tokens", line, 4999.0, "0 s", "1 s", "{:.0f}".format)
    corners = chart.points.split()
    assert len(corners) <= 2 * MOST_CORNERS and corners[0] == "0.0,100.0" and corners[-1] == "400.0,0.0"
