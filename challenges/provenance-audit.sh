#!/usr/bin/env bash
# Provenance: the record is a hash chain. A changed, removed or reordered entry is found, and a replay proves the result.
# switch off: AUDIT=show
# then fails: a changed entry
CHALLENGE="provenance audit"
source "$(dirname "$0")/lib.sh"
AUDIT=${AUDIT:-session audit --verify}
cp -r "$ROOT/examples/solve" .
moot solve - --tests solve/test_largest.py -m script:solve/replies.yaml --json -q <solve/task.md >result.json
id=$(session_of result.json)
moot session audit "$id" --verify >/dev/null || fail "an untouched record does not verify"
prove "the untouched record verifies"
rm solve/replies.yaml
moot session replay "$id" >/dev/null || fail "the replay differs"
prove "the session replays to the same result without a model"
cp store.db untouched.db
for attack in "UPDATE journal SET value = replace(value, 'max(numbers)', 'min(numbers)') WHERE value LIKE '%max(numbers)%'" \
  "DELETE FROM journal WHERE entry = (SELECT max(entry) - 2 FROM journal)" \
  "UPDATE journal SET elapsed = elapsed + 1 WHERE entry = 3" \
  "UPDATE journal SET entry = -entry WHERE entry IN (3, 4); UPDATE journal SET entry = 7 + entry WHERE entry < 0"; do
  cp untouched.db store.db
  while IFS= read -r -d ";" change; do sql "$change" >/dev/null; done <<<"$attack;"
  # shellcheck disable=SC2086
  ! moot $AUDIT "$id" >found.txt 2>&1 || fail "a changed entry was not found: $attack"
done
prove "SQL: a changed reply, a deleted entry, a changed time and two entries that changed places are each found (exit code 1)"
finish
