from solution import seconds


def test_read():
    assert seconds("1h30m") == 5400
    assert seconds("2h 5s") == 7205
    assert seconds("90s") == 90
    assert seconds("0m") == 0
    assert seconds(" 1H 2M 3S ") == 3723


def is_refused(text):
    try:
        seconds(text)
    except ValueError:
        return True
    return False


def test_refused():
    for text in ("", "  ", "5", "m", "5m1h", "1h1h", "1 h", "-1s", "1.5h", "1h2"):
        assert is_refused(text), text
