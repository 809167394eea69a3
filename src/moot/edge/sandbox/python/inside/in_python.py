"""Runs Python tests inside the sandbox and signs the results; of Moot only the `in_` files are there."""

from __future__ import annotations

import marshal
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def main() -> int:
    spec_path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "spec.bin")
    with open(spec_path, "rb") as file:
        spec = marshal.load(file)
    os.unlink(spec_path)
    return run(spec)


def run(spec: Any) -> int:
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path.insert(0, here)
    from moot.edge.sandbox.python.inside import in_honest
    from moot.edge.sandbox.python.inside.in_record import SelectedTests, SignedReport

    record = SignedReport(spec.pop("key"), spec["seconds"])
    root = os.getcwd()
    given = frozenset(os.path.join(root, path) for path in spec["given"])
    chosen = SelectedTests(spec["only"], spec["forced"])
    chosen.leave_out(spec["known"], spec["late"])
    if spec["apart"]:
        in_honest.install_nothing()
        in_link = _module("moot.edge.sandbox.python.inside.in_link")
        record.link = in_link.Link(frozenset(spec["packages"]), frozenset(spec["names"]))
        in_link.install(record.link)
    else:
        in_honest.install(given, any_is_known=spec["any"])
    tests = (_pytest_run if spec["pytest"] and _has_pytest() else _plain_run)(spec, record, given, chosen)
    cover = _module("moot.edge.sandbox.python.inside.in_cover").Cover(spec["cover"]) if spec["cover"] else None
    # Older versions put the script's folder there too.
    sys.path[:] = [place for place in sys.path if os.path.abspath(place) != here]
    # The code may bring a `moot` of its own.
    record.own = [sys.modules.pop(name) for name in list(sys.modules) if name.split(".")[0] == "moot"]
    # Only now, so that no file of the code replaces a module of the runner.
    front = [os.path.normpath(os.path.join(root, folder)) for folder in spec["front"]]
    sys.path[:0] = front
    sys.path += [os.path.join(root, folder) for folder in spec["back"]]
    os.environ["PYTHONPATH"] = os.pathsep.join(front)
    if cover:
        record.arm = cover.start
        cover.start()
    status = tests() if spec["tests"] else 0
    if cover:
        cover.stop()
        record.report_coverage(cover.count_coverage())
    record.report_finished()
    return status


def _module(name: str) -> Any:
    __import__(name)
    return sys.modules[name]


def _has_pytest() -> bool:
    try:
        return bool(_module("pytest"))
    except ModuleNotFoundError:
        return False


def _pytest_run(spec: Any, record: Any, given: Any, chosen: Any) -> Any:
    from moot.edge.sandbox.python.inside import in_pytest

    return lambda: in_pytest.run(spec["tests"], record, given, chosen, doctests=spec["doctests"])


def _plain_run(spec: Any, record: Any, given: Any, chosen: Any) -> Any:
    from moot.edge.sandbox.python.inside import in_plain, in_script

    # Load `unittest` and `doctest` only if used.
    unittest = _module("moot.edge.sandbox.python.inside.in_unittest") if spec["unittest"] else None
    doctest = _module("doctest") if spec["doctests"] else None
    if record.link is not None:
        setting = _module("moot.edge.sandbox.python.inside.in_link").FarSetting(record.link, unittest, doctest)
    else:
        setting = in_script.ScriptSetting(spec["modules"], spec["entry"], unittest, doctest)
    return lambda: in_plain.run(spec["tests"], record, given, setting, chosen)


if __name__ == "__main__":
    ended = main()
    sys.stdout.flush()
    sys.stderr.flush()
    # Threads and exit handlers that the tests left behind must not change the status.
    os._exit(ended)
