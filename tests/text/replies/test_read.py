"""Every form a reply may have, and every reply that must not pass for an answer."""

import json
from collections.abc import Callable

import pytest
from pydantic import BaseModel
from reply_shapes import (
    BLUE,
    CLEAN,
    RACE,
    RED,
    SQLI,
    Choice,
    Count,
    Files,
    Fixes,
    Grade,
    Owned,
    Person,
    Risks,
    Score,
    Sort,
    Team,
)

from moot.protocols.debate.phases.drafts import DraftReply
from moot.protocols.harden.attack import RedReply
from moot.protocols.harden.defend import BlueReply
from moot.text.replies import CodeBlock, ParseError, read

RED_JSON = json.dumps(RED.model_dump(), indent=2)
ITEM_JSON = json.dumps(SQLI.model_dump())
OTHER_JSON = json.dumps(RACE.model_dump())
FLAW = f"""DESCRIPTION: {SQLI.description}
EVIDENCE: {SQLI.evidence}
EXPLOIT: {SQLI.exploit}
CATEGORY: injection
SEVERITY: critical
"""
FLAW_2 = f"""DESCRIPTION: {RACE.description}
EVIDENCE: {RACE.evidence}
CATEGORY: race_condition
SEVERITY: high
"""
BLUE_TEXT = f"""PATCHES:
VULN-001: the name is bound
VULN-002: a lock around hits

REMAINING_RISKS:
- the table is never cleaned, it grows

CONFIDENCE: 0.8

PATCHED_CODE:
FILE: accounts.py
```python
{BLUE.patched_code[0].text}```
"""
BOTH = RED.model_copy(update={"edge_cases": (), "overall_risk": None})
ONE = BOTH.model_copy(update={"vulnerabilities": (SQLI,)})


def value(text: str, shape: type[BaseModel]) -> BaseModel:
    return read(text, shape).value


# --- JSON


@pytest.mark.parametrize(
    "text",
    [
        RED_JSON,
        json.dumps(RED.model_dump()),
        f"```json\n{RED_JSON}\n```",
        f"```\n{RED_JSON}\n```",
        f"Here is what I found:\n\n{RED_JSON}\n\nLet me know if you need more.",
        f"Sure! My answer: {json.dumps(RED.model_dump())} That is all.",
        f"Like `users[\"name\"]` and {{braces}} and \"quotes, this:\n```json\n{RED_JSON}\n```\nDone.",
        f"<think>\nVULNERABILITIES: NONE? {{\"vulnerabilities\": []}}\n</think>\n{RED_JSON}",
        f"<think>a</think>\n<reasoning>b</reasoning>\n{RED_JSON}",
        f"The opening tag was eaten.\n</think>\n\n{RED_JSON}",
        json.dumps({"report": RED.model_dump()}),
        json.dumps([RED.model_dump()]),
        RED_JSON.replace('"vulnerabilities"', '"Findings"').replace('"description"', '"title"'),
        RED_JSON.replace("\n  ]", ",\n  ]").replace('"high"', '"high", // for sure'),
        RED_JSON.replace(",\n", "\n"),
        RED_JSON.replace('"edge_cases"', '// the rest\n  "edge_cases"'),
        RED_JSON.replace("\n", "\r\n"),
        RED_JSON.replace('"overall_risk": 0.9', '"overall_risk": "90%"'),
        f"{RED_JSON}\n\nand once more:\n\n{RED_JSON}",
        f"```python\nx = {{\"vulnerabilities\": []}}\n```\n{RED_JSON}",
    ],
)  # fmt: skip
def test_json_in_every_wrapping(text: str) -> None:
    assert value(text, RedReply) == RED


@pytest.mark.parametrize(
    "text",
    [
        f"[{ITEM_JSON}, {OTHER_JSON}]",
        f"{ITEM_JSON}\n{OTHER_JSON}",
        f"1. {ITEM_JSON}\n2. {OTHER_JSON}\n",
        f"## Vulnerabilities\n\n```json\n[{ITEM_JSON}, {OTHER_JSON}]\n```\n",
        f"VULNERABILITIES: [{ITEM_JSON}, {OTHER_JSON}]",
        json.dumps({"vulnerabilities": {"V-1": SQLI.model_dump(), "V-2": RACE.model_dump()}}),
    ],
)
def test_json_items_without_their_object(text: str) -> None:
    assert value(text, RedReply) == BOTH


