"""Checks of an address by a part of its text: found, and mended so that the lookalike no longer passes."""

from collections.abc import Callable
from urllib.parse import urlsplit

import pytest
from samples import repaired, rules

from moot.core.types import Language

WEAK: list[tuple[Language, str]] = [
    ("python", "def ok(url):\n    return 'example.com' in url\n"),
    ("python", "def ok(url):\n    return url.find('example.com') >= 0\n"),
    ("python", "def ok(r):\n    return r.headers.get('Origin', '').endswith('example.com')\n"),
    ("python", "def ok(host):\n    return host.endswith(TRUSTED_DOMAIN)\n"),
    ("python", "import re\ndef ok(url):\n    return re.match(r'^https://www\\.example\\.com', url)\n"),
    ("python", "m = CORS(app, allow_origin_regex=r'https://.*.example\\.com')\n"),
    ("javascript", "const ok = (url) => /^https:\\/\\/www\\.example\\.com/.test(url);\n"),
    ("javascript", "const ok = (req) => req.get('Origin').endsWith('example.com');\n"),
]
SOUND: list[tuple[Language, str]] = [
    ("python", "def ok(host):\n    return host == 'example.com' or host.endswith('.example.com')\n"),
    ("python", "def ok(hosts):\n    return 'example.com' in hosts\n"),
    ("python", "def ok(url):\n    return url.startswith('https://example.com/')\n"),
    ("python", "import re\ndef ok(url):\n    return re.fullmatch(r'https://www\\.example\\.com', url)\n"),
    ("python", "import re\nNAME = re.compile(r'foo.test')\n"),
    ("python", "def skip(name, host):\n    return name.endswith(host)\n"),
    ("javascript", "const ok = (url) => /^https:\\/\\/www\\.example\\.com(?:\\/|$)/.test(url);\n"),
]


@pytest.mark.parametrize(("language", "text"), WEAK)
def test_a_part_of_an_address_is_no_check(language: Language, text: str) -> None:
    assert rules(language, text) == [f"{language}-host-check"]


@pytest.mark.parametrize(("language", "text"), SOUND)
def test_a_whole_host_is_one(language: Language, text: str) -> None:
    assert rules(language, text) == []


def run(text: str) -> Callable[[str], object]:
    space: dict[str, object] = {}
    exec(text, space)
    check = space["ok"]
    assert callable(check)
    return check


PARSE = "from urllib.parse import urlparse\n"
CHECKS = [
    (PARSE + "def ok(x):\n    return 'example.com' in urlparse(x).netloc\n",
     ("https://example.com/a", "https://www.example.com:444/"),
     ("https://example.com.evil.net/", "https://notexample.com/", "https://example.com@evil.net/")),
    (PARSE + "def ok(x):\n    if 'example.com' not in urlparse(x).hostname:\n        return False\n    return True\n",
     ("https://example.com/a",), ("https://example.com.evil.net/",)),
    ("def ok(url):\n    return url.startswith('https://example.com')\n",
     ("https://example.com", "https://example.com/a"), ("https://example.com.evil.net/", "https://example.com@evil.net")),
    ("def ok(url):\n    return url.startswith(('https://a.example.com', 'https://b.example.com'))\n",
     ("https://b.example.com/x",), ("https://b.example.com.evil.net/",)),
    ("def ok(host):\n    return host.endswith('example.com')\n", ("example.com", "a.example.com"), ("notexample.com",)),
    ("import re\ndef ok(url):\n    return bool(re.match(r'https://www.example.com/', url))\n",
     ("https://www.example.com/",), ("https://wwwxexample.com/", "https://www.examplexcom/")),
    ("import re\nHOST = re.compile('^.*.example.com$')\ndef ok(x):\n    return bool(HOST.match(x))\n",
     ("a.example.com",), ("evilexample.com", "a.examplexcom")),
]  # fmt: skip


@pytest.mark.parametrize(("before", "ours", "others"), CHECKS)
def test_the_mended_check_takes_ours_and_no_other(before: str, ours: tuple[str, ...], others: tuple[str, ...]) -> None:
    after, repair = repaired("python", before)
    assert repair.fixed and not repair.left
    assert [run(before)(x) for x in (*ours, *others)] == [True] * (len(ours) + len(others))
    assert [run(after)(x) for x in ours] == [True] * len(ours)
    assert [run(after)(x) for x in others] == [False] * len(others)


WRITTEN: list[tuple[Language, str, str]] = [
    ("javascript", "const f = (url) => url.startsWith('https://a.example.com');\n",
     "const f = (url) => (url + \"/\").startsWith('https://a.example.com/');\n"),
    ("javascript", "const f = (x) => new URL(x).hostname.includes('example.com');\n",
     "const f = (x) => (\".\" + new URL(x).hostname).endsWith('.example.com');\n"),
    ("javascript", "const f = new RegExp('^https://api.example.com/');\n",
     "const f = new RegExp('^https://api\\\\.example\\\\.com/');\n"),
    ("go", 'package a\n\nfunc f(host string) bool { return strings.HasSuffix(host, "example.com") }\n',
     'package a\n\nfunc f(host string) bool { return strings.HasSuffix("."+host, ".example.com") }\n'),
    ("go", 'package a\n\nfunc f(url string) bool { return strings.HasPrefix(url, "https://example.com") }\n',
     'package a\n\nfunc f(url string) bool { return strings.HasPrefix(url+"/", "https://example.com/") }\n'),
]  # fmt: skip


