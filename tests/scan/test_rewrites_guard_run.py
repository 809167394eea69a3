"""Python whose values were made harmless where they are used is run: honest values do what they did."""

import re
import sqlite3
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from samples import repaired, rules

HANDLER = "from flask import request\n\n@app.route('/x')\ndef x():\n    bar = request.args.get('x')\n"


class App:
    def route(self, path: str) -> Any:
        return lambda handler: handler


def answer(text: str, given: Any, monkeypatch: pytest.MonkeyPatch, **names: Any) -> Any:
    """What the handler `x` answers when it is asked with this value."""
    flask = ModuleType("flask")
    flask.__dict__.update({"request": SimpleNamespace(args={"x": given}, json={"name": given}), **names})
    monkeypatch.setitem(sys.modules, "flask", flask)
    space: dict[str, Any] = {"app": App(), "__name__": "served", **names}
    exec(text, space)
    return space["x"]()


def mended(before: str, rule: str) -> str:
    assert rule in rules("python", before)
    after, repair = repaired("python", before)
    assert repair.fixed and rule not in rules("python", after), (repair, after)
    return after


def left(before: str, rule: str, why: str) -> None:
    assert rule in rules("python", before)
    after, repair = repaired("python", before)
    assert after == before and why in " ".join(repair.left.values()), repair


