"""Rewrites of Python where values from outside arrive, compared to the letter."""

import pytest
from samples import repaired, rules

ROUTE = "from flask import request\n\n@app.route('/x')\ndef x():\n    bar = request.args.get('x')\n"

HANDLER = "import flask\ndef f(response):\n    response"
COOKIES = [
    (
        HANDLER + ".set_cookie('a', 'b')\n",
        HANDLER + ".set_cookie('a', 'b', secure=True, httponly=True)\n",
    ),
    (
        HANDLER + ".set_cookie('a', 'b',\n        secure=False,\n        httponly=False,\n    )\n",
        HANDLER + ".set_cookie('a', 'b',\n        secure=True,\n        httponly=True,\n    )\n",
    ),
    (
        HANDLER + ".set_cookie('a',\n        'b',\n        httponly=True)\n",
        HANDLER + ".set_cookie('a',\n        'b',\n        httponly=True,\n        secure=True)\n",
    ),
]
TOKENS = [
    (
        "import random\ndef f():\n    value = str(random.random())[2:]\n    session['token'] = value\n",
        "import random\nimport secrets\ndef f():\n    value = str(secrets.SystemRandom().random())[2:]\n"
        "    session['token'] = value\n",
    ),
    (
        "def f():\n    import random\n    value = random.getrandbits(32)\n    session['token'] = value\n",
        "import secrets\ndef f():\n    import random\n    value = secrets.randbits(32)\n    session['token'] = value\n",
    ),
]
PAGES = [
    (
        f"{ROUTE}    return f'<p>{{bar}}</p>'\n",
        ROUTE.replace("request\n", "request\nimport html\n", 1) + "    return f'<p>{html.escape(str(bar))}</p>'\n",
    ),
    (
        f"{ROUTE}    other = 'x'\n    page = ''\n    page += '<p>%s %s' % (bar, other)\n    return page\n",
        ROUTE.replace("request\n", "request\nimport html\n", 1)
        + "    other = 'x'\n    page = ''\n    page += '<p>%s %s' % (html.escape(str(bar)), other)\n    return page\n",
    ),
    (
        f"import html\n{ROUTE}    return '<i title=\"' + bar + '\">'\n",
        f"import html\n{ROUTE}    return '<i title=\"' + html.escape(bar) + '\">'\n",
    ),
]
INSIDE = "os.path.commonpath([os.path.abspath({0}), os.path.abspath({1})]) != os.path.abspath({0})"
SRV, JOINED = '"/srv/data"', "'/srv/data/' + bar"
OUT = 'raise PermissionError(13, "the path leads out of its folder")'
PATHS = [
    (
        f"import os\n{ROUTE}    name = f'{{DIR}}/{{bar}}'\n    with open(name) as file:\n"
        "        return len(file.read())\n",
        f"import os\n{ROUTE}    name = f'{{DIR}}/{{bar}}'\n    if {INSIDE.format('DIR', 'name')}:\n        {OUT}\n"
        "    with open(name) as file:\n        return len(file.read())\n",
    ),
    (
        f"import os\n{ROUTE}    size = len(open('/srv/data/' + bar).read())\n",
        f"import os\n{ROUTE}    if {INSIDE.format(SRV, JOINED)}:\n"
        f"        {OUT}\n    size = len(open('/srv/data/' + bar).read())\n",
    ),
    (
        f"import pathlib\n{ROUTE}    base = pathlib.Path('/srv')\n    p = base / bar\n"
        "    if p.exists():\n        return 'y'\n",
        f"import pathlib\n{ROUTE}    base = pathlib.Path('/srv')\n    p = base / bar\n"
        f"    if not p.resolve().is_relative_to(base.resolve()):\n        {OUT}\n"
        "    if p.exists():\n        return 'y'\n",
    ),
]
SEARCHES = [
    (
        f"import ldap3\n{ROUTE}    conn.search('ou=x', f'(uid={{bar}})')\n",
        f"import ldap3\n{ROUTE}    conn.search('ou=x', f'(uid={{escape_filter_chars(str(bar))}})')\n".replace(
            "request\n", "request\nfrom ldap3.utils.conv import escape_filter_chars\n", 1
        ),
    ),
]
LXML = f"import lxml.etree\n{ROUTE}"
XPATHS = [
    (
        f"{LXML}    return len(root.xpath(f\"//a[@id='{{bar}}']\"))\n",
        f'{LXML}    return len(root.xpath("//a[@id=$bar]", bar=str(bar)))\n',
    ),
    (
        f"{LXML}    q = '//a[@id=\"' + bar + '\"]'\n    return len(root.xpath(q))\n",
        f'{LXML}    q = "//a[@id=$bar]"\n    return len(root.xpath(q, bar=bar))\n',
    ),
    (
        f"{LXML}    q = ''.join(['//a[@id=\"', bar, '\"]'])\n    print(q)\n    return len(root.xpath(q))\n",
        f"{LXML}    q = ''.join(['//a[@id=\"', bar, '\"]'])\n    print(q)\n"
        '    return len(root.xpath("//a[@id=$bar]", bar=bar))\n',
    ),
    (
        f"{LXML}    find = lxml.etree.XPath(f\"//a[@id='{{bar}}']\")\n    return len(find(root))\n",
        f'{LXML}    find = lxml.etree.XPath("//a[@id=$bar]")\n    return len(find(root, bar=str(bar)))\n',
    ),
]
KEPT = '"/" + urlunsplit(("", "", target.path.lstrip("/\\\\"), target.query, target.fragment))'
REDIRECTS = [
    (
        f"import flask\n{ROUTE}    return flask.redirect(bar)\n",
        "import flask\n"
        + ROUTE.replace("request\n", "request\nfrom urllib.parse import urljoin, urlsplit, urlunsplit\n", 1)
        + f"    target = urlsplit(urljoin(flask.request.url, bar))\n    return flask.redirect({KEPT})\n",
    ),
]
ETREE = f"from lxml import etree\n{ROUTE}"
SAX = f"import xml.dom.minidom\nimport xml.sax.handler\n{ROUTE}    p = xml.sax.make_parser()\n"
FEATURE = "    p.setFeature(xml.sax.handler.feature_external_ges, {})\n    d = xml.dom.minidom.parseString(bar, p)\n"
DOCUMENTS = [
    (SAX + FEATURE.format("True"), SAX + FEATURE.format("False")),
    (
        f"{ETREE}    d = etree.fromstring(bar)\n",
        f"{ETREE}    d = etree.fromstring(bar, parser=etree.XMLParser(resolve_entities=False))\n",
    ),
    (
        f"{ETREE}    p = etree.XMLParser(no_network=False)\n    d = etree.fromstring(bar, p)\n",
        f"{ETREE}    p = etree.XMLParser(no_network=True, resolve_entities=False)\n    d = etree.fromstring(bar, p)\n",
    ),
    (
        f"{ETREE}    d = etree.fromstring(bar, etree.XMLParser(resolve_entities=True))\n",
        f"{ETREE}    d = etree.fromstring(bar, etree.XMLParser(resolve_entities=False))\n",
    ),
]
MENDED = [*COOKIES, *TOKENS, *PAGES, *PATHS, *SEARCHES, *XPATHS, *REDIRECTS, *DOCUMENTS]

