from solution import moving_median


def test_odd_and_even():
    assert moving_median([1, 5, 2, 8], 3) == [2, 5]
    assert moving_median([1, 5, 2, 8], 2) == [3, 3.5, 5]
    assert moving_median([4.0], 1) == [4.0]


def test_edges():
    assert moving_median([], 1) == []
    assert moving_median([1, 2], 3) == []
    assert moving_median([3, 1, 2], 3) == [2]


def test_size_below_one():
    try:
        moving_median([1], 0)
    except ValueError:
        return
    raise AssertionError("a size of 0 must be refused")
