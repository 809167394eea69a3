#!/usr/bin/env bash
# Dehallucination: what is unclear is asked before work begins. An answer needs a quotation; without one it is an assumption.
# switch off: MOOT_DEBATE_PHASES=self_evolvement,proposal,critique,review,optimization,convergence
# then fails: clarifications
CHALLENGE=dehallucination
source "$(dirname "$0")/lib.sh"
cat >replies.yaml <<'YAML'
- contains: what is unclear in it
  reply:
    questions:
      - {question: "What does it return for an empty list?", category: edge_cases, priority: high}
      - {question: "May the list hold texts?", category: constraints, priority: medium}
- {contains: what is unclear in it, always: true, reply: {questions: []}}
- contains: Answer these questions
  always: true
  reply:
    answers:
      - {quote: None for an empty one, answer: It returns None., confidence: 0.95}
      - {quote: as everybody knows, answer: Only numbers., confidence: 0.95}
- {contains: It returns None., always: true, reply: "CODE:\n```python\ndef largest(numbers):\n    return max(numbers, default=None)\n```\n"}
- {always: true, reply: "CODE:\n```python\ndef largest(numbers):\n    return max(numbers)\n```\n"}
YAML
cp "$ROOT/examples/debate/task.md" .
export MOOT_DEBATE_CLARIFY=always
moot debate - -m script:replies.yaml --json -q <task.md >result.json || true
expect clarifications "$(read_json result.json 'sorted(c["source"] for c in it["clarifications"])')" '["assumption", "task"]'
prove "an answer that quotes the task is taken from it; one whose quotation is not there is an assumption"
expect "assumptions" "$(read_json result.json 'it["assumptions"]')" '["Only numbers."]'
prove "the result lists the assumption"
contains "$(read_json result.json 'it["code"]')" "default=None" || fail "the clarified words did not reach the draft"
prove "the answer reaches the drafts: the script writes right code only when it reads it"
[ "$(sql "SELECT count(*) FROM debate_turns WHERE phase = 'dehallucination'")" -ge 2 ] || fail "no turns in SQL"
prove "SQL: questions and answers are turns of their own phase"
start_server
http GET "/v1/debates/$(session_of result.json)/results" | sed 1d >http.json
expect "over HTTP" "$(read_json http.json 'len(it["result"]["clarifications"])')" 2
prove "HTTP: the same clarifications"
finish
