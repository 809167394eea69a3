"""The server's figures, read back by the parser of those who write Prometheus's clients."""

from prometheus_client.parser import text_string_to_metric_families

from moot.surfaces.server.metrics import Metrics, session_figures


def read_figures(text: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    families = text_string_to_metric_families(text)
    return {(s.name, tuple(sorted(s.labels.items()))): s.value for family in families for s in family.samples}


def test_figures_are_read_back() -> None:
    metrics = Metrics()
    metrics.request("GET", "/v1/debates", 200, 0.03)
    metrics.request("GET", "/v1/debates", 200, 7.0)
    metrics.request("BREW", "/v1/debates/{id}/events", 418, 900.0)
    metrics.ends.labels("completed").inc()
    found = read_figures(metrics.text({("harden", "completed"): 2}, running=1, watched=3))
    where = (("method", "GET"), ("route", "/v1/debates"))
    other = (("method", "other"), ("route", "/v1/debates/{id}/events"))
    assert found["moot_http_requests_total", (*where, ("status", "200"))] == 2
    assert found["moot_http_requests_total", (*other, ("status", "418"))] == 1
    assert found["moot_http_request_seconds_bucket", (("le", "0.05"), *where)] == 1
    assert found["moot_http_request_seconds_bucket", (("le", "+Inf"), *where)] == 2
    assert found["moot_http_request_seconds_sum", where] == 7.03
    assert ("moot_http_request_seconds_sum", other) not in found  # it lasts as long as somebody watches
    assert found["moot_session_ends_total", (("how", "completed"),)] == 1
    assert (found["moot_sessions_running_here", ()], found["moot_readers", ()]) == (1, 3)
    assert found["moot_sessions", (("protocol", "harden"), ("status", "completed"))] == 2
    assert not [name for name, _ in found if name.endswith("_created")]


def test_a_label_cannot_write_a_line_of_its_own() -> None:
    name = 'x"} 1\nmoot_readers 7\n\\'
    told = session_figures({(name, "paused"): 1})
    assert read_figures(told) == {("moot_sessions", (("protocol", name), ("status", "paused"))): 1}


def test_two_servers_in_one_process_count_apart() -> None:
    one, two = Metrics(), Metrics()
    one.ends.labels("completed").inc()
    assert 'moot_session_ends_total{how="completed"} 1.0' in one.text({}, 0, 0)
    assert "moot_session_ends_total{" not in two.text({}, 0, 0)
