#!/usr/bin/env bash
# Reflexion: a failed attempt is analysed, the analysis reaches the next prompt, and what was learnt is kept.
# switch off: MOOT_SOLVE_ATTEMPTS=1
# then fails: outcome
CHALLENGE=reflexion
source "$(dirname "$0")/lib.sh"
cp -r "$ROOT/examples/solve" .
# The script answers the second attempt only if its prompt contains the reflection on the first.
moot solve - --tests solve/test_largest.py -m script:solve/replies.yaml --json -q <solve/task.md >result.json || true
expect outcome "$(read_json result.json 'it["outcome"]')" solved
expect "attempts" "$(read_json result.json 'len(it["attempts"])')" 2
prove "the first attempt fails a test, the second passes all: its prompt contained the reflection"
id=$(session_of result.json)
[ "$(sql "SELECT count(*) FROM debate_turns WHERE reflections LIKE '%whether the list is empty%'")" -ge 1 ] || fail "no reflection in debate_turns"
prove "SQL: debate_turns.reflections holds what went wrong and what to change"
expect "lessons" "$(sql "SELECT count(*) FROM lessons WHERE text LIKE '%list is empty%'")" 1
prove "SQL: what was learnt is a lesson for later sessions"
start_server
http GET "/v1/debates/${id}/turns" >turns.txt
expect "GET turns" "$(head -1 turns.txt)" 200
grep -q "ValueError when there is nothing to compare" turns.txt || fail "the root cause is not in the turns over HTTP"
prove "HTTP: the reflection's root cause is among the session's turns"
finish
