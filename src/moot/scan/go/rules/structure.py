"""The flaws of Go that show in how code is built, without following an outside value."""

from moot.scan.rule import Rule

PARSED = Rule(
    "go-integer-overflow", "overflow", "medium", 190,
    "A number read from text is converted to a type that cannot hold all its values.",
    "A large or negative number becomes a small one: a length check passes, a copy goes too far.",
    "Check the number against the limits of the target type first.", 0.7,
)  # fmt: skip
CONVERT = Rule(
    "go-integer-conversion", "overflow", "low", 190,
    "A number is converted to a type that cannot hold all its values.",
    "A large or negative number becomes another one: a length check passes, a copy goes too far.",
    "Check the number against the limits of the target type first.", 0.4,
)  # fmt: skip
INDEX = Rule(
    "go-out-of-range", "overflow", "medium", 118,
    "An index or bound is past the end of the slice or array.",
    "The program panics: whoever reaches this line stops it.",
    "Check the index against len() first.", 0.7,
)  # fmt: skip
ALIAS = Rule(
    "go-loop-alias", "logic_error", "low", 118,
    "The address of a loop's variable is kept; before Go 1.22 every round has the same one.",
    "All kept pointers show the last element: the wrong user's data is used.",
    "Take the address of the element (&xs[i]) or of a copy made in the loop.", 0.4,
)  # fmt: skip
CANCEL = Rule(
    "go-context-leak", "other", "medium", 400,
    "The cancel function of a context is never called.",
    "Each call leaves a timer and a goroutine behind until memory runs out.",
    "defer cancel() right after the context is made.", 0.8,
)  # fmt: skip
DEAF_LOOP = Rule(
    "go-loop-ignores-context", "other", "medium", 400,
    "A loop without end works on although its context can be cancelled.",
    "Cancelled requests keep their goroutine; many of them use up the machine.",
    "Add a select on ctx.Done() to the loop.", 0.7,
)  # fmt: skip
DETACHED = Rule(
    "go-detached-context", "other", "low", 400,
    "A goroutine makes a new background context although one of the caller is at hand.",
    "The work goes on after the request is gone; many of them use up the machine.",
    "Derive it from the caller's context (context.WithoutCancel when it must outlive it).", 0.5,
)  # fmt: skip
BIDI = Rule(
    "go-bidi", "other", "high", 838,
    "The text holds characters that change the direction of reading.",
    "Reviewers see other code than the compiler does.",
    "Remove the character, or write it as an escape.", 0.9,
)  # fmt: skip
EXPOSED = Rule(
    "go-marshal-secret", "other", "low", 499,
    "A struct with a secret in it is turned into text with the secret in clear.",
    "The password shows up in an answer, a log or a file.",
    'Give the field the tag `json:"-"`, or marshal a struct without it.', 0.5,
)  # fmt: skip
STATIC_IV = Rule(
    "go-static-iv", "auth", "high", 1204,
    "Data is encrypted with a nonce or initialisation vector that is always the same.",
    "Equal texts give equal ciphertexts; with GCM and CTR the key stream is laid open.",
    "Fill it with crypto/rand for every message.", 0.8,
)  # fmt: skip
SECRET = Rule(
    "go-hardcoded-secret", "auth", "high", 798,
    "A secret stands in the source.",
    "Whoever reads the repository has the secret, and it can never be changed quietly.",
    "Read it from the environment or a secret store, and replace it where it was used.", 0.7,
)  # fmt: skip
WALK = Rule(
    "go-walk-race", "race_condition", "medium", 367,
    "A walk over a folder acts on paths that can be swapped for links meanwhile.",
    "Between the look and the act the path becomes a link to another file.",
    "Use os.Root, or open the file and act on the descriptor.", 0.5,
)  # fmt: skip
KEPT_KEY = Rule(
    "go-ssh-callback-state", "auth", "high", 287,
    "An SSH public key callback keeps the key it is asked about.",
    "The client offers a key it cannot prove to own last, and is taken for its owner.",
    "Keep nothing in the callback; use Permissions.Extensions of the connection.", 0.7,
)  # fmt: skip
CARRIED_HEADER = Rule(
    "go-redirect-headers", "auth", "medium", 200,
    "A redirect gets the headers of the first request again.",
    "The Authorization header is sent to whatever host the server redirects to.",
    "Leave headers of redirects to net/http.", 0.7,
)  # fmt: skip
PROFILER = Rule(
    "go-pprof", "other", "medium", 200,
    "The profiler registers itself on the default HTTP server.",
    "/debug/pprof shows memory, command line and call stacks to any visitor.",
    "Register it on a server that only listens on this machine.", 0.6,
)  # fmt: skip
CGI = Rule(
    "go-cgi", "other", "medium", 327,
    "net/http/cgi sets HTTP_PROXY from a request header.",
    "A Proxy header sends the program's own requests through the attacker.",
    "Use another way to serve.", 0.6,
)  # fmt: skip
RACE = Rule(
    "go-goroutine-race", "race_condition", "high", 362,
    "Goroutines change a variable of the function around them without a lock.",
    "Two goroutines write at once: updates are lost, a map write ends the program.",
    "Hold a sync.Mutex, use sync/atomic, or send the results through a channel.", 0.6,
)  # fmt: skip
UNGUARDED_WRITE = Rule(
    "go-unguarded-write", "race_condition", "medium", 362,
    "A field that other methods change under a lock is changed without it.",
    "Two goroutines write at once: updates are lost, a map write ends the program.",
    "Hold the lock here too.", 0.5,
)  # fmt: skip
LOOP_CAPTURE = Rule(
    "go-loop-capture", "race_condition", "medium", 362,
    "A goroutine started in a loop uses the loop's variable; before Go 1.22 all of them share it.",
    "Goroutines see a later round's value: work is done twice or not at all.",
    "Pass the variable as an argument, or copy it inside the loop.", 0.5,
)  # fmt: skip
ADD_INSIDE = Rule(
    "go-waitgroup-add", "race_condition", "medium", 362,
    "WaitGroup.Add is called inside the goroutine it counts.",
    "Wait returns before the goroutine has counted itself.",
    "Call Add before the go statement.", 0.8,
)  # fmt: skip
LOCK_KEPT = Rule(
    "go-lock-kept", "race_condition", "medium", 667,
    "On a way out of the function a lock is still held.",
    "The next caller waits for ever.",
    "defer Unlock() right after Lock().", 0.6,
)  # fmt: skip
LOCK_TWICE = Rule(
    "go-lock-twice", "race_condition", "high", 833,
    "A lock that is held is taken again.",
    "The goroutine waits for itself for ever.",
    "Release the lock before, or split the function into a locked and an unlocked part.", 0.6,
)  # fmt: skip
LOCK_ORDER = Rule(
    "go-lock-order", "race_condition", "medium", 833,
    "Two locks are taken in one order here and in the other order elsewhere.",
    "Two goroutines each hold one lock and wait for the other.",
    "Always take the locks in the same order.", 0.5,
)  # fmt: skip
LOCK_COPIED = Rule(
    "go-lock-copied", "race_condition", "medium", 667,
    "A struct with a lock in it is passed by value: the copy has a lock of its own.",
    "Two goroutines hold different copies of the lock and change the same data.",
    "Pass a pointer.", 0.7,
)  # fmt: skip
STUCK_SENDER = Rule(
    "go-stuck-goroutine", "race_condition", "medium", 833,
    "A goroutine sends on a channel without room, and the receiver may stop listening.",
    "The goroutine waits for ever; each such call keeps its memory.",
    "Give the channel room for one value, or select on ctx.Done() too.", 0.5,
)  # fmt: skip
UNGUARDED = Rule(
    "go-unguarded-read", "race_condition", "low", 362,
    "A field that other methods change under a lock is read without it.",
    "A half-written or old value is read.",
    "Hold the lock here too.", 0.4,
)  # fmt: skip
RULES = tuple(value for value in list(globals().values()) if isinstance(value, Rule))
