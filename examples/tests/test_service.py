"""What the service is meant to do; true before and after hardening."""

import importlib.util
import os
import sys
from pathlib import Path

import pytest


def load():
    """The service beside this folder, or wherever the tests were laid beside it."""
    here = Path(__file__).resolve().parent
    path = next(p for p in (here / "service.py", here.parent / "service.py", Path("service.py").resolve()) if p.exists())
    spec = importlib.util.spec_from_file_location("service", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["service"] = module
    spec.loader.exec_module(module)
    return module


service = load()


@pytest.fixture
def db():
    connection = service.connect()
    yield connection
    service.close(connection)


def test_login_with_the_right_password(db):
    service.register(db, "ann", "secret")
    assert service.login(db, "ann", "secret")


def test_no_login_with_a_wrong_one(db):
    service.register(db, "ann", "secret")
    assert not service.login(db, "ann", "wrong")
    assert not service.login(db, "bob", "secret")


def test_a_password_is_not_stored_as_it_is():
    assert service.password_hash("secret") == service.password_hash("secret") != "secret"


def test_notes_are_found_by_word(db):
    service.add_note(db, "ann", "buy milk")
    service.add_note(db, "ann", "call bob")
    service.add_note(db, "bob", "buy bread")
    assert service.find_notes(db, "ann", "buy") == ["buy milk"]
    assert service.find_notes(db, "ann", "") == ["buy milk", "call bob"]


def test_notes_are_listed_in_order(db):
    service.add_note(db, "bob", "one")
    service.add_note(db, "ann", "two")
    assert service.list_notes(db, "owner") == [("ann", "two"), ("bob", "one")]


def test_a_token_has_the_length_asked_for():
    assert len(service.reset_token(20)) == 20
    assert service.reset_token() != service.reset_token()


def test_lines_are_counted_and_files_removed(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("a\nb\n")
    assert service.line_count(str(path)) == 2
    assert service.remove(str(path))
    assert not path.exists()


def test_an_export_holds_the_notes(db):
    service.add_note(db, "ann", "buy milk")
    path = service.export(db, "ann")
    try:
        with open(path) as file:
            assert file.read() == "buy milk"
    finally:
        os.remove(path)


def test_settings_are_read():
    expected = {"limit": 3} if service.yaml else {}
    assert service.read_settings("limit: 3") == expected


def test_values_are_read():
    assert service.parse_value("[1, 'two']") == [1, "two"]
