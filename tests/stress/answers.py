"""What the provider of the stress suite answers: a usable reply to any question of any protocol, marked with the number
of the request that it answers, so that each recorded reply names the request that was paid for it."""

import json
import re
from collections.abc import Mapping
from typing import Any

MARK = re.compile(r"\[r(\d+)\]")
TAG = re.compile(r"stress-[a-z]+-\d+")
"""In the task of each session, and so in its prompts: which session of the load a request belongs to."""
LETTERS = re.compile(r"Only these letters exist: (.*?)\.")
CODE = "def largest(numbers):\n    return max(numbers, default=None)\n"
SAFE = 'def find(db: "sqlite3.Connection", name):\n    return db.execute("SELECT * FROM t WHERE n = ?", (name,))\n'
BLUE = """PATCHES:
VULN-001: bound the parameter {mark}

REMAINING_RISKS:
NONE

CONFIDENCE: 0.9

PATCHED_CODE:
FILE: app.py
```python
{code}```
"""

Json = dict[str, Any]


def answer(system: str, prompt: str, schema: Json | None, number: int) -> str:
    mark = f"[r{number}]"
    if schema is not None:
        letters = LETTERS.search(prompt)
        filled = fill(schema, schema.get("$defs", {}), mark, letters[1].split(", ") if letters else [])
        return json.dumps(filled)
    if "PATCHED_CODE" in prompt:
        return BLUE.format(mark=mark, code=SAFE)
    path = "app.py" if "app.py" in prompt else "solution.py"
    return f"APPROACH: the built-in {mark}\nRISKS: NONE\nCODE:\nFILE: {path}\n```python\n{CODE}```\n"


def fill(schema: Json, defs: Mapping[str, Json], mark: str, letters: list[str], name: str = "") -> Any:  # noqa: C901 - one case each
    """The least value that the schema allows, with the mark in every free text."""
    if "$ref" in schema:
        return fill(defs[schema["$ref"].rpartition("/")[2]], defs, mark, letters, name)
    for several in ("anyOf", "oneOf", "allOf"):
        if several in schema:
            return fill(schema[several][0], defs, mark, letters, name)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    match schema.get("type"):
        case "object":
            named = schema.get("properties", {})
            return {each: fill(inner, defs, mark, letters, each) for each, inner in named.items()}
        case "array" if name == "ranking" and letters:
            return letters
        case "array":
            least = max(schema.get("minItems", 0), 0 if name in EMPTY else 1)
            return [fill(schema.get("items", {}), defs, mark, letters, name) for _ in range(least)]
        case "integer":
            return max(1, schema.get("minimum", 1))
        case "number":
            return 0.75
        case "boolean":
            return True
        case "null":
            return None
    return f"It holds {mark}"


EMPTY = frozenset({"vulnerabilities", "points", "tests", "subtasks", "unclear", "questions", "challenges"})
