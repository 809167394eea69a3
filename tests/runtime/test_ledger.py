"""What a session may spend: the limits to the last call, token and dollar, and the sums that are told."""

import pytest

from moot.core.errors import SessionStopped
from moot.core.types import Limits, ModelCall, Spend, Usage
from moot.runtime.model_calls import Ledger
from moot.text.render import estimate_tokens

CALL = ModelCall(
    seat="red", phase="test", round=1, system="be brief", prompt="a prompt that is longer than the system's"
)
TOKENS = estimate_tokens(CALL.system) + estimate_tokens(CALL.prompt)


def make_ledger(limits: Limits, *usages: Usage) -> Ledger:
    ledger = Ledger(limits)
    for usage in usages:
        ledger.add("a:b", usage)
    return ledger


def count_admitted(ledger: Ledger) -> int:
    """How many calls may be under way at once."""
    for number in range(20):
        try:
            assert ledger.reserve(CALL) == TOKENS
        except SessionStopped as cut:
            assert cut.kind == "budget_exhausted"
            return number
    return 20


@pytest.mark.parametrize(
    ("limits", "usages", "calls"),
    [
        (Limits(), [Usage(input_tokens=10**6, usd=10.0)], 20),
        (Limits(max_calls=3), [], 3),
        (Limits(max_calls=3), [Usage(), Usage()], 1),
        (Limits(max_calls=3), [Usage()] * 3, 0),
        (Limits(max_tokens=TOKENS), [], 1),
        (Limits(max_tokens=TOKENS - 1), [], 0),
        (Limits(max_tokens=3 * TOKENS), [], 3),
        (Limits(max_tokens=3 * TOKENS + 7), [Usage(input_tokens=5, output_tokens=3)], 2),
        (Limits(max_tokens=3 * TOKENS + 8), [Usage(input_tokens=5, output_tokens=3)], 3),
        (Limits(max_usd=0.5), [Usage(usd=0.25)], 20),
        (Limits(max_usd=0.5), [Usage(usd=0.25), Usage(usd=0.25)], 0),
        (Limits(max_usd=0.0), [], 0),
        (Limits(max_usd=0.5), [Usage(usd=None)], 20),
    ],
)
def test_a_limit_admits_what_fits_and_nothing_more(limits: Limits, usages: list[Usage], calls: int) -> None:
    assert count_admitted(make_ledger(limits, *usages)) == calls


@pytest.mark.parametrize("limits", [Limits(max_calls=2), Limits(max_tokens=2 * TOKENS)])
def test_a_call_that_brought_nothing_gives_its_place_back(limits: Limits) -> None:
    ledger = Ledger(limits)
    for _ in range(5):
        ledger.release(ledger.reserve(CALL))
    assert count_admitted(ledger) == 2 and ledger.calls == 0


@pytest.mark.parametrize(
    ("limits", "flag"),
    [(Limits(max_calls=0), "--max-calls"), (Limits(max_tokens=0), "--max-tokens"), (Limits(max_usd=0), "--max-usd")],
)
def test_the_reason_names_the_option_that_sets_the_limit(limits: Limits, flag: str) -> None:
    with pytest.raises(SessionStopped, match=flag):
        Ledger(limits).reserve(CALL)


@pytest.mark.parametrize(
    ("prices", "usd"),
    [([0.25, 0.5], 0.75), ([None, 0.5], None), ([0.5, None], None), ([0.1] * 3, 0.3), ([1e-8, 4e-9], 1e-8)],
)
def test_the_price_of_a_model_is_the_exact_sum_or_unknown(prices: list[float | None], usd: float | None) -> None:
    ledger = make_ledger(Limits(), *(Usage(input_tokens=5, output_tokens=3, usd=price) for price in prices))
    count = len(prices)
    assert ledger.spends == {"a:b": Spend(calls=count, input_tokens=5 * count, output_tokens=3 * count, usd=usd)}


def test_the_sums_are_over_all_models() -> None:
    ledger = make_ledger(Limits(), Usage(input_tokens=5, output_tokens=3, usd=0.25), Usage(input_tokens=1, usd=0.25))
    ledger.add("c:d", Usage(input_tokens=7, output_tokens=1, usd=1.0))
    ledger.add("e:f", Usage(output_tokens=2, usd=None))
    assert (ledger.calls, ledger.tokens, ledger.usd) == (4, 19, 1.5)