def test_json_in_parts_is_put_together() -> None:
    text = f'{{"vulnerabilities": [{ITEM_JSON}, {OTHER_JSON}]}}\n\n{{"overall_risk": 0.9}}'
    assert value(text, RedReply) == BOTH.model_copy(update={"overall_risk": 0.9})


def test_sections_that_hold_json() -> None:
    text = f'VULNERABILITIES:\n[{ITEM_JSON}]\n\nEDGE_CASES:\n[{{"description": "no name"}}]\n\nOVERALL_RISK: 0.5'
    reply = read(text, RedReply).value
    assert (reply.vulnerabilities, [c.description for c in reply.edge_cases]) == ((SQLI,), ["no name"])


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ('"x = "a" + b"', 'x = "a" + b'),
        ('"print(\\"a\\" + "b")"', 'print("a" + "b")'),
        ('"a" * 1000', '"a" * 1000'),
        ("None", "None"),
        (r'"it\'s \d+"', r"it's \d+"),
        ('"len("-".join([*kept, word])) > limit:"', 'len("-".join([*kept, word])) > limit:'),
        ('{"name": "x"}', '{"name": "x"}'),
        ("42", "42"),
        ("items[0]", "items[0]"),
        ("`req.query.name`", "req.query.name"),
        ("`the `next` page", "`the `next` page"),
        ('`the `next` page"', "the `next` page"),
        ("'it is so'", "it is so"),
        ("'a' + 'b'", "'a' + 'b'"),
        ("\"eval('x')'", "eval('x')'"),
        ("true", "true"),
        ('["one", "two"]', "one\ntwo"),
    ],
)
def test_slips_in_one_line_of_json_are_mended(written: str, said: str) -> None:
    text = RED_JSON.replace('"exploit": ""', f'"exploit": {written}')
    flaw = read(f"```json\n{text}\n```", RedReply).value.vulnerabilities[1]
    assert (flaw.exploit, flaw.severity) == (said, "high")


def test_null_beside_a_slip_is_still_nothing() -> None:
    text = RED_JSON.replace('"exploit": ""', '"exploit": "say "a""').replace("0.9", "null")
    assert read(text, RedReply).value.overall_risk is None


def test_the_better_of_two_labels_holds() -> None:
    item = {"title": "SQL injection", **SQLI.model_dump(), "line": 10, "risk": "all of it"}
    assert value(json.dumps({"vulnerabilities": [item]}), RedReply) == ONE


# --- labelled text


@pytest.mark.parametrize(
    "text",
    [
        f"VULNERABILITIES:\n{FLAW}---\n{FLAW_2}",
        f"VULNERABILITIES:\n{FLAW}---\n{FLAW_2}---\n",
        f"VULNERABILITIES:\n{FLAW}{FLAW_2}",
        f"VULNERABILITIES:\n\n{FLAW}\n{FLAW_2}",
        f"# Vulnerabilities\n\n## 1. One\n{FLAW}\n## 2. Two\n{FLAW_2}",
        f"**Vulnerabilities**\n\n1. One\n{FLAW}\n2. Two\n{FLAW_2}",
        f"**Vulnerabilities:**\n\nVulnerability 1: One\n{FLAW}\nVulnerability 2: Two\n{FLAW_2}",
        f"### Vulnerability 1: One\n{FLAW}\n### Vulnerability 2: Two\n{FLAW_2}",
        f"## Vulnerabilities\nTwo were found.\n### Vulnerability 1\n{FLAW}\n### Vulnerability 2\n{FLAW_2}",
        f"{FLAW}\n{FLAW_2}",
        f"I looked at it.\n\n{FLAW}\n---\n{FLAW_2}",
        "\n".join(f"- {line}" for line in f"{FLAW}{FLAW_2}".splitlines()),
        "\n".join(f"  * **{line.replace(':', ':**', 1)}" for line in f"{FLAW}{FLAW_2}".splitlines()),
        "\n".join(f"**{line.replace(':', '**:', 1)}" for line in f"VULNERABILITIES:\n{FLAW}{FLAW_2}".splitlines()),
        f"VULNERABILITIES:\n{FLAW}{FLAW_2}".replace("DESCRIPTION:", "TITLE: A flaw\nDESCRIPTION:"),
        f"VULNERABILITIES:\n{FLAW}{FLAW_2}".replace("EVIDENCE: ", "EVIDENCE (line 3):\n```python\n").replace(
            "\nEXPLOIT", "\n```\nEXPLOIT").replace("++\nCATEGORY", "++\n```\nCATEGORY"),
        f"VULNERABILITIES:\n{FLAW}{FLAW_2}".replace("hits[name]++", "`hits[name]++`"),
        f"<thinking>{FLAW}</thinking>\nVULNERABILITIES:\n{FLAW}{FLAW_2}",
    ],
)  # fmt: skip
def test_labelled_text_in_every_layout(text: str) -> None:
    assert value(text, RedReply) == BOTH


