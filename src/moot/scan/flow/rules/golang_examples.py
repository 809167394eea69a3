"""For each rule of Go, code on which it must speak and code on which it must not."""

from moot.scan.flow.rulebook import Example

EXAMPLES: tuple[Example, ...] = ()
