"""Rewrites of Python where values from outside arrive, compared to the letter."""

import pytest
from samples import repaired, rules

ROUTE = "from flask import request\n\n@app.route('/x')\ndef x():\n    bar = request.args.get('x')\n"

COOKIES = [
    (
        "def f(response):\n    response.set_cookie('a', 'b')\n",
        "def f(response):\n    response.set_cookie('a', 'b', secure=True, httponly=True)\n",
    ),
    (
        "def f(response):\n    response.set_cookie('a', 'b',\n        secure=False,\n        httponly=False,\n    )\n",
        "def f(response):\n    response.set_cookie('a', 'b',\n        secure=True,\n        httponly=True,\n    )\n",
    ),
    (
        "def f(response):\n    response.set_cookie('a',\n        'b',\n        httponly=True)\n",
        "def f(response):\n    response.set_cookie('a',\n        'b',\n        httponly=True,\n        secure=True)\n",
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
MENDED = [*COOKIES, *TOKENS]

LEFT = [
    ("def f(response, **options):\n    response.set_cookie('a', 'b', secure=False, **options)\n", "given elsewhere"),
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