def test_items_that_are_labelled_differently() -> None:
    text = FLAW.replace("DESCRIPTION", "TITLE") + FLAW_2
    assert value(text, RedReply) == BOTH


def test_headings_as_labels_of_fields() -> None:
    text = f"""## Vulnerabilities

### {SQLI.description}

#### Evidence

```python
{SQLI.evidence}
```

#### Exploit
{SQLI.exploit}

#### Category
Injection

#### Severity
**Critical**

## Overall risk

0.4
"""
    assert value(text, RedReply) == ONE.model_copy(update={"overall_risk": 0.4})


def test_numbered_steps_belong_to_their_field() -> None:
    text = FLAW.replace("EXPLOIT: ' OR 1=1 --", "EXPLOIT:\n1. log in\n2. send it")
    assert read(text, RedReply).value.vulnerabilities[0].exploit == "1. log in\n2. send it"


@pytest.mark.parametrize("tag", ["<script>", "<a href=x>", "<img src=x onerror=alert(1)>", "<b>what is wrong</b>"])
def test_a_tag_is_content(tag: str) -> None:
    assert read(FLAW.replace(SQLI.exploit, tag), RedReply).value.vulnerabilities[0].exploit == tag


def test_a_label_inside_code_is_code() -> None:
    text = f"VULNERABILITIES:\n{FLAW}".replace(
        "EXPLOIT: ", "EXPLOIT:\n```\nVULNERABILITIES: NONE\nSEVERITY: low\n```\n"
    )
    flaw = read(text, RedReply).value.vulnerabilities[0]
    assert (flaw.severity, flaw.exploit.splitlines()[0]) == ("critical", "VULNERABILITIES: NONE")


@pytest.mark.parametrize(
    "text",
    ['{"vulnerabilities": []}', "VULNERABILITIES: NONE", "**Vulnerabilities:** None found.", "VULNERABILITIES:\n- none",
     "### Vulnerabilities\n\nNo vulnerabilities were found.\n", '{"vulnerabilities": "none"}', "VULNERABILITIES: []"],
)  # fmt: skip
def test_an_explicit_nothing_is_an_answer(text: str) -> None:
    assert value(text, RedReply) == CLEAN


@pytest.mark.parametrize(
    "text",
    [
        BLUE_TEXT,
        BLUE_TEXT.replace("PATCHES:", "**Patches:**").replace("REMAINING_RISKS:", "## Remaining risks"),
        BLUE_TEXT.replace("PATCHES:", "### Patch"),
        BLUE_TEXT.replace("VULN-001:", "- **VULN-001**:").replace("VULN-002:", "- **VULN-002** (high):"),
        BLUE_TEXT.replace("VULN-001: ", "1. VULN-001: ").replace("VULN-002: ", "2. `VULN-002` - "),
        BLUE_TEXT.replace("VULN-001: ", "### VULN-001\n").replace("VULN-002: ", "### VULN-002\n"),
        BLUE_TEXT.replace("FILE: accounts.py\n", "").replace("```python", "```python accounts.py"),
        BLUE_TEXT.replace("FILE: accounts.py\n```python\n", "```python\nFILE: accounts.py\n"),
        BLUE_TEXT.replace("PATCHED_CODE:\nFILE: ", "Here is the file:\n\n**File:** `").replace(".py\n", ".py`\n"),
        f"PATCHES: {json.dumps(BLUE.patches)}\n" + BLUE_TEXT[BLUE_TEXT.index("REMAINING") :],
        "Old:\n```python\nx = 1\n```\n" + BLUE_TEXT,
    ],
)  # fmt: skip
def test_defences_in_every_layout(text: str) -> None:
    assert value(text, BlueReply) == BLUE


