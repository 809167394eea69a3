from largest import largest


def test_one() -> None:
    assert largest([7]) == 7


def test_below_zero() -> None:
    assert largest([-3, -1]) == -1


def test_empty() -> None:
    assert largest([]) is None
