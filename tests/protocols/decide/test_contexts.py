"""Questions as people write them: the debate_context form in its variants, and a clear word for every slip."""

from pathlib import Path

import pytest

from moot.core.errors import ConfigError, UsageError
from moot.protocols.decide.questions.contexts import parse_spoken_question, question_texts, read_questions
from moot.protocols.decide.questions.panel import load_shipped_judges, read_judge

ROOT = Path(__file__).resolve().parents[3]
ONE = "question_text: Do we need it?\noptions: [{id: A, label: Yes sir}, {id: B, label: Not now}]\n"


def indented(text: str, by: str = "  ") -> str:
    return "".join(f"{by}{line}\n" for line in text.splitlines())


def test_the_form_of_the_seed_is_read_whole() -> None:
    text = """
debate_context:
  question_id: "SQ-1"
  question_text: "Do we need it?"
  options:
    - {id: "A", label: "Yes", description: "all of it"}
    - {id: "B", label: "No", description: "none of it"}
  spec_context: |
    It was asked for.
  feature_name: "it"
  feature_dir: "specs/it"
"""
    (question,) = read_questions(text, "q.yaml")
    assert (question.id, question.text, question.context) == ("SQ-1", "Do we need it?", "It was asked for.")
    assert [(o.id, o.label, o.description) for o in question.options] == [
        ("A", "Yes", "all of it"),
        ("B", "No", "none of it"),
    ]
    assert (question.feature_name, question.feature_dir) == ("it", "specs/it")


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        (ONE, ["Q1"]),
        (f"debate_context:\n{indented(ONE)}", ["Q1"]),
        (f"- debate_context:\n{indented(ONE, '    ')}- debate_context:\n{indented(ONE, '    ')}", ["Q1", "Q2"]),
        (f"debate_context:\n- {indented(ONE).strip()}\n- {indented(ONE).strip()}", ["Q1", "Q2"]),
        (f"debate_context:\n{indented(ONE)}---\ndebate_context:\n{indented(ONE)}", ["Q1", "Q2"]),
        (f"spec_context: shared\nquestions:\n- {indented(ONE).strip()}\n", ["Q1"]),
        ('{"question_id": "J-1", "question_text": "Why?", "options": ["one", "two"]}', ["J-1"]),
        ("question_id: 7\nquestion_text: Why?\noptions: {a: one, b: two}\n", ["7"]),
    ],
    ids=["bare", "one", "list", "list-inside", "documents", "shared", "json", "mapping"],
)
def test_one_question_or_many_in_any_of_the_usual_forms(text: str, ids: list[str]) -> None:
    questions = read_questions(text, "q.yaml")
    assert [question.id for question in questions] == ids
    assert all([o.id for o in question.options] == ["A", "B"] for question in questions)


def test_what_is_said_once_for_all_holds_unless_a_question_says_otherwise() -> None:
    own = ONE + "spec_context: own\n"
    text = f"spec_context: shared\nfeature_dir: f\nquestions:\n- {indented(ONE).strip()}\n- {indented(own).strip()}\n"
    first, second = read_questions(text, "q.yaml")
    assert (first.context, second.context, second.feature_dir) == ("shared", "own", "f")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "contains no question"),
        ("---\n---\n", "contains no question"),
        ("just words", "'just words' is not a question with options"),
        ("[1, 2]", "1 is not a question with options"),
        ("a: [", "not valid YAML at line"),
        ("debate_context:", "'debate_context' is empty"),
        ("debate_context: {}", "'question_text' is missing"),
        ("debate_context: []", "contains no question"),
        ("questiontext: Why?\noptions: [a, b]", "unknown key 'questiontext'; did you mean 'question_text'"),
        ("debate_context: {question_text: x, options: [a, b]}\nextra: 1", "'extra' is next to 'debate_context'"),
        ("question_text: ''\noptions: [a, b]", "'question_text' is missing or empty"),
        ("question_text: [x]\noptions: [a, b]", "'question_text' must be text"),
        ("question_text: Why?", "'options' must be a list"),
        ("question_text: Why?\noptions: a", "'options' must be a list"),
        ("question_text: Why?\noptions: []", "give at least two options"),
        ("question_text: Why?\noptions: [a]", "give at least two options"),
        ("question_text: Why?\noptions: [a, 7]", "option 2: 7 is not an option"),
        ("question_text: Why?\noptions: [{id: A}, {id: B, label: b}]", "option 1: 'label' is missing"),
        ("question_text: Why?\noptions: [{id: A, label: x}, {id: a, label: y}]", "same id 'a'"),
        ("question_text: Why?\noptions: [{id: A, label: x}, {id: B, label: X}]", "same label 'x'"),
        ("question_text: Why?\noptions: [{id: A, text: x}, b]", "unknown key 'text'; did you mean"),
        ("question_text: Why?\noptions: [{id: yes, label: x}, b]", "put it in quotes"),
        ("question_text: Why?\noptions: [{id: A/B, label: x}, b]", "id 'A/B' must be"),
        ("question_id: ../x\nquestion_text: Why?\noptions: [a, b]", "cannot name a file"),
        ("question_id: 'a b'\nquestion_text: Why?\noptions: [a, b]", "cannot name a file"),
        (
            f"- {indented(ONE).strip()}\n  question_id: x\n- {indented(ONE).strip()}\n  question_id: X\n",
            "have the id 'x'",
        ),
        ("question_text: Why?\noptions: [" + ", ".join(f"o{n}" for n in range(27)) + "]", "no letter is left"),
        ("&a [*a]", "is not a question"),
        ("&a {debate_context: *a}", "unknown key 'debate_context'"),
        (
            "- &q {question_text: x, options: [a, b]}\n"
            + f"- &l [{', '.join(['*q'] * 99)}]\n- [{', '.join(['*l'] * 99)}]",
            "more than 500",
        ),
        ("x: !!python/object/apply:os.system ['true']", "not valid YAML"),
    ],
)
def test_every_malformed_file_gets_one_clear_error(text: str, said: str) -> None:
    with pytest.raises(UsageError) as error:
        read_questions(text, "'q.yaml'")
    assert said in str(error.value) and "q.yaml" in str(error.value)