def test_a_defence_as_json_with_the_code_beside_it() -> None:
    data = BLUE.model_dump(exclude={"patched_code"})
    code = BLUE.patched_code[0].text
    beside = f"```json\n{json.dumps(data)}\n```\n\nFILE: accounts.py\n```python\n{code}```"
    assert value(beside, BlueReply) == BLUE
    inside = json.dumps({**data, "patched_code": f"FILE: accounts.py\n```python\n{code}```"})
    assert value(inside, BlueReply) == BLUE


# --- each kind of field


@pytest.mark.parametrize(
    ("text", "shape", "expected"),
    [
        ("SCORE: 0.75", Score, 0.75), ("Score: **0.75**", Score, 0.75), ("SCORE: 80%", Score, 0.8),
        ("SCORE: 8/10", Score, 0.8), ("SCORE: 8 out of 10 (good)", Score, 0.8), ("SCORE: 75 percent", Score, 0.75),
        ('{"score": "7.5 / 10"}', Score, 0.75), ("SCORE: -2", Score, -2), ("SCORE: 0.9\n\nIn 3 places.", Score, 0.9),
        ("COUNT: 12", Count, 12), ('{"count": 12.0}', Count, 12),
        ("AGREED: yes", Choice, True), ("AGREED: No.", Choice, False), ('{"agreed": true}', Choice, True),
        ("AGREED: Yes, there is no doubt", Choice, True), ('{"agreed": "False"}', Choice, False),
        ("SORT: Defect", Sort, "bug"), ("SORT: a matter of taste", Sort, "other"), ('{"sort": "BUG!"}', Sort, "bug"),
        ("RISKS: none", Risks, ()), ('{"risks": []}', Risks, ()),
        ("RISKS:\n- slow, very slow\n- old\n  and brittle", Risks, ("slow, very slow", "old and brittle")),
        ("RISKS: it grows, and grows; then it stops", Risks, ("it grows, and grows; then it stops",)),
        ("RISKS: [V-1, V-2]", Risks, ("V-1", "V-2")), ('RISKS: ["a, b", "c"]', Risks, ("a, b", "c")),
        ("RISKS:\n1. one\n2. two", Risks, ("one", "two")), ("RISKS:\none\ntwo", Risks, ("one", "two")),
        ("FIXES: none", Fixes, {}), ("FIXES:\nA-1: x\ny\nA-2 = z", Fixes, {"A-1": "x\ny", "A-2": "z"}),
        ("FIXES:\nA-1: see\nNote: this too\nA-2: z", Fixes, {"A-1": "see\nNote: this too", "A-2": "z"}),
        ('{"fixes": [{"fix": "x", "id": "A"}, {"id": "B", "text": "y"}]}', Fixes, {"A": "x", "B": "y"}),
        ('{"fixes": {"A": ["x", "y"]}}', Fixes, {"A": "x\ny"}), ("FIXES: A-1, A-2", Fixes, {"A-1": "", "A-2": ""}),
        ("FIXES:\nA-1: None\nA-2: done\nNONE", Fixes, {"A-2": "done"}),
    ],
)  # fmt: skip
def test_kinds_of_fields(text: str, shape: type[BaseModel], expected: object) -> None:
    (said,) = value(text, shape).model_dump().values()
    assert said == expected


@pytest.mark.parametrize(
    "text",
    [
        "REASON: it\nleaks\nGRADE: very low",
        "**Reason**: it\nleaks\n\n**Grade**: Very-Low!",
        '{"grade": "VERY_LOW", "reason": "it\\nleaks"}',
        '{"reason": "it\nleaks", "grade": "very low indeed"}',
    ],
)
def test_words_of_a_closed_set(text: str) -> None:
    assert value(text, Grade) == Grade(reason="it\nleaks", grade="very_low")


