from solution import to_roman


def test_small():
    assert [to_roman(n) for n in (1, 3, 4, 5, 9, 10)] == ["I", "III", "IV", "V", "IX", "X"]


def test_large():
    assert to_roman(1994) == "MCMXCIV"
    assert to_roman(3999) == "MMMCMXCIX"
    assert to_roman(444) == "CDXLIV"


def is_refused(number):
    try:
        to_roman(number)
    except ValueError:
        return True
    return False


def test_refused():
    assert all(is_refused(number) for number in (0, -1, 4000))
