#!/usr/bin/env bash
# Gates: a session waits durably for a person, survives kill -9 of the server, and is decided exactly once.
# switch off: GATES='{"enabled": false}'
# then fails: status
CHALLENGE="approval gate"
source "$(dirname "$0")/lib.sh"
GATES=${GATES:-'{"enabled": true, "points": ["defense"]}'}
start_server
code='import sqlite3\n\n\ndef find(db: sqlite3.Connection, name):\n    return db.execute(\"SELECT * FROM t WHERE n = '"'"'\" + name + \"'"'"'\")\n'
http POST /v1/debates "{\"protocol\": \"harden\", \"input\": {\"files\": {\"app.py\": \"$code\"}}, \"gates\": $GATES}" >begun.txt
expect "POST" "$(head -1 begun.txt)" 202
id=$(sed 1d begun.txt >begun.json; read_json begun.json 'it["id"]')
key=${id//-/}
wait_until "SELECT 1 FROM debate_sessions WHERE id = '$key' AND (waiting_on IS NOT NULL OR status NOT IN ('pending', 'running'))" >/dev/null
expect "status while nobody has decided" "$(sql "SELECT status FROM debate_sessions WHERE id = '$key'")" paused
expect "open gates in SQL" "$(sql "SELECT count(*) FROM gates WHERE session_id = '$key' AND decision IS NULL")" 1
prove "the session waits at its gate, and the gate is in the store"
kill_server
start_server
http GET "/v1/debates/$id/gates" >gates.txt
grep -q '"diff"' gates.txt || fail "the gate shows no diff"
prove "after kill -9 and a new start the gate is still open and shows the diff"
expect "approve" "$(http POST "/v1/debates/$id/approve" '{"reason": "looks right"}' | head -1)" 200
wait_until "SELECT 1 FROM debate_sessions WHERE id = '$key' AND status = 'completed'" >/dev/null
prove "approved over HTTP, the session runs to its end"
expect "a second decision" "$(http POST "/v1/debates/$id/reject" '{"reason": "too late"}' | head -1)" 409
expect "decision in SQL" "$(sql "SELECT count(*) FROM gates WHERE session_id = '$key' AND decision LIKE '%looks right%'")" 1
prove "a second decision gets 409, and the first one stands with its reason"
finish
