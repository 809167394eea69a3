from solution import workdays


def test_weeks():
    assert workdays("2026-03-02", "2026-03-06") == 5
    assert workdays("2026-03-02", "2026-03-08") == 5
    assert workdays("2026-03-01", "2026-03-31") == 22


def test_single_days():
    assert workdays("2026-03-02", "2026-03-02") == 1
    assert workdays("2026-03-01", "2026-03-01") == 0


def test_order_and_long_spans():
    assert workdays("2026-03-06", "2026-03-02") == 0
    assert workdays("2024-02-28", "2024-03-01") == 3
    assert workdays("2000-01-01", "2000-12-31") == 260