def test_nested_items_and_single_ones() -> None:
    ann = Person(name="Ann", role="author")
    assert value("PEOPLE:\n- Ann\n  Role: author\n- Bob\n  Role: reviewer\n  Note: new", Team) == Team(
        people=(ann, Person(name="Bob", role="reviewer", note="new"))
    )
    assert value("OWNER:\nNAME: Ann\nROLE: author\n\nWHY: she wrote it", Owned) == Owned(owner=ann, why="she wrote it")
    assert value('{"owner": {"name": "Ann", "role": "author"}}', Owned) == Owned(owner=ann)


INNER = 'def f():\n    """Doc.\n\n    ```\n    f()\n    ```\n    """\n'
README = "# Title\n\n```python\nf()\n```\n\nEnd.\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"FILES:\n```python\n{INNER}```", [("", INNER)]),
        (f"FILES:\nFILE: README.md\n```markdown\n{README}```", [("README.md", README)]),
        (f"FILES:\nFILE: README.md\n````markdown\n{README}````", [("README.md", README)]),
        ("FILES:\n```\na\n```python\nb\n```", [("", "a\n```python\nb\n")]),
        (f"FILES:\n~~~\n{README}~~~", [("", README)]),
        ("FILES:\nFILE: a.py\n```\nx = 1\n```\n\nFILE: src/b.go (go)\n```go\nvar x = 1\n```",
         [("a.py", "x = 1\n"), ("src/b.go", "var x = 1\n")]),
        ("Here:\n\n`a.py`\n\n```python\nx = 1\n```\n\n**b.js**:\n```js\nlet x\n```",
         [("a.py", "x = 1\n"), ("b.js", "let x\n")]),
        ("```python\nx = {\"files\": [\"a\"]}\n```", [("", 'x = {"files": ["a"]}\n')]),
        ("```python\na\x0cb\u2028c\n```", [("", "a\x0cb\u2028c\n")]),
        ("Old:\n```\nold\n```\nCODE:\n```\nnew\n```", [("", "new\n")]),
        ("CODE:\n```\npart\n```\nFILES:\n```\nwhole\n```", [("", "whole\n")]),
    ],
)  # fmt: skip
def test_code_in_fences(text: str, expected: list[tuple[str, str]]) -> None:
    assert value(text, Files) == Files(files=tuple(CodeBlock(path=p, text=t) for p, t in expected))


# --- what must not pass for an answer


