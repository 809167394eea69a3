"""Context files: which of their functions are analysed, and what of them is read."""

import pytest

from moot.core.types import Code, SourceFile
from moot.scan.engine.frontends import lower
from moot.scan.engine.ir import Define
from moot.scan.syntax import parse
from moot.scan.team import scan_code

OWN = "def clean(text):\n    return text\n\n\nclass Runner:\n    def pick(self, text):\n        return text\n"
HEAD = "import os\nfrom flask import request\n"
APART = "def alone():\n    os.system(request.args['x'])\n"
THROUGH = {
    "name": "from own import clean\n\n\ndef f():\n    os.system(clean(request.args['x']))\n",
    "module": "import own\n\n\ndef f():\n    os.system(own.clean(request.args['x']))\n",
    "inner import": "def f():\n    from own import clean\n    os.system(clean(request.args['x']))\n",
    "other function": (
        "from own import clean\n\n\ndef g(x):\n    return clean(x)\n\n\ndef f():\n    os.system(g(request.args['x']))\n"
    ),
    "class": "from own import Runner\n\n\ndef f():\n    os.system(Runner().pick(request.args['x']))\n",
    "table": "from own import clean\nALL = {'a': [clean]}\n\n\ndef f():\n    os.system(ALL['a'][0](request.args))\n",
    "self": (
        "from own import clean\n\n\nclass A:\n    def g(self, x):\n        return clean(x)\n\n    def f(self):\n"
        "        os.system(self.g(request.args['x']))\n"
    ),
    "property": (
        "from own import clean\n\n\nclass A:\n    @property\n    def word(self):\n"
        "        return clean(request.args['x'])\n\n    def f(self):\n        os.system(self.word)\n"
    ),
    "base class": (
        "from own import Runner\n\n\nclass A(Runner):\n    def f(self):\n"
        "        os.system(self.pick(request.args['x']))\n"
    ),
}


def list_lines(text: str, own: str = OWN) -> list[int]:
    """The lines of the context file with a finding."""
    files = (
        SourceFile(path="own.py", language="python", text=own),
        SourceFile(path="other.py", language="python", text=text),
    )
    return [f.line for f in scan_code(Code(files=files), whole=False, context={"other.py"})["other.py"].findings]


@pytest.mark.parametrize("way", THROUGH)
def test_a_function_of_the_context_that_reaches_a_reported_file_is_analysed(way: str) -> None:
    text = HEAD + THROUGH[way]
    line = next(number for number, read in enumerate(text.split("\n"), start=1) if "os.system" in read)
    assert list_lines(text) == [line]


def test_a_function_of_the_context_that_reaches_no_reported_file_is_left_out() -> None:
    assert list_lines(f"from own import clean\n{HEAD}\n\n{APART}") == []


def test_a_value_of_a_reported_file_counts_as_reaching_it() -> None:
    text = "import os\nimport own\n\n\ndef f():\n    os.system(own.LINE)\n"
    assert list_lines(text, "import sys\n\nLINE = sys.argv[1]\n") == [6]


def test_a_suppression_in_a_context_file_still_counts() -> None:
    text = HEAD + THROUGH["module"]
    assert list_lines(text.replace("['x']))", "['x']))  # moot: ignore[*] it is only a test")) == []


def test_functions_of_a_brief_source_are_lowered_when_they_run() -> None:
    text = "def f(x):\n    return x\n"
    whole, brief = (lower(parse("a.py", "python", text, brief=brief)).body[0] for brief in (False, True))
    assert isinstance(whole, Define) and isinstance(brief, Define)
    assert tuple(brief.function.body) == whole.function.body