@pytest.mark.parametrize(("language", "before", "after"), WRITTEN)
def test_the_mended_check_of_other_languages(language: Language, before: str, after: str) -> None:
    assert repaired(language, before)[0] == after


LEFT: list[tuple[Language, str]] = [
    ("python", "def ok(url):\n    return 'example.com' in url\n"),
    ("python", "def ok(netloc):\n    return netloc.endswith('example.com')\n"),
    ("python", "import re\ndef ok(url):\n    return re.match(r'^https://www\\.example\\.com', url)\n"),
    ("javascript", "let a = 1\nhost.endsWith('example.com') || stop()\n"),
    ("javascript", "const f = (url) => url?.startsWith('https://a.example.com');\n"),
]


@pytest.mark.parametrize(("language", "text"), LEFT)
def test_what_cannot_be_told_is_left(language: Language, text: str) -> None:
    after, repair = repaired(language, text)
    assert after == text and repair.left


REDIRECT = """from urllib.parse import urlparse

def redirect_target(base_host, target):
    if base_host in target or target.startswith("/"):
        return target
    return "/"
"""
OWN = ("/cart", "/", "https://shop.example/a", "http://www.shop.example:8080/", "shop.example/a", "//shop.example/a")
OTHER = (
    "//evil.example", "/\\evil.example", "/\t/evil.example", "https://evil.example/?shop.example",
    "https://shop.example.evil.example/", "https://evil.example\\@shop.example/", "javascript://shop.example/%0aalert(1)",
    "javascript:alert(1)@shop.example", "https:evil.example?//shop.example", "https://shop.example@evil.example/",
    "https://myshop.example/",
)  # fmt: skip


def test_a_visitor_is_sent_to_the_own_host_and_to_no_lookalike() -> None:
    after, repair = repaired("python", REDIRECT)
    assert repair.fixed and not repair.left and rules("python", after) == []
    space: dict[str, object] = {}
    exec(after, space)
    target = space["redirect_target"]
    assert callable(target)
    assert [target("shop.example", address) for address in OWN] == list(OWN)
    assert {target("shop.example", address) for address in OTHER} == {"/"}


@pytest.mark.parametrize(
    "text",
    [
        "def join(url):\n    if url.startswith('/'):\n        return url\n    return '/' + url\n",
        "def redirect_target(url):\n    if url.startswith('/') and not url.startswith('//'):\n        return url\n",
    ],
)
def test_a_path_that_decides_nothing_or_is_asked_further_is_no_finding(text: str) -> None:
    assert rules("python", text) == []


def test_the_end_of_a_host_by_name_gets_its_dot() -> None:
    before = "def ok(parsed):\n    return parsed.netloc.endswith(ALLOWED_HOST)\n"
    space: dict[str, object] = {"ALLOWED_HOST": "images.example"}
    exec(repaired("python", before)[0], space)
    check = space["ok"]
    assert callable(check)
    assert check(urlsplit("https://images.example/")) and check(urlsplit("https://a.images.example/"))
    assert not check(urlsplit("https://evilimages.example/")) and not check(urlsplit("https://images.example:8/"))


LISTED = {
    "any": "    if not any(host in url for host in TRUSTED):\n        raise ValueError(url)\n    return url\n",
    "a loop": "    for host in TRUSTED:\n        if host in url:\n            return url\n    raise ValueError(url)\n",
    "endings": (
        "    domain = urlsplit(url).netloc\n    if not any(domain.endswith(host) for host in TRUSTED):\n"
        "        raise ValueError(url)\n    return url\n"
    ),
    "beginnings": "    if not url.startswith(tuple(STARTS)):\n        raise ValueError(url)\n    return url\n",
}
LISTED_HEAD = (
    "from urllib.parse import urlsplit\n\nTRUSTED = ('img.example.com', 'cdn.example.com')\n"
    "STARTS = ['https://img.example.com', 'https://cdn.example.com']\n\n\ndef pick(url):\n"
)


@pytest.mark.parametrize("shape", LISTED)
def test_a_list_of_hosts_is_compared_with_the_host(shape: str) -> None:
    text, repair = repaired("python", LISTED_HEAD + LISTED[shape])
    assert repair.fixed and not repair.left
    space: dict[str, object] = {}
    exec(text, space)
    pick = space["pick"]
    assert callable(pick)
    for url in ("https://img.example.com/a?b=https://other.test", "https://cdn.example.com"):
        assert pick(url) == url
    for url in (
        "https://evil-cdn.example.com/",
        "https://img.example.com.evil.test/",
        "https://img.example.com@e.test",
    ):
        with pytest.raises(ValueError):
            pick(url)
    if shape in ("any", "a loop"):
        with pytest.raises(ValueError):
            pick("http://127.0.0.1/?img.example.com")


def test_a_list_that_tells_kinds_of_addresses_apart_is_no_check() -> None:
    text = (
        "VIDEOS = ('video.example.com', 'films.example.com')\n\n\ndef icon(url):\n"
        "    return 'film' if any(host in url for host in VIDEOS) else 'page'\n"
    )
    assert rules("python", text) == []
