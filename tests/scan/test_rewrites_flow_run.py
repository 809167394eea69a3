"""Python in which a flow was cut is run: honest input gives what it gave, the attack no longer works."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from samples import repaired

HANDLER = "from flask import request\n\n@app.route('/x')\ndef x():\n    bar = request.args.get('x')\n"


class App:
    def route(self, path: str) -> Callable[[Callable[[], object]], Callable[[], object]]:
        return lambda handler: handler


def answer(text: str, given: str, monkeypatch: pytest.MonkeyPatch, **names: object) -> object:
    """What the handler `x` answers when it is asked with this value."""
    flask = ModuleType("flask")
    request = SimpleNamespace(args={"x": given}, url="https://here.example/a/b", host="here.example")
    flask.__dict__.update({"request": request, **names})
    monkeypatch.setitem(sys.modules, "flask", flask)
    space: dict[str, object] = {"app": App(), **names}
    exec(text, space)
    handler = space["x"]
    assert callable(handler)
    return handler()


@pytest.mark.parametrize(
    "shown",
    ["f'<p>{bar}</p>'", "'<p>' + bar + '</p>'", "'<p>%s</p>' % bar", "'<p>{}</p>'.format(bar)"],
)
def test_a_page_shows_the_same_and_runs_no_script(shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = f"{HANDLER}    return {shown}\n"
    after, repair = repaired("python", before)
    assert repair.fixed
    assert answer(after, "Ann Lee", monkeypatch) == answer(before, "Ann Lee", monkeypatch) == "<p>Ann Lee</p>"
    assert "<script>" in str(answer(before, "<script>", monkeypatch))
    assert answer(after, "<script>", monkeypatch) == "<p>&lt;script&gt;</p>"


@pytest.mark.parametrize(
    "body",
    [
        "    name = f'{DIR}/{bar}'\n    import os\n    return os.stat(name).st_size\n",
        "    import os\n    return os.stat(DIR + '/' + bar).st_size\n",
        "    import pathlib\n    base = pathlib.Path(DIR)\n    p = base / bar\n    return len(p.read_text())\n",
        "    import os\n    p = os.path.join(DIR, bar)\n    return os.stat(p).st_size\n",
        "    import os\n    return os.stat(os.path.join(DIR, '..', 'files', bar)).st_size\n",
    ],
)
def test_a_file_in_the_folder_is_read_and_no_other(body: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "files"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "a.txt").write_text("abc")
    (tmp_path / "secret").write_text("x")
    before = HANDLER + body
    after, repair = repaired("python", before)
    assert repair.fixed
    for text in (before, after):
        assert answer(text, "sub/a.txt", monkeypatch, DIR=str(folder)) == 3
        assert answer(text, "sub/../sub/a.txt", monkeypatch, DIR=str(folder)) == 3
    assert answer(before, "../secret", monkeypatch, DIR=str(folder)) == 1
    for attack in ("../secret", str(tmp_path / "secret") if "join" in body else "sub/../../secret"):
        with pytest.raises(PermissionError):
            answer(after, attack, monkeypatch, DIR=str(folder))


class Root:
    """Of an XPath expression, remembers the text and the variables."""

    def xpath(self, text: str, **variables: str) -> tuple[str, dict[str, str]]:
        return text, variables


def test_an_xpath_stays_the_same_text_whatever_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    after, repair = repaired("python", f"import lxml\n{HANDLER}    return root.xpath(f\"//a[@id='{{bar}}']\")\n")
    assert repair.fixed
    monkeypatch.setitem(sys.modules, "lxml", ModuleType("lxml"))
    for given in ("7", "' or '1'='1"):
        assert answer(after, given, monkeypatch, root=Root()) == ("//a[@id=$bar]", {"bar": given})


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ("/in?x=1#top", "/in?x=1#top"),
        ("c", "/a/c"),
        ("https://here.example/in?x=1", "/in?x=1"),
        ("https://evil.example/in", "/in"),
        ("//evil.example", "/"),
        ("///evil.example", "/evil.example"),
        ("https://here.example//evil.example", "/evil.example"),
        ("/\\evil.example", "/evil.example"),
        ("/\t/evil.example/", "/"),
        ("javascript:alert(1)", "/alert(1)"),
    ],
)
def test_a_redirect_stays_on_the_host(given: str, sent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    after, repair = repaired("python", f"{HANDLER}    import flask\n    return flask.redirect(bar)\n")
    assert repair.fixed
    assert answer(after, given, monkeypatch, redirect=lambda address: address) == sent


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # the parser leaves the file open
def test_a_document_is_read_and_no_file_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "secret").write_text("hidden")
    before = (
        f"import io\nimport xml.dom.minidom\nimport xml.sax.handler\n{HANDLER}    p = xml.sax.make_parser()\n"
        "    p.setFeature(xml.sax.handler.feature_external_ges, True)\n"
        "    return xml.dom.minidom.parseString(bar, p).documentElement.toxml()\n"
    )
    after, repair = repaired("python", before)
    assert repair.fixed
    attack = f'<!DOCTYPE a [<!ENTITY x SYSTEM "{tmp_path / "secret"}">]><a>&x;</a>'
    assert answer(after, "<a>b</a>", monkeypatch) == answer(before, "<a>b</a>", monkeypatch) == "<a>b</a>"
    assert "hidden" in str(answer(before, attack, monkeypatch))
    assert "hidden" not in str(answer(after, attack, monkeypatch))


@pytest.mark.parametrize(
    "made", ["random.random()", "random.randint(1, 9)", "random.getrandbits(8)", "random.choice('ab')"]
)
def test_a_token_is_of_the_same_kind(made: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = f"import random\n{HANDLER}    session['token'] = {made}\n    return 1\n"
    after, repair = repaired("python", before)
    assert repair.fixed
    kept: list[dict[str, object]] = [{}, {}]
    for text, session in zip((before, after), kept, strict=True):
        answer(text, "", monkeypatch, session=session)
    assert type(kept[0]["token"]) is type(kept[1]["token"])
