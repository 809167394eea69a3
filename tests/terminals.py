"""A command with a person at its terminal."""

import os
import pty
import select

from patience import PATIENCE


def answered_on_a_terminal(command: list[str], said: str, question: str = "[y/N]") -> tuple[int, str]:
    """The exit code and all that was seen, when its question is answered with this."""
    child, terminal = pty.fork()
    if child == 0:
        os.execv(command[0], command)
    seen, answered = b"", False
    while select.select([terminal], [], [], PATIENCE)[0]:
        try:
            part = os.read(terminal, 4096)
        except OSError:  # the other side is gone
            break
        seen += part
        if question.encode() in seen and not answered:
            answered = os.write(terminal, said.encode()) > 0
        if not part:
            break
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.close(terminal)
    assert answered, seen.decode()
    return ended, seen.decode()


def shown_on_a_terminal(command: list[str], folder: str) -> tuple[int, str]:
    """The exit code and all that a person sees of a command that asks nothing."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(folder)
        os.execv(command[0], command)
    seen = b""
    while select.select([terminal], [], [], PATIENCE)[0]:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # the other side is gone
            break
        seen += part
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.close(terminal)
    return ended, seen.decode("utf-8", "replace")
