"""CSP/1: what is written is read back, whatever stands in it; what people write by hand is read as well."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.core.errors import UsageError
from moot.text.csp import (  # fmt: skip
    MODE,
    RESOLUTIONS,
    FailureRequest,
    PlanRequest,
    Request,
    Synthesis,
    read_request,
    read_synthesis,
    write_request,
    write_synthesis,
)

ODD = st.text(alphabet=st.sampled_from("ab ,:[]\"'\\\n\r\t|{}é\u2028 REQ:STAKES:ROUNDS:ERRORS:"), max_size=20)
TEXTS = st.one_of(
    ODD, st.text(max_size=20), st.sampled_from(["REQ:x ROUNDS:2", " ERRORS:[a]", '"', "[a, b]", "a, b", "CSP/1"])
)
FILLED = TEXTS.filter(str.strip)
LISTS = st.lists(TEXTS, max_size=4).map(tuple)
REQUESTS = st.one_of(
    st.builds(PlanRequest, FILLED, st.integers(1, 3), st.sampled_from(["", "low", "medium", "high"])),
    st.builds(FailureRequest, FILLED, LISTS, LISTS),
)
SYNTHESES = st.builds(
    Synthesis, st.sampled_from(RESOLUTIONS), TEXTS, LISTS, TEXTS, TEXTS, st.one_of(st.none(), st.integers(0, 9))
)


@settings(max_examples=500)
@given(REQUESTS)
def test_a_request_is_read_as_it_was_written(request: Request) -> None:
    line = write_request(request)
    assert "\n" not in line and read_request(line) == request
    assert read_request(f"{MODE}\n{line}\n") == request


@settings(max_examples=500)
@given(SYNTHESES)
def test_a_synthesis_is_read_as_it_was_written(synthesis: Synthesis) -> None:
    assert read_synthesis(write_synthesis(synthesis)) == synthesis


@pytest.mark.parametrize(
    ("line", "request_"),
    [
        ("DEBATE REQ:delete the cache ROUNDS:2 STAKES:high", PlanRequest("delete the cache", 2, "high")),
        ("DEBATE REQ:delete REQ:x ROUNDS:1", PlanRequest("delete REQ:x")),
        ("DEBATE REQ:delete the cache", PlanRequest("delete the cache")),
        ("DEBATE REQ: delete: all of [a, b] STAKES:LOW ROUNDS:1", PlanRequest("delete: all of [a, b]", 1, "low")),
        ('DEBATE REQ:say "hi" to all ROUNDS:1 STAKES:low', PlanRequest('say "hi" to all', 1, "low")),
        (
            "DEBATE_FAILURE REQ:fix auth ATTEMPTS:[new import, clean install] ERRORS:[no module, no module]",
            FailureRequest("fix auth", ("new import", "clean install"), ("no module", "no module")),
        ),
        ("DEBATE_FAILURE REQ:fix auth ATTEMPTS:one ERRORS:[]", FailureRequest("fix auth", ("one",), ())),
    ],
)
def test_requests_written_by_hand(line: str, request_: Request) -> None:
    assert read_request(line) == request_


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "begins with"),
        ("please debate this", "begins with"),
        ("DEBATE", "has nothing"),
        ("DEBATE REQ:", "has nothing"),
        ("DEBATE_FAILURE REQ ATTEMPTS:[a] ERRORS:[b]", "has nothing"),
        ("DEBATE REQ:x ROUNDS:4", "1, 2 or 3"),
        ("DEBATE REQ:x ROUNDS:many", "1, 2 or 3"),
        ("DEBATE REQ:x STAKES:low ROUNDS:1 STAKES:high", "1, 2 or 3"),
        ("DEBATE REQ:x STAKES:critical", "low, medium or high"),
    ],
)
def test_what_is_wrong_with_a_request_is_said(text: str, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        read_request(text)


def test_the_lines_of_the_seed_are_read() -> None:
    text = "RESOLUTION MODIFY\nRATIONALE no way back\nMODIFICATIONS [take a backup, ask first]\nNEXT_ATTEMPT_LIMIT 2\n"
    assert read_synthesis(text) == Synthesis("MODIFY", "no way back", ("take a backup", "ask first"), "", "", 2)
    assert read_synthesis("noise\nRESOLUTION ESCALATE\nESCALATE_TO human").escalate_to == "human"


@pytest.mark.parametrize("text", ["", "RESOLUTION MAYBE", "RESOLUTION PROCEED\nRESOLUTION ESCALATE",
                                  "RESOLUTION RETRY\nNEXT_ATTEMPT_LIMIT lots"])  # fmt: skip
def test_lines_that_do_not_resolve_are_refused(text: str) -> None:
    with pytest.raises(UsageError):
        read_synthesis(text)
