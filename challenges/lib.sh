# Shared by all challenges. Each runs the real product in a folder of its own and ends what it started.
# Usage: CHALLENGE="what it is about"; source lib.sh; …; finish
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export PATH="$ROOT/.venv/bin:$PATH" PYTHONDONTWRITEBYTECODE=1
WORK=$(mktemp -d "${TMPDIR:-/tmp}/moot-challenge.XXXXXX")
SERVER=""
PROVED=0
unset OPENAI_API_KEY ANTHROPIC_API_KEY OPENAI_BASE_URL MOOT_MODEL
export HOME="$WORK/home" XDG_CONFIG_HOME="$WORK/config" XDG_DATA_HOME="$WORK/data" MOOT_STORE="$WORK/store.db" NO_COLOR=1
mkdir -p "$HOME"
cd "$WORK"

clean_up() {
  [ -z "$SERVER" ] || kill_server
  rm -rf "$WORK"
}
trap clean_up EXIT

fail() { printf 'FAILED: %s\n' "$1" >&2; exit 1; }
prove() { printf 'proved: %s\n' "$1"; PROVED=$((PROVED + 1)); }
expect() { [ "$2" = "$3" ] || fail "$1: expected '$3', got '$2'"; }    # what it is, value, expected value
finish() { [ "$PROVED" -gt 0 ] || fail "nothing was proved"; printf '%s: %d of %d proved\n' "$CHALLENGE" "$PROVED" "$PROVED"; }

contains() { case $1 in *"$2"*) ;; *) return 1 ;; esac; }                   # TEXT PART
read_json() { python3 "$ROOT/challenges/tools.py" json "$@"; }         # FILE EXPRESSION (`it` is the document)
sql() { python3 "$ROOT/challenges/tools.py" sql "$MOOT_STORE" "$1"; }
http() { python3 "$ROOT/challenges/tools.py" http "$BASE$2" "$1" "${3:-}"; }    # METHOD PATH [BODY]; status on the first line
wait_until() { python3 "$ROOT/challenges/tools.py" wait "$MOOT_STORE" "$1"; }   # SQL that answers 1 when it is so
session_of() { read_json "$1" 'it["session_id"]'; }

start_server() {
  [ -n "${BASE:-}" ] || BASE="http://127.0.0.1:$(python3 "$ROOT/challenges/tools.py" port)"
  moot serve --port "${BASE##*:}" "$@" >"$WORK/server.log" 2>&1 &
  SERVER=$!
  MOOT_TOKEN=$(python3 "$ROOT/challenges/tools.py" ready "$BASE" "$WORK/server.log" "$SERVER") || { cat "$WORK/server.log" >&2; fail "the server did not start"; }
  export MOOT_TOKEN
}
kill_server() { kill -9 "$SERVER"; wait "$SERVER" 2>/dev/null || true; SERVER=""; }
