from solution import slug


def test_words():
    assert slug("Hello, World!") == "hello-world"
    assert slug("one") == "one"
    assert slug("A b  C") == "a-b-c"


def test_edges():
    assert slug("") == "untitled"
    assert slug("---") == "untitled"
    assert slug("!x!") == "x"
    assert slug("Café au lait") == "caf-au-lait"
    assert slug("2 + 2 = 4") == "2-2-4"
    assert slug("a_b") == "a-b"
