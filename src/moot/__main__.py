"""The command `moot`: errors become one line that says what to do, and an exit code."""

import os
import sys

from moot import __version__
from moot.surfaces.streams import (
    drop_output,
    escape_unknown_characters,
    flush_output,
    is_output_error,
    open_closed_streams,
)

READER_LEFT, USAGE, TROUBLE, BUG, INTERRUPTED = 1, 2, 3, 70, 130


def main() -> None:
    open_closed_streams()
    escape_unknown_characters()
    arguments = sys.argv[1:]
    ours = arguments.index("--") if "--" in arguments else len(arguments)  # what follows is another program's
    debug = "--debug" in arguments[:ours]
    code = run([a for a in arguments[:ours] if a != "--debug"] + arguments[ours:], debug=debug)
    error = flush_output()
    sys.exit(report_output(error) if error else code)


def run(arguments: list[str], *, debug: bool) -> int:
    try:
        if (code := answer_quickly(arguments)) is not None:
            return code
        return run_in_full(arguments, debug=debug)
    except OSError as error:
        if not is_output_error(error):
            raise
        return report_output(error)


def run_in_full(arguments: list[str], *, debug: bool) -> int:
    from moot.core.errors import MootError, UsageError
    from moot.surfaces.cli import run_app

    try:
        run_app(arguments)
    except MootError as error:
        if debug:
            print_trace()
        sys.stderr.write(f"moot: {one_line(str(error))}\n")
        if error.session_id:
            sys.stderr.write(f"moot: the session is kept; continue with: moot resume {error.session_id}\n")
        return USAGE if isinstance(error, UsageError) else TROUBLE
    except KeyboardInterrupt:
        sys.stderr.write("moot: stopped\n")
        return INTERRUPTED
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except Exception as error:
        if is_output_error(error):
            raise
        if isinstance(error, ValueError) and (odd := find_odd_argument(arguments)):
            sys.stderr.write(f"moot: the argument '{odd}' is not valid UTF-8\n")
            return USAGE
        if debug:
            print_trace()
        kind = type(error).__name__
        sys.stderr.write(f"moot: internal error, {kind}: {one_line(str(error))}; --debug shows where\n")
        return BUG
    return 0


def find_odd_argument(arguments: list[str]) -> str:
    """The first one that no record can hold, with its bytes as `\\xff`."""
    for argument in arguments:
        data = os.fsencode(argument)
        if (shown := data.decode("utf-8", "backslashreplace")).encode() != data:
            return shown
    return ""


def report_output(error: OSError) -> int:
    drop_output()
    if isinstance(error, BrokenPipeError):
        return READER_LEFT
    sys.stderr.write(f"moot: cannot write the output: {error.strerror}\n")
    return TROUBLE


def answer_quickly(arguments: list[str]) -> int | None:
    """The exit code of what needs nothing slow; None leaves it to the full command."""
    if arguments in (["--version"], ["-V"]):
        sys.stdout.write(f"moot {__version__}\n")
        return 0
    if arguments[:1] in (["route"], ["hook"]) or arguments[:2] == ["vet", "route"]:
        from moot.surfaces.fast_path import quick

        return quick(arguments[1:] if arguments[0] == "vet" else arguments)
    if arguments[:1] == ["mcp"] and "--help" not in arguments:
        from moot.surfaces.mcp.handshake import claim_streams

        claim_streams()  # the client waits for its first answer while the command is loaded
    return None


def print_trace() -> None:
    import traceback

    traceback.print_exc()


def one_line(text: str) -> str:
    from moot.text.controls import clean

    return clean(" ".join(text.split()))[:1000]


if __name__ == "__main__":
    main()
