#!/usr/bin/env bash
# Condorcet: the candidate that beats every other in pairs wins, not the one with the most first places.
# switch off: METHOD=majority
# then fails: winner
CHALLENGE="condorcet voting"
source "$(dirname "$0")/lib.sh"
METHOD=${METHOD:-condorcet}
cat >ballots.json <<'JSON'
{"candidates": ["a", "b", "c"], "ballots": [
  {"voter": "1", "ranking": ["a", "b", "c"]}, {"voter": "2", "ranking": ["a", "b", "c"]}, {"voter": "3", "ranking": ["a", "b", "c"]},
  {"voter": "4", "ranking": ["b", "c", "a"]}, {"voter": "5", "ranking": ["b", "c", "a"]},
  {"voter": "6", "ranking": ["c", "b", "a"]}, {"voter": "7", "ranking": ["c", "b", "a"]}]}
JSON
moot vote ballots.json --method "$METHOD" --json >vote.json || true
expect winner "$(read_json vote.json 'it["winner"]')" b
prove "b beats a 4:3 and c 5:2 and wins, although a has the most first places"
cp -r "$ROOT/examples/votes" .
moot vote votes/cycle.json --method condorcet --json >cycle.json || true
expect "fallback of a cycle" "$(read_json cycle.json 'it["fallback_used"]')" true
prove "a cycle has no Condorcet winner: the count falls back to Borda and says so"
finish
