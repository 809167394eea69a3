from solution import wrap


def test_words():
    assert wrap("a bb  ccc", 4) == ["a bb", "ccc"]
    assert wrap("one two three", 20) == ["one two three"]
    assert wrap("", 5) == []
    assert wrap("   ", 5) == []


def test_long_words():
    assert wrap("abcdefg h", 3) == ["abc", "def", "g h"]
    assert wrap("a bcdefgh", 3) == ["a", "bcd", "efg", "h"]
    assert wrap("abcdef gh", 3) == ["abc", "def", "gh"]


def test_exact():
    assert wrap("aaa bbb", 3) == ["aaa", "bbb"]
    assert wrap("aa bbb", 6) == ["aa bbb"]
