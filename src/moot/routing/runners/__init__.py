"""Programs that run other commands: by arguments, an option, a script, a variable or a pipe.

Imports the rest of `moot.routing` but `command`, which is passed in as `Inside`.
Read `inside` first, then `carriers`.
"""
