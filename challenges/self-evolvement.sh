#!/usr/bin/env bash
# Self-evolvement: a draft is run before anybody reads it, and more are written while none passes.
# switch off: MOOT_DEBATE_PHASES=proposal,critique,review,optimization,convergence
# then fails: drafts before the first argument
CHALLENGE=self-evolvement
source "$(dirname "$0")/lib.sh"
cat >replies.yaml <<'YAML'
- {contains: Solve this task, times: 2, reply: "CODE:\n```python\ndef largest(numbers):\n    return numbers[0] if numbers else None\n```\n"}
- {contains: Solve this task, always: true, reply: "CODE:\n```python\ndef largest(numbers):\n    return max(numbers, default=None)\n```\n"}
- {always: true, reply: {points: [], tests: []}}
YAML
cp "$ROOT/examples/debate/task.md" .
moot debate - -m script:replies.yaml --json -q <task.md >result.json || true
expect "drafts before the first argument" "$(sql "SELECT count(*) FROM debate_turns WHERE phase = 'self_evolvement'")" 3
prove "SQL: two drafts fail the task's example when they are run, so a third is asked for, and no more"
expect "outcome" "$(read_json result.json 'it["outcome"], it["grade"]')" '["agreed", "tested"]'
contains "$(read_json result.json 'it["code"]')" "max(numbers" || fail "the winner is not the draft that passes"
prove "the draft that passes wins; the vote of the first answers would have failed"
expect "calls" "$(read_json result.json 'it["calls"]')" 3
prove "nothing else was asked: no argument where a test has decided"
finish