@pytest.mark.parametrize(
    ("options", "ids", "labels"),
    [
        (["A: small", "B: large"], ["A", "B"], ["small", "large"]),
        (["b) small", "(a) large"], ["B", "A"], ["small", "large"]),
        (["small", "large"], ["A", "B"], ["small", "large"]),
        (["1: small", "2: large"], ["1", "2"], ["small", "large"]),
        (["A: small", "large: very"], ["A", "B"], ["A: small", "large: very"]),
    ],
)
def test_a_question_on_the_spot(options: list[str], ids: list[str], labels: list[str]) -> None:
    question = parse_spoken_question("Why?", options)
    assert ([o.id for o in question.options], [o.label for o in question.options]) == (ids, labels)


@pytest.mark.parametrize(
    ("text", "options"),
    [("", ["a", "b"]), ("  ", ["a", "b"]), ("Why?", []), ("Why?", ["a"]), ("Why?", ["A: x", "A: y"])],
)
def test_a_question_on_the_spot_needs_a_text_and_two_options(text: str, options: list[str]) -> None:
    with pytest.raises(UsageError):
        parse_spoken_question(text, options)


def test_questions_to_class_need_no_options() -> None:
    assert question_texts("question_text: Why?", "x") == [("Q1", "Why?")]
    assert question_texts("Why so?\n\nIs it: in scope?\n", "x") == [("Q1", "Why so?"), ("Q2", "Is it: in scope?")]
    with pytest.raises(UsageError, match="'question_text' is missing"):
        question_texts("question_id: x", "x")


def test_the_examples_are_read() -> None:
    files = sorted((ROOT / "examples" / "decisions").glob("*.yaml"))
    found = [
        q for file in files if not file.name.startswith("replies") for q in read_questions(file.read_text(), file.name)
    ]
    assert len({question.id for question in found}) == len(found) >= 10


# --- judges


def test_the_shipped_judges_are_whole_and_three_of_them_are_the_panel() -> None:
    judges = load_shipped_judges()
    assert {"risk", "value", "effort"} <= judges.keys()
    assert [judges[name].stance for name in ("risk", "value", "effort")] == ["SKEPTICAL", "OPTIMISTIC", "PRAGMATIC"]
    assert all(judge.title and judge.aim and judge.looks_at and judge.words for judge in judges.values())


GOOD = 'title = "Legal Judge"\nstance = "STRICT"\naim = "KEEPS THE LAW"\nlooks_at = "the law"\n'


def test_a_judge_of_your_own_is_a_file() -> None:
    judge = read_judge("legal", GOOD, "legal.toml")
    assert (judge.name, judge.title, judge.words) == ("legal", "Legal Judge", ())


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("Legal!", GOOD, "its name must consist"),
        ("legal", "title = ", "not valid TOML"),
        ("legal", GOOD + 'mood = "x"\n', "unknown key 'mood'"),
        ("legal", GOOD.replace("STRICT", " "), "lacks 'stance'"),
        ("legal", GOOD + "words = 3\n", "'words' cannot be used"),
    ],
)
def test_a_judge_file_with_a_slip_is_refused(name: str, text: str, said: str) -> None:
    with pytest.raises(ConfigError) as error:
        read_judge(name, text, f"{name}.toml")
    assert said in str(error.value)