REFUSED: dict[str, str] = {
    "empty": "",
    "blank": " \n\t ",
    "refusal": "I'm sorry, but I can't help with attacking code.",
    "prose": "The code looks fine to me. I found no vulnerabilities.",
    "prose with a finding": "There is an SQL injection in line 3, severity high.",
    "praise under no label": "No vulnerabilities found.",
    "half JSON": RED_JSON[: len(RED_JSON) // 2],
    "half JSON in a fence": f"```json\n{RED_JSON[:200]}\n```",
    "JSON without its last bracket": RED_JSON[:-1],
    "half JSON after a whole one": '{"vulnerabilities": []}\nCorrection:\n{"vulnerabilities": [{"description": "SQL',
    "half JSON behind a wrapper": '{"analysis": "x", "vulnerabilities": [{"description": "a", "evidence": "b"',
    "a complete item in half a wrapper": f'{{"analysis": "x", "first": {ITEM_JSON}, "second": {{',
    "half a list of items": f"[{ITEM_JSON}, {ITEM_JSON[:40]}",
    "an item, then half a list": f'{ITEM_JSON}\nMore: [{{"description": "x", ',
    "an answer, then half a call": '{"vulnerabilities": []}\nSee call({"name": x, ',
    "a list of answers": f'[{{"vulnerabilities": []}}, {{"vulnerabilities": [{ITEM_JSON}]}}]',
    "unreadable JSON, then labelled none": '{"vulnerabilities": [{"description": "x"}]}\n\nVULNERABILITIES: NONE',
    "broken quotes in a line of two fields": RED_JSON.replace('"exploit": "",\n', '"exploit": "a "b"", "note": "c",\n'),
    "half a list after words": f"My findings: [{ITEM_JSON}, {ITEM_JSON[:40]}",
    "labels inside half JSON": '{"summary": "\nVULNERABILITIES: NONE\n", "vulnerabilities": [',
    "bare empty list": "[]",
    "bare empty object": "{}",
    "another object": '{"error": "refused"}',
    "null": '{"vulnerabilities": null}',
    "empty text for a list": '{"vulnerabilities": ""}',
    "empty object for a list": '{"vulnerabilities": {}}',
    "list of nothing readable": '{"vulnerabilities": [{}]}',
    "list of null": '{"vulnerabilities": [null]}',
    "list of words": '{"vulnerabilities": ["SQL injection in line 3"]}',
    "one item without evidence": json.dumps({"vulnerabilities": [SQLI.model_dump(), {"description": "another"}]}),
    "duplicate keys": f'{{"vulnerabilities": [{ITEM_JSON}], "vulnerabilities": []}}',
    "two spellings": f'{{"vulnerabilities": [], "findings": [{ITEM_JSON}]}}',
    "two answers": f'{{"vulnerabilities": []}}\n\nWait:\n\n{{"vulnerabilities": [{ITEM_JSON}]}}',
    "two answers, other order": f'{{"vulnerabilities": [{ITEM_JSON}]}}\n\nNo:\n\n{{"vulnerabilities": []}}',
    "none, then items": f"VULNERABILITIES: NONE\n\nVULNERABILITIES:\n{FLAW}",
    "items, then none": f"VULNERABILITIES:\n{FLAW}\n\nVULNERABILITIES: NONE",
    "JSON none, then labelled items": f'{{"vulnerabilities": []}}\n\nVULNERABILITIES:\n{FLAW}',
    "JSON none, then bare items": f'{{"vulnerabilities": []}}\n\n{ITEM_JSON}',
    "labelled none, then bare JSON items": f"VULNERABILITIES: NONE\n\nOVERALL_RISK: 0.9\n\n{ITEM_JSON}",
    "none, then prose": "VULNERABILITIES: NONE\n\nOVERALL_RISK: 1\n\nVULNERABILITIES:\nLine 3 is an SQL injection.",
    "empty list, then prose": "VULNERABILITIES: []\n\nVULNERABILITIES:\nLine 3 is an SQL injection.",
    "items above the none": f"{FLAW}\nVULNERABILITIES: NONE",
    "items far below the none": f"VULNERABILITIES: NONE\n\nEDGE_CASES: NONE\n\nOVERALL_RISK: 0.1\n\n{FLAW}",
    "JSON none, then items under no label": f'{{"vulnerabilities": []}}\n\nOVERALL_RISK: 1\n{FLAW}',
    "a label alone": "VULNERABILITIES:",
    "a heading alone": "## Vulnerabilities\n\n## Edge cases\n\n- empty name\n",
    "a label and prose": "VULNERABILITIES:\nThere are several problems with this code.",
    "none, but": "VULNERABILITIES: None, but line 3 is an SQL injection.",
    "titles without fields": "VULNERABILITIES:\n1. SQL injection\n2. Race\n",
    "one title without fields": f"VULNERABILITIES:\n1. SQL injection in rename\n2. Another\n{FLAW}",
    "none in a second thought": "<think>\nHm.\n</think>\nLet me see.\n<think>\nVULNERABILITIES: NONE\n</think>\n",
    "half a character": RED_JSON.replace("' OR 1=1 --", "\\ud800"),
    "half a character, bare": FLAW.replace(SQLI.exploit, "\ud800"),
    "only thought": "<think>{\"vulnerabilities\": []}",
    "only thought, ended": "<think>{\"vulnerabilities\": []}</think>",
    "the form itself": "VULNERABILITIES:\nDESCRIPTION: <what is wrong>\nEVIDENCE: x\nCATEGORY: xss\nSEVERITY: low",
    "a blank of another field": FLAW.replace(SQLI.description, "<the case>"),
    "a blank of the model's own": FLAW.replace(SQLI.description, "<the function>"),
    "the form without brackets": FLAW.replace(SQLI.description, "what is wrong"),
    "the choice not made": FLAW.replace("critical", "<one of: critical | high | medium | low>"),
    "two choices": FLAW.replace("critical", "low or high"),
    "deep": '{"vulnerabilities": ' * 3000 + "[]" + "}" * 3000,
    "rather deep": '{"a": ' * 60 + '{"vulnerabilities": []}' + "}" * 60,
    "not a number": '{"vulnerabilities": NaN}',
    "other language": '{"schwachstellen": []}',
    "only optional fields": '{"edge_cases": [], "overall_risk": 0}',
    "code that says so": "```python\nprint({\"vulnerabilities\": []})\n```",
}  # fmt: skip


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED.keys())
def test_what_is_no_answer_is_an_error(text: str) -> None:
    with pytest.raises(ParseError):
        read(text, RedReply)


