from solution import top_words


def test_order():
    assert top_words("The cat. The dog!", 2) == [("the", 2), ("cat", 1)]
    assert top_words("b a c", 3) == [("a", 1), ("b", 1), ("c", 1)]
    assert top_words("b b a a c", 2) == [("a", 2), ("b", 2)]


def test_apostrophes():
    assert top_words("Don't, don't 'quote'", 5) == [("don't", 2), ("quote", 1)]


def test_edges():
    assert top_words("", 3) == []
    assert top_words("one", 0) == []
    assert top_words("x1y 22", 5) == [("x", 1), ("y", 1)]
