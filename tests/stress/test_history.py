"""The checker of histories is checked: whatever is lost, repeated or made up, it says so."""

from stress.history import STRICT, Asked, History, Request, Rules, check_calls

CRASHED = Rules(crashes=True)


def request(number: int, key: str = "k", at: float = 1.0, fault: str = "") -> Request:
    return Request(number, key, "stress-x-1", at, fault, None if fault else at + 0.1)


def asked(number: int | None, key: str = "k", at: float = 2.0, put: int = 1) -> Asked:
    return Asked("s", 7, key, at, put, number, number is not None)


def troubles(requests: list[Request], recorded: list[Asked], rules: Rules = STRICT) -> list[str]:
    found = History()
    check_calls({each.number: each for each in requests}, recorded, rules, found)
    return found.troubles


def test_a_call_recorded_once_is_no_trouble() -> None:
    assert troubles([request(1)], [asked(1)]) == []
    assert troubles([request(1, fault="500"), request(2)], [asked(2, put=2)]) == []


def test_what_does_not_agree_is_told() -> None:
    assert "asked and never recorded" in troubles([request(1)], [])[0]
    assert "1 more than recorded" in troubles([request(1), request(2)], [asked(2)])[0]
    assert "recorded 2 times" in troubles([request(1)], [asked(1), asked(1)])[0]
    assert "another question" in troubles([request(1)], [asked(1), asked(9, "other")])[0]
    assert "cut off" in troubles([request(1, fault="cut")], [asked(1)])[0]
    assert "holds no answer" in troubles([request(1, fault="500")], [asked(None)])[0]


def test_after_a_crash_a_call_may_be_made_again_but_not_once_it_is_recorded() -> None:
    again = [request(1), request(2, at=1.5)]
    assert troubles(again, [asked(2)], CRASHED) == []
    assert "asked 1 times after it was recorded" in troubles([request(1), request(2, at=9.0)], [asked(1)], CRASHED)[0]