@pytest.mark.parametrize(
    ("change", "because"),
    [
        (lambda t: t.removesuffix("```\n"), "never closed"),
        (lambda t: t.split("PATCHED_CODE")[0], "patched_code is missing"),
        (lambda t: t.replace(BLUE.patched_code[0].text, ""), "patched_code is missing"),
        (lambda t: t[t.index("PATCHED_CODE") :], "none of the fields"),
        (lambda t: "PATCHES:\nI fixed it all.\n" + t[t.index("REMAINING") :], "patches holds no"),
        (lambda t: "PATCHES:\nV-1: <what you changed for this finding>\n" + t[t.index("REMAINING") :], "form"),
        (lambda t: t + "\nPATCHES:\nI was wrong.\n", "different answers"),
        (lambda t: '{"patches": {}, "patched_code": "x = 1"}' + t, "different code"),
    ],
)  # fmt: skip
def test_defences_that_are_none(change: Callable[[str], str], because: str) -> None:
    with pytest.raises(ParseError, match=because):
        read(change(BLUE_TEXT), BlueReply)


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("SCORE: 0.3 to 0.5", Score), ("SCORE: high", Score), ("SCORE: 8/0", Score), ("SCORE: " + "9" * 400, Score),
        ("SCORE: " + "9" * 5000, Score), ('{"score": ' + "9" * 400 + "}", Score),
        ('{"score": 1e999}', Score), ('{"score": true}', Score), ("SCORE: 70% or 80%", Score), ("SCORE:", Score),
        ("SCORE: 0.2\nSCORE: 0.9", Score), ("SCORE: <number: score>", Score), ("SCORE: 1/" + "9" * 400, Score),
        ("COUNT: 1.5", Count), ("COUNT: 8/10", Count), ("AGREED: perhaps", Choice), ("AGREED: yes or no", Choice),
        ("AGREED: yes and no", Choice), ("AGREED: 1", Choice), ("AGREED: no idea", Choice),
        ("REASON: x\nGRADE: unclear", Grade), ("REASON: x\nGRADE: high or low", Grade), ("GRADE: high", Grade),
        ("RISKS:", Risks), ('{"risks": ""}', Risks), ("RISKS:\n- <risks>", Risks), ("RISKS:\n- a\nRISKS:\n- b", Risks),
        ("FIXES:", Fixes), ("FIXES: I changed the query.", Fixes), ('{"fixes": ["I changed it"]}', Fixes),
        ("OWNER: Ann", Owned), ("FILES:\nx = 1", Files), ("FILES:\n```\n\n```", Files), ("FILES:\n```\nx = 1\n", Files),
    ],
)  # fmt: skip
def test_fields_that_say_nothing_clear(text: str, shape: type[BaseModel]) -> None:
    with pytest.raises(ParseError):
        read(text, shape)


# --- what is kept and what is said about the rest


def test_optional_fields_that_cannot_be_read_are_reported() -> None:
    reply = read(json.dumps({"vulnerabilities": [], "overall_risk": 7, "edge_cases": "many"}), RedReply)
    assert reply.value == CLEAN
    assert [note.split(":")[0].split(" ")[0] for note in reply.dropped] == ["edge_cases", "overall_risk"]


def test_salvage_keeps_readable_items_and_reports_the_others() -> None:
    text = json.dumps({"vulnerabilities": [SQLI.model_dump(), {"description": "x"}, RACE.model_dump()]})
    reply = read(text, RedReply, salvage=True)
    assert reply.value == BOTH
    assert reply.dropped == ("vulnerabilities[2].evidence is missing",)
    with pytest.raises(ParseError, match="evidence is missing"):
        read('{"vulnerabilities": [{"description": "x"}]}', RedReply, salvage=True)


