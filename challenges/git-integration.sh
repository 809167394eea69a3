#!/usr/bin/env bash
# Git: every version of a session is a commit on its own branch; the user's checkout, hooks and index stay untouched.
# switch off: BRANCH=
# then fails: branch
CHALLENGE="git integration"
source "$(dirname "$0")/lib.sh"
BRANCH=${BRANCH---branch}
cp -r "$ROOT/examples/solve" repository
cd repository
git init -q && git config user.name you && git config user.email you@example.org
printf '#!/bin/sh\ntouch "%s/hook-ran"\n' "$WORK" >.git/hooks/post-commit && chmod +x .git/hooks/post-commit
git add . && git -c core.hooksPath=/dev/null commit -qm start
before=$(git rev-parse HEAD)
# shellcheck disable=SC2086
moot solve - --tests test_largest.py -m script:replies.yaml --json -q $BRANCH <task.md >"$WORK/result.json"
id=$(session_of "$WORK/result.json")
expect branch "$(read_json "$WORK/result.json" 'it["branch"]')" "debate/$id"
expect "commits on the branch" "$(git rev-list --count "$before..debate/$id")" 2
prove "two attempts are two commits on debate/$id"
contains "$(git show "debate/$id:largest.py")" "default=None" || fail "the tip is not the solution"
prove "the tip of the branch is the solution"
expect "HEAD" "$(git rev-parse HEAD)" "$before"
expect "checkout" "$(git status --porcelain)" ""
[ ! -e "$WORK/hook-ran" ] || fail "a hook of the repository ran"
prove "HEAD, index and checkout are as before, and no hook of the repository ran"
expect "SQL versions" "$(sql "SELECT count(*) FROM code_versions")" 2
prove "SQL: code_versions has the same two versions"
finish
