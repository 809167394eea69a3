"""What only looks like a flaw is not reported, and its dangerous twin is."""

import pytest

from moot.core.types import Code, SourceFile
from moot.scan import StaticTeam

TWINS = {
    "a token of a grammar, and a key": (
        "python-hardcoded-secret",
        "def is_group(token):\n    return token == '#bygroup'\n",
        "def is_admin(token):\n    return token == 'kJ83hf92KSs9fh2q'\n",
    ),
    "an object that is kept, and a value put into the session": (
        "python-trust-boundary",
        "from flask import request\n\n\nclass View:\n    def go(self):\n        self.session = request.args['s']\n",
        "from flask import request, session\n\n\ndef view():\n    session['user'] = request.args['user']\n",
    ),
    "a client's jar, and a server's response": (
        "python-cookie",
        "class Client:\n    def keep(self, cookie):\n        self.cookies.set_cookie(cookie)\n",
        "def answer(response):\n    response.set_cookie('sid', 'x')\n",
    ),
}


@pytest.mark.parametrize(("rule", "harmless", "flawed"), TWINS.values(), ids=list(TWINS))
def test_twins_are_told_apart(rule: str, harmless: str, flawed: str) -> None:
    def rules(text: str) -> list[str]:
        code = Code(files=(SourceFile(path="a.py", language="python", text=text),))
        return [finding.rule for finding in StaticTeam().scan(code).findings]

    assert rules(harmless) == []
    assert rules(flawed) == [rule]
