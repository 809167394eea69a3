"""Programs that run other commands: by their words, an option, a script, a variable or a pipe.

Imports the rest of `moot.routing` but `command`, which comes in as `Inside`.
Read `inside` first, then `carriers`.
"""