LEFT = [
    (
        "import flask\ndef f(response, **options):\n    response.set_cookie('a', 'b', secure=False, **options)\n",
        "given elsewhere",
    ),
    ("import random\nrandom.seed(7)\ndef f():\n    session['token'] = random.random()\n", "seeded"),
    ("import numpy\ndef f():\n    session['token'] = numpy.random.rand(3)\n", "no plain replacement"),
    (f"{ETREE}    p = etree.XMLParser(**given)\n    d = etree.fromstring(bar, p)\n", "in another way"),
    (f"import flask\n{ROUTE}    target = 1\n    return flask.redirect(bar)\n", "means something else"),
    (f"import django.shortcuts\n{ROUTE}    return django.shortcuts.redirect(bar)\n", "no plain replacement"),
    (f"{LXML}    return len(root.xpath(f'//a[@id={{bar}}]'))\n", "without quotes"),
    (f"{LXML}    return len(root.xpath(f'//{{bar}}'))\n", "without quotes"),
    (f"{LXML}    q = f\"//a[@id='{{bar}}']\"\n    bar = 1\n    return len(root.xpath(q))\n", "changes between"),
    (f"{ROUTE}    return f'<script>var x = {{bar}};</script>'\n", "escaping is not enough"),
    (f"{ROUTE}    return f'<p>{{bar:>10}}</p>'\n", "no plain value"),
    (f"{ROUTE}    size = len(open(bar).read())\n", "no folder is known"),
    (f"{ROUTE}    if bar: size = len(open('/srv/' + bar).read())\n", "start its line"),
    (f"{ROUTE}    size = len(open('/srv/' + pick(bar)).read())\n", "by a call"),
]


@pytest.mark.parametrize(("before", "after"), MENDED)
def test_a_flow_is_cut(before: str, after: str) -> None:
    text, repair = repaired("python", before)
    assert (text, repair.left) == (after, {})
    assert rules("python", text) == []


@pytest.mark.parametrize(("before", "why"), LEFT)
def test_a_flow_that_cannot_be_cut_is_left_with_a_reason(before: str, why: str) -> None:
    text, repair = repaired("python", before)
    assert any(why in reason for reason in repair.left.values()), repair
    assert (text, repair.fixed) == (before, {})


@pytest.mark.parametrize(("before", "after"), MENDED)
def test_cutting_a_flow_twice_changes_nothing(before: str, after: str) -> None:
    assert repaired("python", after)[1].texts == {}
