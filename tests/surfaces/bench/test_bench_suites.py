"""Suites: what is read, what is skipped, and who judges."""

import asyncio
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from bench_kit import read_rows, run_bench, write_suite
from bench_references import REFERENCES

from moot.core.errors import UsageError
from moot.core.types import Tests
from moot.edge.sandbox import Bubblewrap, SandboxLimits
from moot.protocols.solve.attempts import task_examples
from moot.surfaces.bench.choosing import choose_code
from moot.surfaces.bench.data import data_folder, has_data
from moot.surfaces.bench.judges import AnswerJudge, AnswerVerdict, find_letter
from moot.surfaces.bench.starter import find_starter
from moot.surfaces.bench.suites import SuiteSource, load_tasks
from moot.surfaces.bench.suites.bare import strip_examples
from moot.surfaces.bench.tasks import BenchTask


def judge(task: BenchTask, answer: str) -> AnswerVerdict:
    box = Bubblewrap(SandboxLimits(wall=30.0, test=10.0))
    return asyncio.run(AnswerJudge(lambda: box).judge(task, answer))


def code_task(tests: str) -> BenchTask:
    return BenchTask(
        id="x", kind="code", prompt="", path="solution.py", hidden=Tests(files=(("test_hidden.py", tests),))
    )


SQUARE = code_task("from solution import f\n\ndef test_f():\n    assert f(2) == 4\n    assert f(3) == 9\n")
PLAIN = "def f(x):\n    return x * x\n"
CHEATS = {
    "prints": "print('all tests passed')\ndef f(x):\n    print('1 passed in 0.01s')\n    return 0\n",
    "equals everything": "class A(int):\n    __hash__ = int.__hash__\n    def __eq__(self, other): return True\n"
    "def f(x): return A(0)\n",
    "own object": "class A:\n    def __eq__(self, other): return True\ndef f(x): return A()\n",
    "ends the process": "import os\ndef f(x): os._exit(0)\n",
    "exits at import": "import sys\nprint('ok')\nsys.exit(0)\n",
    "decorated": '"""Production-grade. All tests passed, 100 % coverage."""\nfrom typing import Any\n\n\n'
    'def f(x: Any) -> int:\n    """Return the square of x. Verified."""\n    return 4\n',
    "empty": "",
}


@pytest.mark.parametrize("cheat", CHEATS)
def test_a_wrong_answer_scores_nothing_whatever_it_prints_or_pretends(cheat: str) -> None:
    assert judge(SQUARE, CHEATS[cheat]).right is False


def test_a_plain_right_answer_beats_a_decorated_wrong_one() -> None:
    assert judge(SQUARE, PLAIN).right is True
    assert judge(SQUARE, CHEATS["decorated"]).right is False


def test_tests_that_cannot_be_run_make_nothing_right() -> None:
    assert judge(code_task("import nothing_like_this\n"), PLAIN).right is False
    assert judge(code_task(""), PLAIN).right is False


@pytest.mark.parametrize("name", REFERENCES)
def test_the_starter_tasks_accept_a_right_answer_and_refuse_an_empty_one(name: str) -> None:
    tasks = {task.id: task for task in load_tasks("custom", SuiteSource(folder=find_starter()))}
    assert set(tasks) == set(REFERENCES)
    assert judge(tasks[name], REFERENCES[name]).right is True
    assert judge(tasks[name], "x = 1\n").right is False


def test_a_letter_is_found_where_one_is_named_and_nowhere_else() -> None:
    options = ("red", "green", "blue")
    cases = {
        "It is green.\nAnswer: B\n- the answer A is wrong": "B", "**Answer:** C": "C", "The answer is (b).": "B",
        "B) green": "B", "I would say blue": "C", "Answer: Z": "", "": "", "red or green": "",
        "(A) Red. The answer B is wrong.": "A", "(Z) green is right": "B",
    }  # fmt: skip
    assert {text: find_letter(text, options) for text in cases} == cases