@pytest.mark.parametrize("text", [RED_JSON, f"Here:\n```json\n{RED_JSON}\n```\nAnd now I will expl", f"[{ITEM_JSON}]"])
def test_complete_json_in_a_reply_that_was_cut_off(text: str) -> None:
    assert read(text, RedReply, whole=False).value.vulnerabilities[0] == SQLI


@pytest.mark.parametrize("text", [f"VULNERABILITIES:\n{FLAW}", RED_JSON[:-2], f"{ITEM_JSON}\n{OTHER_JSON}", BLUE_TEXT])
def test_labelled_text_that_was_cut_off_may_lack_its_end(text: str) -> None:
    with pytest.raises(ParseError, match="cut off"):
        read(text, RedReply, whole=False)


def test_a_cut_off_reply_may_not_deny_what_it_lists() -> None:
    with pytest.raises(ParseError):
        read(f'{{"vulnerabilities": []}}\n\nCorrection:\n\n{FLAW}', RedReply, whole=False)


def test_a_cut_off_defence_needs_closed_fences() -> None:
    data = json.dumps(BLUE.model_dump(exclude={"patched_code"}))
    text = f"{data}\nFILE: accounts.py\n```python\n{BLUE.patched_code[0].text}```\nI have als"
    assert read(text, BlueReply, whole=False).value == BLUE
    with pytest.raises(ParseError, match="cut off"):
        read(text.split("\n```\n")[0], BlueReply, whole=False)


@pytest.mark.parametrize(
    ("text", "because"),
    [
        (RED_JSON[:-1], "the JSON is not complete"),
        (RED_JSON.replace('"high"', "so so"), "'so so' is not one of critical, high, medium, low"),
        ('{"vulnerabilities": [}]}', "the JSON is not valid: Expecting value"),
        ('{"vulnerabilities": [{"description": "x"}]}', r"vulnerabilities\[1\].evidence is missing"),
        (FLAW.replace("critical", "so so"), "'so so' is not one of critical, high, medium, low"),
        ("I refuse.", "none of the fields"),
        ("\n", "the reply is empty"),
    ],
)
def test_the_error_tells_the_model_what_to_mend(text: str, because: str) -> None:
    with pytest.raises(ParseError, match=because):
        read(text, RedReply)


# --- code with words around it

LARGEST = "def largest(numbers):\n    return max(numbers)\n"
BLOCK = f"```python\n{LARGEST}```"


@pytest.mark.parametrize(
    ("text", "approach", "limits"),
    [
        (f"APPROACH: take the largest\n\n{BLOCK}\n", "take the largest", ()),
        (f"APPROACH: take the largest\nLIMITS: NONE\n\n{BLOCK}\n\nIt is fine.", "take the largest", ()),
        (f"APPROACH: max\nLIMITS:\n- an empty list\n- text\n\nCODE:\n{BLOCK}", "max", ("an empty list", "text")),
        (f"{BLOCK}\n\nLIMITS: an empty list\nAPPROACH: max\n", "max", ("an empty list",)),
        (f"APPROACH:\n\n{BLOCK}\n\nmax does it\n", "max does it", ()),
        (f"APPROACH: max\n\nFILE: solution.py\n{BLOCK}\n", "max", ()),
        (BLOCK, "", ()),
    ],
)
def test_words_around_code_are_kept_and_hold_no_code(text: str, approach: str, limits: tuple[str, ...]) -> None:
    said = read(text, DraftReply).value
    assert (said.approach, said.limits, [block.text for block in said.code]) == (approach, limits, [LARGEST])


def test_a_reply_that_was_cut_off_says_which_fields_were_not_taken() -> None:
    heard = read(f"APPROACH: max\n\n{BLOCK}\nLIMITS: an em", DraftReply, whole=False)
    assert (heard.value.approach, heard.value.limits) == ("", ())
    assert heard.dropped == (
        "approach stands in a reply that was cut off", "limits stands in a reply that was cut off",
    )  # fmt: skip