@pytest.mark.parametrize(
    "call",
    ["'user ' + bar", "f'user {bar}'", "'user %s' % bar", "'user %s', bar", "'%s %s', 'user', bar"],
)
def test_a_log_entry_is_the_same_and_never_two(
    call: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    before = f"import logging\n{HANDLER}    logging.warning({call})\n    return 1\n"
    after = mended(before, "python-log")
    for text, given in ((before, "ann lee"), (after, "ann lee"), (before, "a\r\nb"), (after, "a\r\nb")):
        answer(text, given, monkeypatch)
    said = [record.getMessage() for record in caplog.records]
    assert said[0] == said[1] == "user ann lee"
    assert "\n" in said[2] and said[3] == "user a  b"


def test_a_number_in_a_log_entry_is_left() -> None:
    left(f"import logging\n{HANDLER}    logging.info('%s %d', bar, bar)\n    return 1\n", "python-log", "formatted")


class Headers(dict[str, str]):
    """Of werkzeug's headers as much as is needed here."""

    def add(self, name: str, value: str) -> None:
        self[name] = value


@pytest.mark.parametrize(
    "body",
    [
        "h = Headers()\n    h.add('X-Name', 'n=' + bar)\n    return h",
        "r = make_response('')\n    r.headers['X-Name'] = f'n={bar}'\n    return r.headers",
    ],
)
def test_a_header_is_one_line(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    head = "from flask import make_response\nfrom werkzeug.datastructures import Headers\n"
    before = f"{head}{HANDLER}    {body}\n"
    after = mended(before, "python-header")
    for name in ("werkzeug", "werkzeug.datastructures"):
        monkeypatch.setitem(sys.modules, name, SimpleNamespace(Headers=Headers))

    def make_response(text: str) -> SimpleNamespace:
        return SimpleNamespace(headers=Headers())

    for text, given in ((before, "ann"), (after, "ann"), (after, "a\r\nSet-Cookie: b")):
        sent = answer(text, given, monkeypatch, make_response=make_response)
        assert sent == {"X-Name": "n=" + re.sub("[\r\n]", " ", given)}
    taken = "def one_line(x):\n    return x\n"
    left(taken + before, "python-header", "'one_line' means something else here")


def test_markup_shows_the_same_and_runs_no_script(monkeypatch: pytest.MonkeyPatch) -> None:
    before = f"from markupsafe import Markup\n{HANDLER}    m = Markup('<b>' + bar + '</b>')\n    return m + ''\n"
    after = mended(before, "python-markup")
    assert answer(after, "ann", monkeypatch) == answer(before, "ann", monkeypatch) == "<b>ann</b>"
    assert "<i>" in answer(before, "<i>", monkeypatch) and "<i>" not in answer(after, "<i>", monkeypatch)
    left(before.replace("'<b>' + bar + '</b>'", "'<b ' + bar + '>'"), "python-markup", "where escaping is not enough")


@pytest.mark.parametrize(
    "template",
    ["'Hello ' + bar", "f'Hello {bar}'", "'Hello {}'.format(bar)", "'Hello %s' % bar", "'Hello ' + bar, title='t'"],
)
def test_a_template_is_the_same_text_whatever_is_asked(template: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = f"from flask import render_template_string\n{HANDLER}    return render_template_string({template})\n"
    after = mended(before, "python-template-string")
    more = {"title": "t"} if "title" in template else {}

    def render(text: str, **given: str) -> tuple[str, dict[str, str]]:
        return text, given

    for given in ("ann", "{{ config }}"):
        assert answer(after, given, monkeypatch, render_template_string=render) == (
            "Hello {{ bar }}",
            {"bar": given, **more},
        )


@pytest.mark.parametrize(
    ("template", "why"),
    [
        ("bar", "comes from outside"),
        ("'{{ ' + bar + ' }}'", "inside the template's own code"),
        ("'<p>' + page_html(bar) + '</p>'", "meant to be there"),
        ("'a' + bar, **more", "given elsewhere"),
    ],
)
def test_a_template_that_must_stay_code_is_left(template: str, why: str) -> None:
    text = f"from flask import render_template_string\n{HANDLER}    return render_template_string({template})\n"
    left(text, "python-template-string", why)


def test_a_name_the_template_uses_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    call = "render_template_string('{{ bar }} ' + bar)"
    text = f"from flask import render_template_string\n{HANDLER}    return {call}\n"
    after = mended(text, "python-template-string")
    said = answer(after, "a", monkeypatch, render_template_string=lambda text, **given: (text, given))
    assert said == ("{{ bar }} {{ bar_2 }}", {"bar_2": "a"})


def test_a_word_is_found_and_is_no_pattern(monkeypatch: pytest.MonkeyPatch) -> None:
    before = f"import re\n{HANDLER}    return bool(re.search('^' + bar, 'ann lee'))\n"
    after = mended(before, "python-regex-injection")
    assert answer(after, "ann", monkeypatch) is answer(before, "ann", monkeypatch) is True
    assert answer(before, "(a|b)+nn", monkeypatch) and not answer(after, "(a|b)+nn", monkeypatch)
    left(before.replace("bar", "pattern"), "python-regex-injection", "a pattern is wanted")


def test_a_query_compares_with_text(monkeypatch: pytest.MonkeyPatch) -> None:
    before = f"import pymongo\n{HANDLER}    return db.users.find_one({{'name': request.json['name']}})\n"
    after = mended(before, "python-nosql")
    monkeypatch.setitem(sys.modules, "pymongo", ModuleType("pymongo"))
    db = SimpleNamespace(users=SimpleNamespace(find_one=lambda query: query))
    assert answer(after, "ann", monkeypatch, db=db) == answer(before, "ann", monkeypatch, db=db) == {"name": "ann"}
    assert isinstance(answer(before, {"$ne": 1}, monkeypatch, db=db)["name"], dict)
    assert isinstance(answer(after, {"$ne": 1}, monkeypatch, db=db)["name"], str)
    numbers = mended(before.replace("{'name'", "{'age'"), "python-nosql")
    for given in (7, {"$ne": 1}):
        assert answer(numbers, given, monkeypatch, db=db) == {"age": {"$eq": given}}
    left(before.replace("{'name'", "{'$or'"), "python-nosql", "which field is compared")


def test_an_error_is_for_the_operator(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    body = "    try:\n        return 1 / 0\n    except ZeroDivisionError:\n        return traceback.format_exc(), 500\n"
    before = f"import traceback\n{HANDLER}{body}"
    after = mended(before, "python-error-shown")
    assert "ZeroDivisionError" in answer(before, "", monkeypatch)[0]
    assert answer(after, "", monkeypatch) == ("Internal server error", 500)
    assert "ZeroDivisionError" in capsys.readouterr().err
    kept = before.replace("return traceback.format_exc(), 500", "e = traceback.format_exc()\n        return e")
    left(kept, "python-error-shown", "kept in a variable")


SAME = [("a", "a"), ("a", "b"), ("ä", "ä"), (None, None), (None, "None"), (b"a", b"a"), (b"a", "a"), (1, 1), ("", "")]


@pytest.mark.parametrize("operator", ["==", "!="])
def test_a_comparison_in_constant_time_says_the_same(operator: str) -> None:
    before = f"import hmac\ndef check(signature, other):\n    return signature {operator} other\n"
    after = mended(before, "python-timing")
    assert after.count("import hmac") == 1
    spaces: list[dict[str, Any]] = [{}, {}]
    for text, space in zip((before, after), spaces, strict=True):
        exec(text, space)
    for pair in SAME:
        assert spaces[0]["check"](*pair) is spaces[1]["check"](*pair)


def test_secrets_are_not_compared_by_the_operator(monkeypatch: pytest.MonkeyPatch) -> None:
    after = mended("import hmac\ndef check(signature, x):\n    return signature == x\n", "python-timing")
    space: dict[str, Any] = {}
    exec(after, space)
    said: list[Any] = []
    monkeypatch.setattr(space["hmac"], "compare_digest", lambda *given: said.append(given))
    assert space["check"]("a", "b") is None and said == [(b"a", b"b")]


RACE = """import threading
total = 0
def work():
    global total
    total += 1
for _ in range(4):
    threading.Thread(target=work).start()
"""


def test_a_shared_number_changes_only_under_its_lock() -> None:
    after = mended(RACE, "python-thread-race")
    space: dict[str, Any] = {}
    exec(after.partition("for _")[0], space)
    seen: list[int] = []

    class Lock:
        def __enter__(self) -> None:
            seen.append(space["total"])

        def __exit__(self, *given: object) -> None:
            seen.append(space["total"])

    space["total_lock"] = Lock()
    space["work"]()
    assert seen == [0, 1]


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("total += 1", "total += cost()", "calls other code"),
        ("for _", "def other():\n    global total\n    total -= 1\nfor _", "other functions"),
        ("total = 0", "total = 0\ntotal_lock = None", "means something else"),
    ],
)
def test_a_lock_that_may_not_help_is_not_put_in(old: str, new: str, why: str) -> None:
    left(RACE.replace(old, new, 1), "python-thread-race", why)


class Text(str):
    """SQLAlchemy's text(), as far as it is needed here."""

    __slots__ = ("values",)

    def bindparams(self, **given: str) -> "Text":
        self.values = given
        return self


@pytest.mark.parametrize(
    "body",
    [
        "return db.execute(text(f\"SELECT name FROM t WHERE name = '{bar}'\"))",
        'query = text("SELECT name FROM t WHERE name = \'" + bar + "\'")\n    return db.execute(query)',
    ],
)
def test_a_text_of_sqlalchemy_is_bound_by_name(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sqlalchemy", SimpleNamespace(text=Text))
    before = f"from sqlalchemy import text\n{HANDLER}    {body}\n"
    _rows(before, mended(before, "python-sql-string"), monkeypatch, lambda base, sql: base.execute(sql, sql.values))


def test_a_frame_gets_its_values_as_parameters(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = SimpleNamespace(read_sql=lambda sql, db, params=(): db.execute(sql, params=params))
    monkeypatch.setitem(sys.modules, "pandas", frame)
    before = f"import sqlite3\nimport pandas as pd\n{HANDLER}"
    before += "    return pd.read_sql(f\"SELECT name FROM t WHERE name = '{bar}'\", db)\n"
    after = mended(before, "python-sql-string")
    _rows(before, after, monkeypatch, lambda base, sql, params: base.execute(sql, params))
    left(before.replace("import sqlite3\n", ""), "python-sql-string", "placeholder")


def _rows(before: str, after: str, monkeypatch: pytest.MonkeyPatch, run: Any) -> None:
    base = sqlite3.connect(":memory:")
    try:
        base.execute("CREATE TABLE t (name TEXT)")
        base.execute("INSERT INTO t VALUES ('ann'), ('bob')")
        db = SimpleNamespace(execute=lambda *given, **named: run(base, *given, **named).fetchall())
        plain = SimpleNamespace(execute=lambda sql, *more, **named: base.execute(sql).fetchall())
        attack = "x' OR '1' LIKE '1"
        assert answer(after, "ann", monkeypatch, db=db) == answer(before, "ann", monkeypatch, db=plain) == [("ann",)]
        assert len(answer(before, attack, monkeypatch, db=plain)) == 2
        assert answer(after, attack, monkeypatch, db=db) == []
    finally:
        base.close()


def test_a_raw_query_of_django_gets_a_list(monkeypatch: pytest.MonkeyPatch) -> None:
    query = "\"SELECT * FROM t WHERE a LIKE '5%%' AND n = '%s'\" % bar"
    before = f"import django\n{HANDLER}    return User.objects.raw({query})\n"
    after = mended(before, "python-sql-string")
    monkeypatch.setitem(sys.modules, "django", ModuleType("django"))
    user = SimpleNamespace(objects=SimpleNamespace(raw=lambda *given: given))
    assert answer(after, "a'b", monkeypatch, User=user) == ("SELECT * FROM t WHERE a LIKE '5%%' AND n = %s", ["a'b"])