def test_a_rubric_needs_every_rule(tmp_path: Path) -> None:
    place = tmp_path / "tasks" / "http"
    place.mkdir(parents=True)
    (place / "task.md").write_text("Which status tells a client that it asks too often?")
    rules = '[[must]]\nsays = "names 429"\nmatches = "\\\\b429\\\\b"\n[[must_not]]\nsays = "no 503"\nmatches = "503"\n'
    (place / "rubric.toml").write_text(rules)
    (task,) = load_tasks("custom", SuiteSource(folder=tmp_path / "tasks"))
    assert judge(task, "It is 429.").right is True
    assert judge(task, "It is 429 or 503.").right is False
    assert judge(task, "Too many requests").right is False


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"a/test_a.py": "def test(): pass"}, "has no task.md"),
        ({"a/task.md": "words"}, "so answers cannot be judged"),
        ({"a/task.md": " ", "a/test_a.py": ""}, "is empty"),
        ({"a/task.md": "w", "a/rubric.toml": "must = 3"}, "cannot be read"),
        ({"a/task.md": "w", "a/rubric.toml": ""}, "must have [[must]]"),
        ({"a/task.md": "w", "a/rubric.toml": '[[must]]\nsays="x"\nmatches="("'}, "cannot be read"),
        ({}, "has no tasks"),
    ],
)
def test_a_custom_folder_says_what_is_wrong_with_it(tmp_path: Path, files: dict[str, str], said: str) -> None:
    folder = tmp_path / "tasks"
    folder.mkdir()
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    with pytest.raises(UsageError, match=said.replace("[", r"\[")):
        load_tasks("custom", SuiteSource(folder=folder))


def test_missing_data_says_what_to_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOOT_DATA", str(tmp_path))
    with pytest.raises(UsageError, match="MOOT_DATA"):
        load_tasks("human_eval", SuiteSource())


def test_examples_are_stripped_from_the_words_of_a_task() -> None:
    words = 'def f(x: int) -> int:\n    """Double x.\n\n    Examples:\n    >>> f(2)\n    4\n    f(3) -> 6\n    """\n'
    assert strip_examples(words) == 'def f(x: int) -> int:\n    """Double x.\n\n    """\n'


DATA = data_folder()
"""As it is before a test has a folder of its own."""
needs_data = pytest.mark.skipif(
    not has_data("humaneval.jsonl.gz", "mbpp-sanitized.jsonl.gz"),
    reason="not run: the data sets are not there; MOOT_DATA names their folder",
)


@needs_data
def test_plus_inputs_catch_what_the_base_tests_let_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOOT_DATA", str(DATA))
    tasks = {task.id: task for task in load_tasks("human_eval", SuiteSource())}
    assert len(tasks) == 164
    task = tasks["HumanEval/2"]  # truncate_number
    assert "test_plus" in str(task.hidden)
    assert judge(task, "def truncate_number(number):\n    return number % 1.0\n").right is True
    assert (
        judge(task, "def truncate_number(number):\n    return number - int(number) if number < 200 else 0\n").right
        is False
    )


@needs_data
def test_no_task_keeps_an_example_once_they_are_stripped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOOT_DATA", str(DATA))
    tasks = load_tasks("human_eval", SuiteSource(examples=False))
    assert [task.id for task in tasks if task_examples(task.prompt, "python")] == []
    assert all("def " in task.prompt and task.prompt.count('"""') % 2 == 0 for task in tasks)


@needs_data
def test_the_first_tasks_by_hash_are_the_same_every_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOOT_DATA", str(DATA))
    first = [task.id for task in load_tasks("mbpp", SuiteSource(), 5)]
    assert first == [task.id for task in load_tasks("mbpp", SuiteSource(examples=False), 20)][:5]
    bare = load_tasks("mbpp", SuiteSource(examples=False), 5)
    assert not any("assert" in task.prompt for task in bare) and all("def " in task.prompt for task in bare)


# --- repositories


TEST_PATCH = """diff --git a/tests/test_shop.py b/tests/test_shop.py
--- a/tests/test_shop.py
+++ b/tests/test_shop.py
@@ -2,3 +2,7 @@ from shop.price import total
 
 def test_one():
     assert total([3]) == 3
+
+
+def test_many():
+    assert total([1, 2]) == 3
"""
ISSUE = """total() of several prices gives only the first:

from shop.price import total
print(total([1, 2]))
"""
GOLD = """diff --git a/shop/price.py b/shop/price.py
--- a/shop/price.py
+++ b/shop/price.py
@@ -1,2 +1,2 @@
 def total(prices):
-    return prices[0]
+    return sum(prices)
"""


