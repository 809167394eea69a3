"""On what of the files beside its own the result of a group depends."""

from pathlib import Path
from textwrap import indent

import pytest

from moot.core.types import SourceFile
from moot.edge.parallel_scan.cache import Cache
from moot.scan.engine.machine import MAX_STEPS, STAGE
from moot.scan.groups import Group
from moot.scan.traces import read_module, scan_group

VIEW = "import os\nimport lib\nfrom flask import request\n\n\ndef view():\n    os.system(lib.take(request.args['q']))\n"
UNUSED = "def unused(value):\n    return 1\n\n\n"
TAKE = "def take(value):\n    kept = value\n    return kept\n"
QUOTE = "import shlex\n\n\ndef take(value):\n    kept = value\n    return shlex.quote(kept)\n"
ASKS = "import ssl\n\n\ndef take(value):\n    ssl.SSLContext(ssl.PROTOCOL_SSLv23)\n    return 'x'\n"
RUNS = "import os\n\n\ndef take(value):\n    os.system(value)\n    return 'x'\n"
LOOPS = "".join(f"{'    ' * n}for n{n} in {[*range(12)]}:\n" for n in range(4)) + "                1 + 1\n"
LONG = "#" * 300_000


def pair(lib: str) -> Group:
    files = {"view.py": VIEW, "lib.py": lib}
    read = (SourceFile(path=path, language="python", text=text) for path, text in files.items())
    return Group(tuple(read), frozenset({"view.py"}), frozenset({"lib.py"}))


@pytest.mark.parametrize(
    ("before", "old", "new"),
    [
        (UNUSED + TAKE, "return 1", "return 2"),
        (UNUSED + TAKE, "return 1", "return [value for value in (1, 2)]  # of any length"),
        (TAKE + "\n\n" + UNUSED, "return 1", "x = 1\n    return x"),
        (UNUSED + QUOTE, "return 1", "x = 1\n    return x"),  # lines move, but no finding names them
        ("class Box:\n    def get(self):\n        return 1\n\n\n" + TAKE, "return 1", "return 2"),
        ("if 1:\n    def unused(value):\n        return 1\n\n\n" + TAKE, "return 1", "return 2"),
    ],
)
def test_what_was_not_run_may_change(tmp_path: Path, before: str, old: str, new: str) -> None:
    cache, after = Cache(tmp_path), before.replace(old, new)
    cache.save(pair(before), scan_group(pair(before)))
    known = cache.load(pair(after))
    assert before != after and known == scan_group(pair(after)).scan


@pytest.mark.parametrize(
    ("before", "old", "new"),
    [
        (UNUSED + TAKE, "kept = value", "kept = 'x'"),
        (UNUSED + TAKE, "return 1", "x = 1\n    return x"),  # the path of the finding names a line behind it
        (UNUSED + TAKE, "def unused", "def used"),
        (UNUSED + TAKE, "def unused(value)", "def unused(value=1)"),
        (UNUSED + TAKE, "def unused", "async def unused"),
        (UNUSED + TAKE, "def unused", "@staticmethod\ndef unused"),
        (UNUSED + TAKE, "return 1", "return 1\n\n\ndef another():\n    pass"),
        (UNUSED + TAKE, "return 1", "return 1\n\n\nos = None"),
        (UNUSED + TAKE, "return 1", "return (1"),
        (UNUSED + TAKE, "\n    return 1", "return 1"),
        (UNUSED + "x = unused(1)\n" + TAKE, "return 1", "return 2"),
        (UNUSED + ASKS, "return 1", "return 'OP_NO_SSLv3'"),
        (UNUSED + RUNS, "return 1", "return 2  # moot: ignore[*] comments may silence it"),
        (UNUSED + TAKE + "x = (\n", "return 1", "return 2"),
        ("def unused(value): return 1\n\n\n" + TAKE, "return 1", "return 2"),
    ],
)
def test_what_may_have_had_an_effect_may_not(tmp_path: Path, before: str, old: str, new: str) -> None:
    cache, after = Cache(tmp_path), before.replace(old, new)
    cache.save(pair(before), scan_group(pair(before)))
    assert cache.load(pair(before)) is not None
    assert before != after and cache.load(pair(after)) is None


@pytest.mark.parametrize(
    ("lib", "gaps"),
    [
        (UNUSED + TAKE + LOOPS + LONG, False),  # the longer the file, the more steps it may take
        (UNUSED.replace("1", "(1") + TAKE, True),
    ],
)
def test_a_file_that_is_not_sure_to_be_read_to_its_end_counts_as_a_whole(lib: str, gaps: bool) -> None:
    files = pair(lib).files
    assert scan_group(pair(lib)).traces == {}
    assert (read_module(files[1]) is None) == gaps
    assert bool(scan_group(Group(files, frozenset({"lib.py"}))).scan.not_analysed) == gaps


START = "import view\nTOOLS = [1]\n\n\ndef start():\n    return view.view()\n\n\n"
QUIET = QUOTE + START
START += TAKE + "\n\n"


def beside(lib: str) -> Group:
    """As `pair`, but the file reaches the group's own: its functions are run if they lead there."""
    return Group(pair(lib).files, frozenset({"view.py"}))


