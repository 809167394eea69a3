"""Flaws of Go that are visible in the structure of the code, without dataflow."""

from moot.scan.rule import Rule

PARSED = Rule(
    "go-integer-overflow", "overflow", "medium", 190,
    "Integer overflow: a parsed number is converted to a smaller type",
    "A large or negative number becomes a small one: a length check passes, a copy goes too far.",
    "Check the number against the limits of the target type first.", 0.7,
)  # fmt: skip
CONVERT = Rule(
    "go-integer-conversion", "overflow", "low", 190,
    "Integer overflow: a number is converted to a smaller type",
    "A large or negative number becomes another one: a length check passes, a copy goes too far.",
    "Check the number against the limits of the target type first.", 0.4, "it can be that large",
)  # fmt: skip
SIZE = Rule(
    "go-unbounded-size", "other", "medium", 770,
    "Denial of service: a parsed number is the size of an allocation, and nothing bounds it",
    "A number of ten digits takes all memory, a negative one ends the program.",
    "Check the number against a limit first.", 0.7,
)  # fmt: skip
INDEX = Rule(
    "go-out-of-range", "overflow", "medium", 118,
    "Out of range: index or bound past the end of the slice or array",
    "The program panics: whoever reaches this line stops it.",
    "Check the index against len() first.", 0.7,
)  # fmt: skip
ALIAS = Rule(
    "go-loop-alias", "logic_error", "low", 118,
    "Loop variable aliasing: its address is kept, and all iterations share it",
    "All kept pointers show the last element: the wrong user's data is used.",
    "Take the address of the element (&xs[i]) or of a copy made in the loop.", 0.4, "Go before 1.22 compiles it",
)  # fmt: skip
CANCEL = Rule(
    "go-context-leak", "other", "medium", 400,
    "Context leak: the cancel function is never called",
    "Each call leaves a timer and a goroutine behind until memory runs out.",
    "defer cancel() right after the context is made.", 0.8,
)  # fmt: skip
DEAF_LOOP = Rule(
    "go-loop-ignores-context", "other", "medium", 400,
    "Ignored cancellation: an endless loop never checks its context",
    "Cancelled requests keep their goroutine; many of them use up the machine.",
    "Add a select on ctx.Done() to the loop.", 0.7,
)  # fmt: skip
DETACHED = Rule(
    "go-detached-context", "other", "low", 400,
    "Detached context: a goroutine uses context.Background instead of the caller's context",
    "The work goes on after the request is gone; many of them use up the machine.",
    "Derive it from the caller's context (context.WithoutCancel when it must outlive it).", 0.5,
)  # fmt: skip
BIDI = Rule(
    "go-bidi", "other", "high", 838,
    "Trojan source: the code holds bidirectional control characters",
    "Reviewers see other code than the compiler does.",
    "Remove the character, or write it as an escape.", 0.9,
)  # fmt: skip
EXPOSED = Rule(
    "go-marshal-secret", "other", "low", 499,
    "Secret exposure: a struct with a secret is marshalled in clear text",
    "The password shows up in an answer, a log or a file.",
    'Give the field the tag `json:"-"`, or marshal a struct without it.', 0.5,
)  # fmt: skip
WALK = Rule(
    "go-walk-race", "race_condition", "medium", 367,
    "TOCTOU race: a directory walk acts on paths that can be swapped for symlinks",
    "Between the look and the act the path becomes a link to another file.",
    "Use os.Root, or open the file and act on the descriptor.", 0.5,
)  # fmt: skip
KEPT_KEY = Rule(
    "go-ssh-callback-state", "auth", "high", 287,
    "Authentication bypass: an SSH public key callback keeps the offered key",
    "The client offers a key it cannot prove to own last, and is taken for its owner.",
    "Keep nothing in the callback; use Permissions.Extensions of the connection.", 0.7,
)  # fmt: skip
CARRIED_HEADER = Rule(
    "go-redirect-headers", "auth", "medium", 200,
    "Credential leak: headers of the first request are sent to the redirect target",
    "The Authorization header is sent to whatever host the server redirects to.",
    "Leave headers of redirects to net/http.", 0.7,
)  # fmt: skip
PROFILER = Rule(
    "go-pprof", "other", "medium", 200,
    "Exposed profiler: net/http/pprof registers on the default HTTP server",
    "/debug/pprof shows memory, command line and call stacks to any visitor.",
    "Register it on a server that only listens on this machine.", 0.6,
)  # fmt: skip
CGI = Rule(
    "go-cgi", "other", "medium", 327,
    "Httpoxy: net/http/cgi sets HTTP_PROXY from a request header",
    "A Proxy header sends the program's own requests through the attacker.",
    "Use another way to serve.", 0.6,
)  # fmt: skip
RACE = Rule(
    "go-goroutine-race", "race_condition", "high", 362,
    "Data race: goroutines change a captured variable without a lock",
    "Two goroutines write at once: updates are lost, a map write ends the program.",
    "Hold a sync.Mutex, use sync/atomic, or send the results through a channel.", 0.6,
)  # fmt: skip
UNGUARDED_WRITE = Rule(
    "go-unguarded-write", "race_condition", "medium", 362,
    "Data race: a field guarded by a lock elsewhere is written without it",
    "Two goroutines write at once: updates are lost, a map write ends the program.",
    "Hold the lock here too.", 0.5,
)  # fmt: skip
LOOP_CAPTURE = Rule(
    "go-loop-capture", "race_condition", "medium", 362,
    "Loop variable capture: a goroutine uses it; before Go 1.22 all goroutines share it",
    "Goroutines see a later round's value: work is done twice or not at all.",
    "Pass the variable as an argument, or copy it inside the loop.", 0.5,
)  # fmt: skip
ADD_INSIDE = Rule(
    "go-waitgroup-add", "race_condition", "medium", 362,
    "WaitGroup misuse: Add is called inside the goroutine it counts",
    "Wait returns before the goroutine has counted itself.",
    "Call Add before the go statement.", 0.8,
)  # fmt: skip
LOCK_KEPT = Rule(
    "go-lock-kept", "race_condition", "medium", 667,
    "Lock leak: a path out of the function does not release the lock",
    "The next caller waits for ever.",
    "defer Unlock() right after Lock().", 0.6,
)  # fmt: skip
LOCK_TWICE = Rule(
    "go-lock-twice", "race_condition", "high", 833,
    "Deadlock: a lock that is held is acquired again",
    "The goroutine waits for itself for ever.",
    "Release the lock before, or split the function into a locked and an unlocked part.", 0.6,
)  # fmt: skip
LOCK_ORDER = Rule(
    "go-lock-order", "race_condition", "medium", 833,
    "Deadlock: two locks are acquired in opposite orders",
    "Two goroutines each hold one lock and wait for the other.",
    "Always take the locks in the same order.", 0.5,
)  # fmt: skip
LOCK_COPIED = Rule(
    "go-lock-copied", "race_condition", "medium", 667,
    "Copied lock: a struct with a mutex is passed by value",
    "Two goroutines hold different copies of the lock and change the same data.",
    "Pass a pointer.", 0.7,
)  # fmt: skip
STUCK_SENDER = Rule(
    "go-stuck-goroutine", "race_condition", "medium", 833,
    "Goroutine leak: a send on an unbuffered channel may block forever",
    "The goroutine waits for ever; each such call keeps its memory.",
    "Give the channel room for one value, or select on ctx.Done() too.", 0.5,
)  # fmt: skip
UNGUARDED = Rule(
    "go-unguarded-read", "race_condition", "low", 362,
    "Data race: a field guarded by a lock elsewhere is read without it",
    "A half-written or old value is read.",
    "Hold the lock here too.", 0.4, "another goroutine writes it meanwhile",
)  # fmt: skip
RULES = tuple(value for value in list(globals().values()) if isinstance(value, Rule))