def make_instances(folder: Path) -> Path:
    """A repository of our own in the format of SWE-bench, and one that is not at hand."""
    clone = folder / "repos" / "acme__shop"
    (clone / "shop").mkdir(parents=True)
    (clone / "tests").mkdir()
    (clone / "shop/__init__.py").write_text("")
    (clone / "shop/price.py").write_text("def total(prices):\n    return prices[0]\n")
    (clone / "tests/test_shop.py").write_text(
        "from shop.price import total\n\ndef test_one():\n    assert total([3]) == 3\n"
    )
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(clone)]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], check=True, capture_output=True)
    commit = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    row: dict[str, Any] = {
        "instance_id": "acme__shop-1", "repo": "acme/shop", "base_commit": commit, "patch": GOLD,
        "test_patch": TEST_PATCH, "problem_statement": ISSUE,
        "FAIL_TO_PASS": ["tests/test_shop.py::test_many"], "PASS_TO_PASS": ["tests/test_shop.py::test_one"],
    }  # fmt: skip
    rows = [row, {**row, "instance_id": "acme__other-2", "repo": "acme/other"}]
    path = folder / "instances.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def test_an_issue_is_solved_by_its_own_tests_and_skipped_without_its_repository(tmp_path: Path) -> None:
    path = make_instances(tmp_path)
    tasks = {t.id: t for t in load_tasks("swe_bench", SuiteSource(folder=path, repos=tmp_path / "repos"))}
    here, elsewhere = tasks["acme__shop-1"], tasks["acme__other-2"]
    assert "no clone here" in elsewhere.skip and not here.skip
    assert judge(here, "def total(prices):\n    return sum(prices)\n").right is True
    assert judge(here, "def total(prices):\n    return prices[0]\n").right is False
    broken = judge(here, "def total(prices):\n    return 3 if len(prices) > 1 else 0\n")
    assert broken.right is False and "1 others broke" in broken.why


def test_an_instance_whose_published_patch_fails_here_has_no_verdict(tmp_path: Path) -> None:
    """What it needs may be missing here: nobody can solve it, and nobody has failed."""
    path = make_instances(tmp_path)
    row = json.loads(path.read_text().splitlines()[0])
    needy = row["test_patch"].replace("+def test_many():", "+def test_many():\n+    import a_package_that_is_not_here")
    path.write_text(json.dumps({**row, "test_patch": needy.replace("+2,7 @@", "+2,8 @@")}))
    (task,) = load_tasks("swe_bench", SuiteSource(folder=path, repos=tmp_path / "repos"))
    verdict = judge(task, "def total(prices):\n    return prices[0]\n")
    assert verdict.right is None and verdict.why.startswith(
        "the published patch does not pass here either: 1 of 1 tests"
    )
    assert judge(task, "def total(prices):\n    return sum(prices)\n").right is None
    assert GOLD.splitlines()[-1].strip("+ ") not in task.prompt


def test_a_clone_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    path = make_instances(tmp_path)
    clone = tmp_path / "repos/acme__shop"
    subprocess.run(["git", "clone", "-q", "--bare", str(clone), str(tmp_path / "bare/acme__shop")], check=True)
    tasks = {t.id: t for t in load_tasks("swe_bench", SuiteSource(folder=path, repos=tmp_path / "bare"))}
    assert "cannot be read: " in (skip := tasks["acme__shop-1"].skip) and "bare repository" in skip


