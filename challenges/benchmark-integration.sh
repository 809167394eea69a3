#!/usr/bin/env bash
# Benchmark: `moot bench` judges by hidden tests. A solution that prints "all tests passed" scores zero.
# switch off: HIDDEN=off
# then fails: right answers
CHALLENGE="benchmark integration"
source "$(dirname "$0")/lib.sh"
mkdir -p tasks/double
cat >tasks/double/task.md <<'MD'
Write `double(number)`: the number times two.
MD
cat >tasks/double/test_hidden.py <<'PY'
from solution import double


def test_double() -> None:
    assert double(3) == 6 and double(-1) == -2
PY
[ "${HIDDEN:-on}" = on ] || printf 'def test_nothing() -> None:\n    pass\n' >tasks/double/test_hidden.py
boast='print(\"all tests passed\")\n\n\ndef double(number):\n    return 6\n'
echo "- {always: true, reply: \"CODE:\n\`\`\`python\n$boast\`\`\`\n\"}" >boasting.yaml
echo "- {always: true, reply: \"CODE:\n\`\`\`python\ndef double(number):\n    return 2 * number\n\`\`\`\n\"}" >honest.yaml
for who in boasting honest; do
  moot bench run custom tasks -m "script:$who.yaml" --arm single --yes -q --json --out "$who" >"$who.json" 2>"$who.log" || true
done
right='[arm["right"]["count"] for arm in it["arms"]]'
expect "right answers of the boasting model" "$(read_json boasting.json "$right")" "[0]"
expect "right answers of the honest model" "$(read_json honest.json "$right")" "[1]"
prove "hidden tests judge: the boast scores 0, the right answer 1"
[ "$(sql "SELECT count(*) FROM debate_sessions WHERE status = 'completed'")" -ge 2 ] || fail "the tasks are not sessions"
prove "SQL: every task of every arm is a session in the store"
finish
