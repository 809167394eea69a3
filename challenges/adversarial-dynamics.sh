#!/usr/bin/env bash
# Adversarial dynamics: red attacks the leading solution, blue patches it, and only a patch that keeps the tests counts.
# switch off: MOOT_DEBATE_ADVERSARIAL=false
# then fails: attacks
CHALLENGE="adversarial dynamics"
source "$(dirname "$0")/lib.sh"
export MOOT_DEBATE_ADVERSARIAL=${MOOT_DEBATE_ADVERSARIAL:-true}
cat >replies.yaml <<'YAML'
- seat: red
  contains: attack
  reply: {vulnerabilities: [], overall_risk: 0.0}
- always: true
  reply: |
    CODE:
    ```python
    import sqlite3


    def find(db: sqlite3.Connection, name: str):
        return db.execute("SELECT age FROM people WHERE name = '" + name + "'").fetchall()
    ```
YAML
cat >test_find.py <<'PY'
import sqlite3

from solution import find


def test_finds() -> None:
    db = sqlite3.connect(":memory:")
    db.execute("CREATE TABLE people (name TEXT, age INT)")
    db.execute("INSERT INTO people VALUES ('ann', 41)")
    assert find(db, "ann") == [(41,)] and find(db, "bob") == []
PY
export MOOT_MODEL=script:replies.yaml
moot debate "Write find(db, name): the ages of people with this name, from the table people(name, age)." --tests test_find.py --json -q >result.json || true
[ "$(read_json result.json 'len(it["attacks"])')" -ge 1 ] || fail "attacks: the solution was not attacked"
prove "the leading solution was attacked although its tests pass"
code=$(read_json result.json 'it["code"]')
case $code in *"' + name + '"* | *'" + name + "'*) fail "the injection is still in the code" ;; esac
prove "the query is built with a parameter now"
expect "tests of the patched code" "$(read_json result.json 'it["passed"] == it["of"] and it["of"] > 0')" true
prove "the patched code passes the same tests, run in the sandbox"
[ "$(sql "SELECT count(*) FROM code_versions")" -ge 2 ] || fail "the versions before and after are not in the store"
prove "SQL: the versions before and after the attack are kept"
finish
