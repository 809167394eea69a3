#!/usr/bin/env bash
# Tree: leads condense what their people said for the root, the root delegates downwards, and the record proves both.
# switch off: MOOT_DEBATE_TOPOLOGY=graph_mesh
# then fails: relays
CHALLENGE="tree topology"
source "$(dirname "$0")/lib.sh"
export MOOT_DEBATE_TOPOLOGY=${MOOT_DEBATE_TOPOLOGY:-tree} MOOT_MODEL=script:replies.yaml
for role in architect proposer generator reviewer critic optimizer; do
  printf '[[agents]]\nrole = "%s"\nmodel = "script:replies.yaml"\n' "$role"
done >team.toml
cat >replies.yaml <<'YAML'
- {phase: relay, seat: reviewer, always: true, reply: {turns: {"1": "A: teams wait"}}}
- {phase: relay, always: true, reply: {turns: {"1": "A: short", "2": "B: short"}}}
- {phase: delegation, seat: architect, always: true, reply: {parts: {proposer: Mind the cost., optimizer: Keep the deployment., reviewer: Be strict.}}}
- {phase: delegation, always: true, reply: {parts: {generator: Look at the tests., critic: Look at the cost.}}}
- {phase: critique, seat: critic, always: true, reply: {points: [{point: "The teams wait for each other every week, and nobody has said how long or why that is.", evidence: "", candidate: A, stance: disagree}], tests: []}}
- {phase: critique, always: true, reply: {points: [], tests: []}}
- {phase: review, always: true, reply: {scores: []}}
- {phase: convergence, always: true, reply: {ranking: [A, B], reason: It is cheaper., confidence: 0.4}}
- {seat: proposer, always: true, reply: {position: Split it., arguments: [teams wait], limits: []}}
- {always: true, reply: {position: Keep it., arguments: [it works], limits: []}}
YAML
moot debate "Should the service be split in two?" --topic --team team.toml --rounds 1 --planning off --json -q >result.json || true
[ "$(read_json result.json 'len(it["relays"])')" -ge 1 ] || fail "relays: no lead condensed anything for the root"
prove "the reviewer, which leads the critic, condensed the critic's turn for the root"
id=$(session_of result.json)
[ "$(sql "SELECT count(*) FROM debate_turns WHERE phase = 'relay' AND agent_id = 'reviewer'")" -ge 1 ] || fail "the relay is no turn in SQL"
prove "SQL: the relay is a turn of its own, with its author"
expect "topology in SQL" "$(sql "SELECT topology_type FROM debate_sessions")" tree
contains "$(read_json result.json 'it["delegations"]')" "Keep the deployment." || fail "the root delegated nothing"
prove "the root's delegation reached the optimizer"
moot show "$id" --seen >seen.txt
grep -q "condensed by\|by reviewer\|relay" seen.txt || fail "moot show --seen names no relay"
prove "moot show --seen says what came to whom through whom"
start_server
http GET "/v1/debates/$id/turns" >turns.txt
contains "$(cat turns.txt)" "A: teams wait" || fail "the relay is not among the turns over HTTP"
prove "HTTP: the relay is among the session's turns"
finish
