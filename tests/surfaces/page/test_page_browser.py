"""The page in a real browser, against a real server: started, watched, decided, forked, compared, and found again."""

from collections.abc import Iterator

import pytest
from browsers import CHROMIUM, open_chromium
from hostile import HOSTILE
from page_demo import CLARIFIED_BODY, DECIDE_BODY, GATED_BODY, HARDEN_BODY, DemoServer, serve_demo
from patience import wait_until
from playwright.sync_api import Browser, BrowserContext, Dialog, Page, expect
from terminal_svg import APP

from moot.edge.store.tokens import LOCAL, digest_of
from moot.surfaces.page.login import login_link

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="not run: there is no Chromium; scripts/need chromium")
PATIENCE = 60_000
"""Milliseconds. What a browser waits for comes at once, or on a busy machine a little later."""
EXPECTED = ("ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED_ENCODING", "ERR_EMPTY_RESPONSE", "ERR_CONNECTION_RESET")
"""What a browser says of a server that is away for a moment."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DemoServer]:
    with serve_demo(tmp_path_factory.mktemp("page")) as made:
        yield made


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_chromium() as made:
        yield made


@pytest.fixture(scope="module")
def context(browser: Browser, server: DemoServer) -> Iterator[BrowserContext]:
    """Signed in by the link of `moot ui`. Whatever any page says or asks for is looked at in the end."""
    said, asked = list[str](), list[str]()
    made = browser.new_context(viewport={"width": 1280, "height": 900})
    made.set_default_timeout(PATIENCE)
    made.on("console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None)
    made.on("weberror", lambda error: said.append(str(error.error)))
    made.on("request", lambda request: asked.append(request.url))
    page = made.new_page()
    page.goto(login_link(server.place, digest_of(server.token), LOCAL))
    expect(page.get_by_role("heading", name="Sessions")).to_be_visible()
    page.close()
    yield made
    made.close()
    assert [text for text in said if not any(known in text for known in EXPECTED)] == []
    assert {url for url in asked if not url.startswith((server.place, "data:"))} == set()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    expect.set_options(timeout=PATIENCE)
    made = context.new_page()
    yield made
    made.close()


def look_at(page: Page, server: DemoServer, session: str) -> None:
    page.goto(f"{server.place}/ui/sessions/{session}")


def test_a_session_is_started_from_its_form_and_watched_to_its_end(page: Page, server: DemoServer) -> None:
    page.goto(server.place)
    page.get_by_role("link", name="Start a session").click()
    page.get_by_role("link", name="harden").click()
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_label("Path").first).to_be_focused()
    assert page.url.endswith("/ui/start/harden"), "what is required is asked for first"
    page.get_by_label("Path").first.fill("app.py")
    page.get_by_label("Text").first.fill(APP)
    page.get_by_text("More: rules, gates, budget").click()
    page.get_by_label("Max rounds").fill("2")
    page.get_by_role("button", name="Estimate").click()
    expect(page.locator("#estimate")).to_contain_text("at most")
    page.get_by_role("button", name="Start", exact=True).click()
    page.wait_for_url("**/ui/sessions/*")
    expect(page.get_by_role("region", name="Verdict")).to_contain_text("hardened")
    expect(page.locator(".turn").first).to_contain_text("Said by red")
    session = page.url.rpartition("/")[2]
    plan = server.call(f"/v1/debates/{session}")["plan"]
    assert (plan["rules"]["max_rounds"], plan["limits"]["max_calls"]) == (2, None)
    entries = server.call(f"/v1/debates/{session}/audit")["entries"]
    turns = [f"turn-{each['seq']}" for each in entries if each["name"].startswith("ask ")]
    wait_until(lambda: page.locator("article.turn").count() == len(turns), "every turn is shown")
    assert [each.get_attribute("id") for each in page.locator("article.turn").all()] == turns
    wait_until(lambda: page.locator("#lanes .dot").count() == len(turns), "every turn has its place in a lane")


def test_what_a_seat_saw_is_there_on_demand_and_keys_go_from_turn_to_turn(page: Page, server: DemoServer) -> None:
    session = server.begin(HARDEN_BODY)
    look_at(page, server, session)
    expect(page.get_by_role("region", name="Verdict")).to_be_visible()
    first = page.locator("article.turn").first
    first.get_by_text("What red saw").click()
    expect(first.get_by_text("Attack this code. Round 1.")).to_be_visible()
    page.keyboard.press("j")
    expect(page.locator("article.turn").nth(1)).to_be_focused()
    page.keyboard.press("k")
    expect(first).to_be_focused()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Replay").click()
    expect(page.locator("#replayed")).to_contain_text("without a call: the same result")
    page.get_by_role("link", name="Audit").click()
    expect(page.get_by_role("region", name="Verdict")).to_contain_text("The record is intact")


def test_a_gate_is_decided_once_and_a_rejection_needs_a_reason(page: Page, server: DemoServer) -> None:
    look_at(page, server, server.begin(GATED_BODY))
    gate = page.get_by_role("region", name="Approval needed after defense")
    expect(gate.get_by_role("region", name="Changes in app.py")).to_contain_text("(name,)).fetchall()")
    expect(gate).to_contain_text("1 of 1 → 1 of 1")
    gate.get_by_role("button", name="Reject").click()
    expect(gate.get_by_role("alert")).to_have_text("Give a reason.")
    gate.get_by_label("Reason").fill("the parameter is bound")
    gate.get_by_role("button", name="Approve").click()
    expect(page.get_by_role("region", name="Verdict")).to_contain_text("hardened")
    expect(gate).to_have_count(0)
    expect(page.locator("#turns")).to_contain_text("approved (person by local): the parameter is bound")
    look_at(page, server, server.begin(GATED_BODY))
    gate.get_by_label("Reason").fill("not now")
    gate.get_by_role("button", name="Reject").click()
    expect(page.get_by_role("region", name="Verdict")).to_contain_text("rejected")


def test_questions_about_a_task_are_answered_on_the_page(page: Page, server: DemoServer) -> None:
    look_at(page, server, server.begin(CLARIFIED_BODY))
    asked = page.get_by_role("region", name="Questions about the task")
    asked.get_by_label("What of an empty list?").fill("None, please")
    asked.get_by_role("button", name="Send the answers").click()
    expect(page.get_by_role("region", name="Verdict")).to_contain_text("agreed")
    expect(page.locator("#turns")).to_contain_text("None, please")


def test_a_contested_question_is_chosen_in(page: Page, server: DemoServer) -> None:
    look_at(page, server, server.begin(DECIDE_BODY))
    choice = page.get_by_role("region", name="The judges disagree. You decide.")
    choice.get_by_label("Drafts").check()
    choice.get_by_label("Reason").fill("it is the smallest step")
    choice.get_by_role("button", name="Record the choice").click()
    expect(choice).to_have_count(0)
    page.get_by_text("Full report").click()
    expect(page.get_by_role("region", name="Verdict")).to_contain_text("it is the smallest step")


def test_a_session_is_forked_from_a_turn_and_compared_with_its_parent(page: Page, server: DemoServer) -> None:
    parent = server.begin(HARDEN_BODY)
    look_at(page, server, parent)
    expect(page.get_by_role("region", name="Verdict")).to_be_visible()
    page.locator("article.turn").last.get_by_role("button", name="Fork here").click()
    dialog = page.get_by_role("dialog", name="Fork this session")
    dialog.get_by_label("Other settings").fill("not JSON")
    dialog.get_by_role("button", name="Fork", exact=True).click()
    expect(dialog.get_by_role("alert")).to_have_text("changes: this is not JSON.")
    dialog.get_by_label("Other settings").fill('{"max_calls": 50}')
    dialog.get_by_role("button", name="Fork", exact=True).click()
    page.wait_for_url(lambda url: not url.endswith(parent))
    expect(page.get_by_role("link", name=parent[:8])).to_be_visible()
    expect(page.get_by_role("region", name="Verdict")).to_contain_text("hardened")
    page.locator(".tools").get_by_role("link", name="Compare").click()
    expect(page.get_by_role("heading", name="Compare two sessions")).to_be_visible()
    expect(page.get_by_role("region", name="First session")).to_contain_text("hardened")
    expect(page.get_by_role("region", name="Plan")).to_contain_text("max_calls")


def test_a_page_outlives_its_server(page: Page, server: DemoServer) -> None:
    """The cookie holds, the browser comes back by itself, and nothing is shown twice."""
    session = server.begin(GATED_BODY)
    look_at(page, server, session)
    expect(page.get_by_role("region", name="Approval needed after defense")).to_be_visible()
    server.stop()
    expect(page.locator("#connection")).to_contain_text("The connection was lost")
    server.start()
    expect(page.locator("#connection")).to_be_empty()
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_role("region", name="Verdict")).to_contain_text("hardened")
    expect(page.locator("#turns")).to_contain_text("Ended: completed")
    ids = [each.get_attribute("id") for each in page.locator("#turns [data-entry]").all()]
    assert len(ids) == len(set(ids))


def test_the_list_changes_while_it_is_looked_at(page: Page, server: DemoServer) -> None:
    page.goto(f"{server.place}/ui")
    session = server.begin({**DECIDE_BODY, "priority": 1})
    expect(page.locator(f'a[href="/ui/sessions/{session}"]')).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("offline")
    page.keyboard.press("Enter")
    page.wait_for_url("**text=offline*")
    expect(page.locator(".sessions li").first).to_contain_text("decide")


def test_hostile_words_do_nothing_in_a_browser(page: Page, server: DemoServer) -> None:
    opened = list[str]()

    def note(dialog: Dialog) -> None:
        opened.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", note)
    text = "\n\n".join(HOSTILE)
    session = server.begin({"protocol": "harden", "input": {"files": {"app.py": f"x = {text!r}\n"}}})
    look_at(page, server, session)
    expect(page.get_by_role("region", name="Verdict")).to_be_visible()
    page.locator("details").first.click()
    assert opened == [] and page.url.startswith(server.place)
    assert page.locator("main script, main iframe, main img, main svg[onload]").count() == 0


def test_a_finding_is_followed_through_the_code_and_versions_stand_side_by_side(page: Page, server: DemoServer) -> None:
    look_at(page, server, server.begin(HARDEN_BODY))
    expect(page.get_by_role("region", name="Verdict")).to_be_visible()
    findings = page.get_by_role("region", name="Findings")
    findings.locator("summary").first.click()
    expect(findings).to_contain_text("parameter name of find() is read")
    versions = page.get_by_role("region", name="Versions")
    expect(versions.locator("del, ins").first).to_be_visible()
    expect(versions).to_contain_text("app.py")
