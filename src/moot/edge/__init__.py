"""The edge: the only code that touches the world. Models, sandbox, store, git, queue, tools, files, settings, clock.

Implements the ports of `core`; imports every room but `surfaces`.
Read `core/ports.py` first, then the folder of the port you need.
"""
