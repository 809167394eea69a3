"""Pages that are put together of lists and parts look the same after the repair, and hold no markup of their values."""

from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import pytest
from samples import repaired

SHAPES = {
    "a list with a first part": (
        "def page(name, link):\n    parts = ['<div class=\"card\">']\n"
        "    parts.append('<a href=\"' + link + '\" title=\"' + name + '\">')\n    parts.append(f'<b>{name}</b></a>')\n"
        "    parts.append('</div>')\n    return '\\n'.join(parts)\n"
    ),
    "a list in a list": (
        "def page(name, link):\n    items = ''.join(f'<li>{each}</li>' for each in [name, link])\n"
        "    lines = ['<ul>', items]\n    lines.extend(['</ul>', '<p>' + name + '</p>'])\n    return ''.join(lines)\n"
    ),
    "a part that may be missing": (
        "def page(name, link=None):\n    tip = f' title=\"{link}\"' if link else ''\n"
        "    return f'<b class=\"x\"{tip}>{name}</b>'\n"
    ),
    "a variable called html": (
        "def page(name, link):\n    html = '<table>'\n    for each in [name, link]:\n"
        "        html += '<tr><td>' + each + '</td></tr>'\n    html += '</table>'\n    return html\n"
    ),
    "a template with a name": (
        "PAGE = \"<html><title>{name}</title><p>{name}</p><img src='{link}'></html>\"\n\n\n"
        "def page(name, link):\n    return PAGE.format(name=name, link=link)\n"
    ),
    "a mark": (
        "def page(name, link):\n    mark = ' selected' if name == 'none' else ''\n"
        "    return f'<select><option value=\"{name}\"{mark}>{link}</option></select>'\n"
    ),
}
HOSTILE = (
    "<script>alert(1)</script>",
    'x" onclick="alert(1)',
    "x' onclick='alert(1)",
    '"><svg onload=alert(1)>',
    "java\tscript:alert(1)",
    " JavaScript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
)


class PageReader(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.attributes: dict[str, str] = {}
        self.shown = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update((name, value or "") for name, value in attrs)

    def handle_data(self, data: str) -> None:
        self.shown += data


def read(text: str) -> Callable[[str, str], str]:
    space: dict[str, object] = {}
    exec(text, space)
    found = space["page"]
    assert callable(found)
    return found


@pytest.mark.parametrize("shape", SHAPES)
def test_a_page_shows_the_same_and_runs_nothing(shape: str) -> None:
    text, repair = repaired("python", SHAPES[shape])
    assert repair.fixed and not repair.left, repair
    before, after = read(SHAPES[shape]), read(text)
    assert after("Ann", "/a/b?c=d") == before("Ann", "/a/b?c=d")
    plain, odd = PageReader(after("Ann", "/a")), PageReader(after('5 > 4 & "6"', "/a?b=c&d=e"))
    assert '5 > 4 & "6"' in odd.shown + str(odd.attributes) and "/a?b=c&d=e" in odd.shown + str(odd.attributes)
    for value in HOSTILE:
        found = PageReader(after(value, value))
        assert found.tags == plain.tags and set(found.attributes) == set(plain.attributes), value
        assert not found.attributes.get("href", "").strip().lower().startswith(("javascript", "java\t", "data:"))


@pytest.mark.parametrize(
    "text",
    [
        "def page(code):\n    parts = ['<html><script>']\n    parts.append(f'var a = {code};')\n"
        "    parts.append('</script></html>')\n    return ''.join(parts)\n",
        "def page(source):\n    parts = ['<html>']\n    parts.append('<script src=\"' + source + '\"></script>')\n"
        "    return ''.join(parts)\n",
        "def page(name):\n    return '<p>' + '</p><p onclick=' + name + '>'\n",
        "def page(style):\n    return f'<p style=\"{style}\">x</p>'\n",
    ],
)
def test_places_where_escaping_is_not_enough_are_left(text: str) -> None:
    after, repair = repaired("python", text)
    assert after == text and not repair.fixed


def test_what_is_escaped_already_is_not_escaped_again() -> None:
    text = (
        "import html\ndef page(name, link):\n    name = html.escape(name)\n    parts = ['<ul>']\n"
        "    parts.append(f'<li>{name}</li>')\n    parts.append(f'<li>{link}</li>')\n    return ''.join(parts)\n"
    )
    after = read(repaired("python", text)[0])
    assert after("<a>", "<b>") == "<ul><li>&lt;a&gt;</li><li>&lt;b&gt;</li>"


def test_a_part_that_is_markup_is_not_escaped_as_a_whole() -> None:
    text = (
        "def page(name, link):\n    first = f'<b>{name}</b>'\n    second = f'<i>{link}</i>'\n"
        "    return f'<p>{first}{second}</p>'\n"
    )
    after = read(repaired("python", text)[0])
    assert after("a", "<b>") in ("<p><b>a</b><i>&lt;b&gt;</i></p>", "<p><b>a</b><i><b></i></p>")
    assert after("<i>", "c") == "<p><b>&lt;i&gt;</b><i>c</i></p>"


def test_the_module_is_not_confused_with_a_variable_of_its_name() -> None:
    text = (
        "def first(name):\n    return f'<p>{name}</p>'\n\n\n"
        "def page(name, link):\n    html = []\n    html.append(f'<p>{name}</p>')\n    return ''.join(html)\n"
    )
    after, repair = repaired("python", text)
    assert len(repair.fixed) == 2
    space: dict[str, Any] = {}
    exec(after, space)
    assert space["page"]("<b>", "") == space["first"]("<b>") == "<p>&lt;b&gt;</p>"


@pytest.mark.parametrize("made", ["paint(name)", "name", "'  ' + paint(name)"])
def test_a_part_that_may_be_markup_is_left(made: str) -> None:
    text = (
        "from paints import paint\n\n\ndef page(name):\n    parts = ['<pre>']\n"
        f"    line = {made}\n    parts.append(line)\n    parts.append('</pre>')\n    return ''.join(parts)\n"
    )
    assert repaired("python", text)[0] == text


@pytest.mark.parametrize(
    "hole", ["paint(name)", "''.join(paint(each) for each in name)", "name.paint()", "made or name"]
)
def test_what_another_function_makes_is_not_escaped(hole: str) -> None:
    text = (
        "from paints import paint\n\n\ndef page(name, link):\n    made = paint(name)\n"
        f"    return f'<div><b>{{link}}</b>{{{hole}}}<i>{{link}}</i></div>'\n"
    )
    after, _ = repaired("python", text)
    assert f"{{{hole}}}" in after
