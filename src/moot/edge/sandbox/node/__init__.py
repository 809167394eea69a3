"""JavaScript and TypeScript tests: suite.py lays them out; the scripts beside it run within the sandbox."""
