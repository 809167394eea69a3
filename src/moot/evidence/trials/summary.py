"""Describes test results in words: what passed, and no more."""

import re
from collections.abc import Sequence


def format_passed(kinds: Sequence[tuple[int, int, str]], *, whole: bool) -> str:
    """`passes the 2 given tests and 1 of 3 examples of the task`, from passed, total and kind. If not `whole`, it adds
    that nothing else was tested."""
    ran = [format_count(passed, of, what) for passed, of, what in kinds if of]
    more = "" if whole else "; nothing else was tested"
    return f"passes {', '.join(ran[:-1])}{' and ' if ran[:-1] else ''}{ran[-1]}{more}" if ran else ""


def format_count(passed: int, of: int, what: str) -> str:
    """`the 2 given tests`, or `1 of 2 given tests`."""
    return f"the {of} {pluralise(of, what)}" if passed == of else f"{passed} of {of} {pluralise(of, what)}"


def pluralise(many: int, what: str) -> str:
    """`test that …` as `tests that …` where there are several."""
    return what if many == 1 else re.sub(r"\b(test|example)\b", r"\1s", what)


def format_in_process(many: int, of: int, why: str, *, decided: int = 0) -> str:
    """`2 of 5 tests passed in process, where the code can fake a pass (…)`; nothing where none did."""
    if not many:
        return ""
    enough = f"; of {decided} the code itself decided, which proves nothing" if decided else ""
    return f"{many} of {of} {pluralise(of, 'test')} passed in process, where the code can fake a pass ({why}){enough}"
