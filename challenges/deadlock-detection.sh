#!/usr/bin/env bash
# Deadlock: seats that repeat themselves are noticed, and the session ends with what it has instead of paying on.
# switch off: MOOT_DEBATE_MAX_ROUNDS=1
# then fails: stop reason
CHALLENGE="deadlock detection"
source "$(dirname "$0")/lib.sh"
cat >replies.yaml <<'YAML'
- {phase: critique, always: true, reply: {points: [], tests: []}}
- {phase: review, always: true, reply: {scores: []}}
- {seat: proposer, phase: convergence, always: true, reply: {ranking: [A, B], reason: A is simpler., confidence: 0.4}}
- {phase: convergence, always: true, reply: {ranking: [B, A], reason: B is safer., confidence: 0.4}}
- {seat: proposer, always: true, reply: "POSITION: Keep one service. It is simpler.\n\nARGUMENT: One thing to run."}
- {always: true, reply: "POSITION: Split it in two. It is safer.\n\nARGUMENT: A fault stays in one half."}
YAML
moot debate "Should the service be split in two?" --topic -m script:replies.yaml --rounds "${MOOT_DEBATE_MAX_ROUNDS:-5}" --json -q >result.json || true
expect "stop reason" "$(read_json result.json 'it["stop_reason"]')" unchanged
expect "rounds" "$(read_json result.json 'it["rounds"] < 5')" true
prove "the same positions and ballots twice: the debate ends after $(read_json result.json 'it["rounds"]') of 5 rounds and says why"
expect "rounds in SQL" "$(sql "SELECT max(round) FROM debate_turns")" "$(read_json result.json 'it["rounds"]')"
prove "SQL: no turn of a later round was asked for"
[ "$(read_json result.json 'len(it["dissent"])')" -ge 1 ] || fail "the dissent is lost"
prove "the dissent is kept"
finish
