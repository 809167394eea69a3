"""Examples"""

from moot.scan.flow.rulebook import Example

EXAMPLES: tuple[Example, ...] = ()
