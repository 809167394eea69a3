from solution import compress


def test_letters():
    assert compress("aaab") == "a3b"
    assert compress("abc") == "abc"
    assert compress("") == ""
    assert compress("aAAa") == "aA2a"
    assert compress("x" * 12) == "x12"


def test_digits():
    assert compress("77a") == "\\72a"
    assert compress("7") == "\\7"


def test_backslash():
    assert compress("\\\\b") == "\\\\2b"
