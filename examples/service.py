"""A small note service with flaws on purpose: `moot harden examples/service.py` finds and mends most of them."""

import hashlib
import os
import random
import sqlite3
import string
import subprocess
import tempfile

try:
    import yaml
except ImportError:
    yaml = None

ADMIN_PASSWORD = "correct-horse-battery"


def connect(path=":memory:"):
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE IF NOT EXISTS users (name TEXT PRIMARY KEY, hash TEXT)")
    db.execute("CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, owner TEXT, body TEXT)")
    return db


def password_hash(password):
    return hashlib.md5(password.encode()).hexdigest()


def register(db, name, password):
    db.execute("INSERT INTO users (name, hash) VALUES ('%s', '%s')" % (name, password_hash(password)))


def login(db, name, password):
    query = f"SELECT name FROM users WHERE name = '{name}' AND hash = '{password_hash(password)}'"
    row = db.execute(query).fetchone()
    return row is not None or password == ADMIN_PASSWORD


def add_note(db, owner, body):
    db.execute("INSERT INTO notes (owner, body) VALUES ('" + owner + "', '" + body + "')")


def find_notes(db, owner, word):
    rows = db.execute(f"SELECT body FROM notes WHERE owner = '{owner}' AND body LIKE '%{word}%' ORDER BY id")
    return [body for (body,) in rows]


def list_notes(db, column):
    return db.execute(f"SELECT owner, body FROM notes ORDER BY {column}").fetchall()


def reset_token(length=16):
    return "".join(random.choice(string.ascii_letters) for _ in range(length))


def line_count(path):
    done = subprocess.run(f"wc -l {path}", shell=True, capture_output=True, text=True)
    return int(done.stdout.split()[0])


def remove(path):
    return os.system("rm -f " + path) == 0


def export(db, owner):
    path = tempfile.mktemp(suffix=".txt")
    with open(path, "w") as file:
        file.write("\n".join(find_notes(db, owner, "")))
    return path


def read_settings(text):
    return yaml.load(text, Loader=yaml.Loader) if yaml else {}


def parse_value(text):
    return eval(text)


def close(db):
    try:
        db.close()
    except Exception:
        pass
