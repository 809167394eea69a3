"""The edge: the only code that does I/O. Models, sandbox, store, git, queue, tools, files, settings, clock.

Implements the ports of `core`; imports every package but `surfaces`.
Read `core/ports.py` first, then the folder of the port you need.
"""
