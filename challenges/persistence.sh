#!/usr/bin/env bash
# Persistence: kill -9 in the middle of a session loses nothing, and no recorded answer is paid for twice.
# switch off: RESUME=off
# then fails: status
CHALLENGE=persistence
source "$(dirname "$0")/lib.sh"
cp -r "$ROOT/examples/solve" .
moot solve - --tests solve/test_largest.py -m script:solve/replies.yaml --json -q <solve/task.md >undisturbed.json
mv store.db undisturbed.db
# The same replies; the second attempt is slow enough to be killed while it is asked for.
sed 's/^  contains: Check whether the list is empty/  contains: Check whether the list is empty\n  delay_s: 600/' solve/replies.yaml >slow.yaml
moot solve - --tests solve/test_largest.py -m script:slow.yaml --json -q <solve/task.md >killed.json 2>/dev/null &
run=$!
wait_until "SELECT count(*) = 2 FROM debate_turns" >/dev/null
kill -9 "$run"
wait "$run" 2>/dev/null || true
[ ! -s killed.json ] || fail "the killed process had already answered"
id=$(moot list --json | python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["id"])')
cp solve/replies.yaml slow.yaml
[ "${RESUME:-on}" = off ] || moot resume "$id" --json -q >resumed.json
expect "status" "$(sql "SELECT status FROM debate_sessions")" completed
same='(it["outcome"], it["code"], it["passed"], it["of"], it["rounds"], it["calls"])'
expect "result" "$(read_json resumed.json "$same")" "$(read_json undisturbed.json "$same")"
prove "killed after two answers and resumed, the session has the result of an undisturbed run"
expect "answers in SQL" "$(sql "SELECT count(*), count(DISTINCT seq) FROM debate_turns")" "3|3"
prove "SQL: three answers, each once: those recorded before the kill were not asked for again"
moot session audit "$id" --verify >/dev/null || fail "the chain is broken"
prove "the record is one intact chain across the kill"
finish
