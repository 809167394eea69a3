"""Go tests: toolchain, modules, and the split between tests and the code they test."""
