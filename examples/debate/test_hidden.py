from solution import largest


def test_order() -> None:
    assert largest([9, 4, 2]) == 9


def test_empty() -> None:
    assert largest([]) is None
