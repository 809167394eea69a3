"""Blind examples: what the scanner is measured on and was never written for.

Each family of flaws has ten examples per language, five flawed and five safe ones, written from the text of the CWE and
the documentation of the libraries by somebody who had read neither the rules nor their tests. They lie in
`blind/LANGUAGE/FAMILY.txt`; an example begins with `=== flawed NAME FILE CWE` or `=== safe NAME FILE`, and a flawed
example and its fix share NAME.

They are never used to tune a rule without adding ten more, written the same way: `blind_second/LANGUAGE/FAMILY.txt` are
those. Their author knew some of the tables of the Python and Go rules, and none of JavaScript's.

`blind_third/LANGUAGE/FAMILY.txt` are pairs only, one to three in a family: a flawed function and its fix. Their author
knew none of the rules.

`blind_fourth` and `blind_fifth` are pairs too: fragments as a review shows them, often without imports and with helpers
that are not shown. Injection into SQL has the most of them. Their author knew none of the rules. The fifth batch is
held back: which of its pairs are judged wrongly is listed nowhere, so that no rule is written for one of them.

`blind_sixth` and `blind_seventh` are pairs of fragments too, of every family in the proportion of reviews; most of them
are helpers whose caller is not shown. Their author knew none of the rules. The seventh batch is held back.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

BlindLanguage = Literal["python", "javascript", "go"]
BLIND_LANGUAGES: tuple[BlindLanguage, ...] = get_args(BlindLanguage)

BlindBatch = Literal[
    "blind", "blind_second", "blind_third", "blind_fourth", "blind_fifth", "blind_sixth", "blind_seventh"
]
BLIND_BATCHES: tuple[BlindBatch, ...] = get_args(BlindBatch)
HELD_BACK_BATCHES: tuple[BlindBatch, ...] = ("blind_fifth", "blind_seventh")
"""What is judged wrongly there is counted per language and shown nowhere in more detail."""
_FOLDER = Path(__file__).parent
_HEAD = re.compile(
    r"=== (?:(?P<flawed>flawed) (?P<name>[a-z0-9_]+) (?P<path>\S+) (?P<cwe>cwe-\d+)"
    r"|safe (?P<safe_name>[a-z0-9_]+) (?P<safe_path>\S+))"
)


@dataclass(frozen=True)
class BlindExample:
    family: str
    flawed: bool
    name: str
    path: str
    cwe: str  # empty where the example is safe
    code: str


def read_examples(language: BlindLanguage, batch: BlindBatch = "blind") -> list[BlindExample]:
    """Every example of a language, in the order of its families."""
    files = sorted((_FOLDER / batch / language).glob("*.txt"))
    return [example for file in files for example in _read_family(file)]


def _read_family(file: Path) -> list[BlindExample]:
    before, *parts = re.split(r"^(?==== )", file.read_text("utf-8"), flags=re.MULTILINE)
    if before.strip():
        raise ValueError(f"{file.name}: text before the first example")
    return [_read_example(file, part) for part in parts]


def _read_example(file: Path, part: str) -> BlindExample:
    head, _, code = part.partition("\n")
    found = _HEAD.fullmatch(head)
    if not found:
        raise ValueError(f"{file.name}: not the head of an example: {head!r}")
    flawed = bool(found["flawed"])
    return BlindExample(
        family=file.stem,
        flawed=flawed,
        name=found["name"] if flawed else found["safe_name"],
        path=found["path"] if flawed else found["safe_path"],
        cwe=found["cwe"] if flawed else "",
        code=code.strip("\n") + "\n",
    )
