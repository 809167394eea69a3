from solution import first_mismatch


def test_balanced():
    assert first_mismatch("f(a[1])") == -1
    assert first_mismatch("") == -1
    assert first_mismatch('("]")') == -1


def test_closing():
    assert first_mismatch("(]") == 1
    assert first_mismatch("a)") == 1
    assert first_mismatch("([)]") == 2


def test_open():
    assert first_mismatch("(()") == 0
    assert first_mismatch("{}[(") == 2
    assert first_mismatch("()(") == 2


def test_lonely_quote():
    assert first_mismatch('"(') == 1
    assert first_mismatch('"a" (" )') == -1