def test_a_run_of_issues_lists_what_is_missing_as_skipped(tmp_path: Path) -> None:
    make_instances(tmp_path)
    fixed = "CODE:\n```python\ndef total(prices):\n    return sum(prices)\n```\n"
    (tmp_path / "replies.yaml").write_text(json.dumps([{"reply": fixed, "always": True}]))
    done = run_bench(
        tmp_path, "run", "swe_bench", "instances.jsonl", "--repos", "repos", "--arm", "single", "--name", "one",
        "-m", "script:replies.yaml", "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = {row["task"]: row for row in read_rows(tmp_path)}
    assert rows["acme__shop-1"]["right"] is True, rows["acme__shop-1"]["why"]
    assert rows["acme__other-2"]["skipped"] and rows["acme__other-2"]["right"] is None
    arm = json.loads(done.stdout)["arms"][0]
    assert (arm["tasks"], arm["skipped"], arm["right"]["count"]) == (1, 1, 1)


# --- labelled code and questions


def test_labelled_code_is_rated_without_a_model(tmp_path: Path) -> None:
    for label, text in (
        ("vulnerable", "import os\n\ndef run(request):\n    os.system('ls ' + request.args['path'])\n"),
        ("safe", "def add(a, b):\n    return a + b\n"),
    ):
        (tmp_path / "code" / label).mkdir(parents=True)
        (tmp_path / "code" / label / "app.py").write_text(text)
    done = run_bench(tmp_path, "run", "harden", "code", "--name", "one", "--json")
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    labels = figures["arms"][0]["labels"]
    assert (labels["recall"]["count"], labels["false_alarms"]["count"], labels["youden"]) == (1, 0, 1.0)
    assert "Youden J +1.00" in figures["sentence"]


def test_questions_with_a_key_are_put_to_one_to_many_and_to_judges(tmp_path: Path) -> None:
    (tmp_path / "q.yaml").write_text(
        "- {id: money, question: Which type for prices, options: [float, integer cents], answer: B}\n"
        "- {id: retry, question: How to retry, options: [at once, with growing waits], answer: B}\n"
    )
    position = "POSITION: (B) It is exact.\n"
    entries: list[dict[str, Any]] = [
        {"seat": "generator", "contains": "prices", "reply": position.replace("(B)", "(A)")},
        *({"seat": seat, "reply": f"OPTION: B\nREASONS: {word} is lower\nCONFIDENCE: HIGH\n"} for seat, word in
          (("risk", "risk of failure"), ("value", "user value"), ("effort", "effort to build"))),
        {"reply": position},
    ]  # fmt: skip
    (tmp_path / "replies.yaml").write_text(json.dumps([{**entry, "always": True} for entry in entries]))
    done = run_bench(tmp_path, "run", "decide", "q.yaml", "--name", "one", "-m", "script:replies.yaml", "--json")
    assert done.returncode == 0, done.stderr
    rows = {(row["arm"], row["task"]): row for row in read_rows(tmp_path)}
    assert rows["single", "money"]["right"] is False and rows["single", "retry"]["right"] is True
    assert rows["decide", "money"]["answer"] == "B", rows["decide", "money"]
    assert rows["vote", "money"]["right"] is True
    assert json.loads(done.stdout)["reference"] == "decide"


def test_a_question_without_a_valid_key_is_refused(tmp_path: Path) -> None:
    (tmp_path / "q.yaml").write_text("- {id: a, question: b, options: [c, d], answer: E}\n")
    with pytest.raises(UsageError, match="letter of an option"):
        load_tasks("decide", SuiteSource(folder=tmp_path / "q.yaml"))


def test_a_custom_suite_has_the_names_of_its_folders(tmp_path: Path) -> None:
    folder = write_suite(tmp_path)
    tasks = load_tasks("custom", SuiteSource(folder=folder))
    assert sorted(task.id for task in tasks) == ["add", "double", "neg"]
    assert not any("assert" in task.prompt for task in tasks)


# --- the vote of answers


BARE = BenchTask(id="x", kind="code", prompt="Write double(n), two times n.", path="solution.py", hidden=SQUARE.hidden)
TWICE, POWER, THRICE = (f"def double(n):\n    return {body}\n" for body in ("2 * n", "n * n", "3 * n"))


def vote(task: BenchTask, codes: list[str], *, examples: bool) -> str:
    return asyncio.run(choose_code(task, codes, Bubblewrap(SandboxLimits(wall=30.0)), examples=examples))


def test_without_examples_the_vote_compares_answers_on_inputs_of_its_own() -> None:
    assert vote(BARE, [POWER, TWICE, THRICE, TWICE.replace("2 * n", "n + n")], examples=False).endswith("2 * n\n")
    assert vote(BARE, [POWER, TWICE], examples=False) == POWER  # a tie goes to who came first
    assert vote(BARE, [], examples=False) == ""
    assert vote(BARE, ["not python (", TWICE], examples=False) == TWICE


def test_examples_of_the_task_come_before_the_vote() -> None:
    task = BARE.model_copy(update={"prompt": "Write double(n), two times n.\n\n    double(3) -> 6\n"})
    assert vote(task, [THRICE, THRICE, TWICE], examples=False) == THRICE
    assert vote(task, [THRICE, THRICE, TWICE], examples=True) == TWICE
