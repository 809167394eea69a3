"""The command `moot`: errors become one line that says what to do, and an exit code."""

import sys

from moot import __version__

USAGE, TROUBLE, BUG, INTERRUPTED = 2, 3, 70, 130


def main() -> None:
    arguments = sys.argv[1:]
    if arguments in (["--version"], ["-V"]):  # answered before anything slow is imported
        sys.stdout.write(f"moot {__version__}\n")
        return
    ours = arguments.index("--") if "--" in arguments else len(arguments)  # what follows is another program's
    debug = "--debug" in arguments[:ours]
    sys.exit(run([a for a in arguments[:ours] if a != "--debug"] + arguments[ours:], debug=debug))


def run(arguments: list[str], *, debug: bool) -> int:
    if (code := answer_quickly(arguments)) is not None:
        return code
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
        if debug:
            print_trace()
        kind = type(error).__name__
        sys.stderr.write(f"moot: internal error, {kind}: {one_line(str(error))}; --debug shows where\n")
        return BUG
    return 0


def answer_quickly(arguments: list[str]) -> int | None:
    """The exit code of what needs nothing slow; None leaves it to the full command."""
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