@pytest.mark.parametrize(
    ("before", "old", "new"),
    [
        (START + UNUSED, "return 1", "x = TOOLS\n    return x"),
        (START + UNUSED, "return 1", "return 1\n\n\ndef another(value):\n    return value"),
        (START + UNUSED, "return 1", "return 1\n\n\ndef another():\n    return more()\n\n\ndef more(): return TOOLS"),
        (QUIET + UNUSED, "def unused", "def another():\n    pass\n\n\ndef unused"),
        ("class Box:\n    def get(self):\n        return 1\n\n\n" + START, "return 1", "return 2"),
    ],
)
def test_a_function_that_leads_to_no_other_file_may_change_or_be_new(
    tmp_path: Path, before: str, old: str, new: str
) -> None:
    cache, after = Cache(tmp_path), before.replace(old, new)
    cache.save(beside(before), scan_group(beside(before)))
    known = cache.load(beside(after))
    assert before != after and known == scan_group(beside(after)).scan


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return 1", "return view"),
        ("return 1", "return start()"),
        ("return 1", "import view as x\n    return x"),
        ("return view.view()", "return 1"),
        ("TOOLS = [1]", "TOOLS = [2]"),
        ("return 1", "return 1\n\n\ndef another():\n    return view.view()"),
        ("return 1", "return 1\n\n\ndef take(value):\n    return 'x'"),
        ("return 1", "return 1\n\n\ndef request(value):\n    return 'x'"),
        ("return 1", "return 1\n\n\ndef TOOLS(value):\n    return 'x'"),
        ("pass", "pass\n\n    def __init__(self):\n        self.x = 1"),
        ("return 1", "return 1\n\n\n@print\ndef another(value):\n    return 'x'"),
        ("return 1", "return 1\n\n\nif TOOLS:\n    def another(value):\n        return 'x'"),
        ("def unused(value):", "def another():\n    pass\n\n\ndef unused(value=another):"),
    ],
)
def test_a_function_that_leads_to_another_file_or_is_named_there_may_not(tmp_path: Path, old: str, new: str) -> None:
    cache, before = Cache(tmp_path), QUIET + "class Box:\n    def get(self):\n        pass\n\n\n" + UNUSED
    after = before.replace(old, new)
    cache.save(beside(before), scan_group(beside(before)))
    assert cache.load(beside(before)) is not None
    assert before != after and cache.load(beside(after)) is None


def test_a_file_that_used_up_its_steps_may_change_until_it_has_more_of_them(tmp_path: Path) -> None:
    """With the same budget, the same runs end where they did: a definition costs no step."""
    heavy = f"def heavy(value):\n{indent(LOOPS, '    ')}\n\n"
    runs = "".join(f"def run{n}(value):\n    view.view()\n    heavy(value)\n\n\n" for n in range(20))
    cache, before = Cache(tmp_path), START + heavy + runs
    found = scan_group(beside(before))
    assert found.traces[1].needed > MAX_STEPS
    cache.save(beside(before), found)
    added, longer = beside(before + UNUSED), beside(before + UNUSED.replace("return 1", f"return '{'x' * STAGE}'"))
    assert cache.load(added) == scan_group(added).scan
    assert cache.load(longer) is None


@pytest.mark.parametrize("tail", ["", "if TOOLS:\n    x = 1\n"])
def test_an_added_function_takes_no_step(tail: str) -> None:
    added = "".join(UNUSED.replace("unused", f"unused{n}") for n in range(20))
    few, many = (scan_group(beside(START + lib + tail)).traces[1] for lib in ("", added))
    assert few.needed == many.needed < MAX_STEPS


def test_a_body_that_decided_what_is_run_may_not_change(tmp_path: Path) -> None:
    """Whether `mid.view` is run at all depends on whether `lib.pick` leads to the group's own file."""
    own = "import lib\n\n\ndef clean(text):\n    return text\n\n\nlib.TABLE.append(clean)\n"
    mid = "import os\nimport lib\nimport own\nfrom flask import request\n\n\n"
    mid += "def view():\n    os.system(lib.pick(request.args['q']))\n"

    def group(body: str) -> Group:
        lib = f"TABLE = []\n\n\ndef pick(text):\n    {body}\n"
        texts = {"own.py": own, "mid.py": mid, "lib.py": lib}
        read = (SourceFile(path=path, language="python", text=text) for path, text in texts.items())
        return Group(tuple(read), frozenset({"own.py"}), frozenset({"lib.py"}))

    before, after = group("return text"), group("return TABLE[0](text)")
    cache = Cache(tmp_path)
    cache.save(before, scan_group(before))
    assert cache.load(after) is None


def test_a_few_states_of_the_passive_files_are_remembered(tmp_path: Path) -> None:
    states = [pair(UNUSED + TAKE + f"\n\nx = {n}\n") for n in range(6)]
    cache = Cache(tmp_path)
    for state in states:
        cache.save(state, scan_group(state))
    assert [cache.load(state) is not None for state in states] == [False, False, True, True, True, True]


def test_a_result_that_was_used_with_another_text_is_found_by_that_text(tmp_path: Path) -> None:
    before, after = pair(UNUSED + TAKE), pair(UNUSED.replace("1", "2") + TAKE)
    Cache(tmp_path).save(before, scan_group(before))
    assert Cache(tmp_path).load(after) is not None
    (entry,) = tmp_path.rglob("*.json")
    written = entry.read_bytes()
    assert Cache(tmp_path).load(after) is not None and entry.read_bytes() == written
