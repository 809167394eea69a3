"""Edge cases by language, and a stress scenario that always applies."""

from moot.core.types import Code, EdgeCase, Language, StressScenario

COMMON = (
    ("An empty value: empty text, empty list, zero", '"" / [] / 0', "A clear answer or a clear error, no crash"),
    ("A huge value: a text of 10 MB, a number past 64 bits", '"x" * 10_000_000', "Refused or handled within a limit"),
    (
        "Unicode: combining marks, right-to-left text, emoji, NUL",
        '"e\u0301 \u202e \U0001f600 \\0"',
        "Kept as it is, or refused",
    ),
)
ABSENT: dict[Language, tuple[str, str, str]] = {
    "python": ("None where a value is expected", "None", "A clear error, no AttributeError deep inside"),
    "javascript": (
        "undefined or null where a value is expected",
        "undefined",
        "A clear error, no TypeError deep inside",
    ),
    "typescript": (
        "undefined or null where a value is expected",
        "undefined",
        "A clear error, no TypeError deep inside",
    ),
    "go": ("A nil pointer, map, slice or interface", "nil", "An error value, no panic"),
}
LABELS: dict[Language, str] = {"python": "Python", "javascript": "JavaScript", "typescript": "TypeScript", "go": "Go"}
STRESS = StressScenario(
    id="STRESS-001",
    description="1000 concurrent requests",
    load="1000 callers at the same time, each with its own input",
    expected_behavior="Every call is answered or refused; memory, files and threads stay bounded; no update is lost",
)


def edge_cases(code: Code) -> tuple[EdgeCase, ...]:
    languages = list(dict.fromkeys(file.language for file in code.files))
    cases = [(f"{LABELS[language]}: {ABSENT[language][0]}", *ABSENT[language][1:]) for language in languages]
    cases += COMMON if languages else ()
    return tuple(
        EdgeCase(id=f"EDGE-{number:03}", description=what, input=given, expected=expected)
        for number, (what, given, expected) in enumerate(cases, start=1)
    )
