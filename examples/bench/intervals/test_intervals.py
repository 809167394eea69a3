from solution import merge


def test_merged():
    assert merge([[5, 8], [1, 3], [4, 4]]) == [[1, 8]]
    assert merge([[1, 10], [2, 3]]) == [[1, 10]]
    assert merge([[1, 2], [2, 2], [2, 6]]) == [[1, 6]]


def test_apart():
    assert merge([[1, 2], [4, 5]]) == [[1, 2], [4, 5]]
    assert merge([]) == []
    assert merge([[-3, -1], [1, 1], [0, 0]]) == [[-3, 1]]


def test_given_list_stays():
    given = [[3, 4], [1, 2]]
    merge(given)
    assert given == [[3, 4], [1, 2]]
