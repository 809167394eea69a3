# Everything from nothing: python3, pip, make and git are enough. `make demo` and `make test` are the two commands.
SHELL := /bin/bash
BIN := .venv/bin
UV := PYTHONPATH=.tools .tools/bin/uv
export UV_NO_PROGRESS := 1
# Some machines forbid it; then every process compiles all tests anew.
export PYTHONDONTWRITEBYTECODE :=

DOCUMENTS := tests/test_imports.py tests/test_docs.py
# `make check test` runs these once.
CHECKED := $(if $(filter check,$(MAKECMDGOALS)),$(DOCUMENTS:%=--ignore=%))

BENCHES := run_exchange run_startup run_routing run_sandbox run_elections run_planning run_topologies run_scan run_scan_speed scan_blind scan_go go_races \
	scan_javascript scan_repair run_packages run_selection run_mutation run_lessons run_debates run_fleet run_server run_page

# What the tests use. Of the providers, those that bring no other half of a cloud along.
EXTRAS := acp anthropic google groq mistral openai-sdk openrouter local mcp otel postgres server signing

.PHONY: demo test coverage check style challenges controls self-check replies stress types documents bench fuzz docs site setup sandbox clients lock clean

demo: setup  ## harden the examples: no key, no network service
	@$(BIN)/python scripts/demo.py

test: setup sandbox clients  ## all tests
	MOOT_TEST_GGUF="$$(scripts/test-weights)" $(BIN)/pytest -n 3 --dist worksteal $(CHECKED) $(PYTEST)

coverage: setup sandbox clients  ## all tests, and which lines and branches they reach: about twice the time
	$(BIN)/coverage erase
	MOOT_TEST_GGUF="$$(scripts/test-weights)" $(BIN)/coverage run -m pytest -n 2 --dist worksteal $(PYTEST)
	$(BIN)/coverage combine -q
	$(BIN)/coverage report

check: style types documents  ## style, types, import direction, documents

style: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy

documents: setup sandbox
	$(BIN)/pytest -q $(DOCUMENTS)

challenges: setup sandbox  ## scripts that drive the running product by HTTP, CLI and SQL, with each feature on and off
	@challenges/run && challenges/run --off

controls: setup sandbox  ## take each control out of a copy of the source: its tests must notice; about ten minutes
	$(BIN)/python scripts/remove_controls.py $(CONTROLS)

self-check: setup  ## Moot on its own source and plan, without a model (BASE=COMMIT: harden what changed since)
	scripts/self-check $(BASE)

replies: setup  ## 100,000 malformed replies through the reader: none may crash it, or pass for an answer that it is not
	PYTHONPATH=tests/text/replies:tests/security $(BIN)/python -m malformed_replies $(REPLIES)

stress: setup sandbox  ## load and faults with real processes, databases and cuts: nothing may be lost; about ten minutes
	PYTHONPATH=.:tests:tests/surfaces/fleet:tests/protocols/vet $(BIN)/python -m stress $(STRESS)

bench: setup  ## all benchmarks, then one table; fails if one lost more than 15 %, or if a benchmark fails
	$(UV) pip install -q --python $(BIN)/python --require-hashes --compile-bytecode -r requirements/bench.txt
	@status=0; for name in $(BENCHES); do $(BIN)/python -m benchmarks.$$name || status=1; done; \
		$(BIN)/python -m benchmarks.table && exit $$status

fuzz: setup  ## broken files, 20,000 for each language: none may crash, hang or take two seconds
	$(BIN)/python -m benchmarks.fuzz_scan $(FUZZ)

docs: setup  ## write what docs/ takes from the code and from scripted runs, then the site into build/site
	$(BIN)/python scripts/cli_page.py > docs/cli.md
	$(BIN)/python scripts/reference_pages.py
	$(BIN)/python scripts/public_surface.py
	$(BIN)/python scripts/effect_table.py --write
	$(BIN)/python scripts/terminal_svg.py
	$(BIN)/python scripts/page_pictures.py
	@$(MAKE) --no-print-directory site

site: setup  ## the documentation as a site in build/site; every link and diagram is checked
	$(UV) pip install -q --python $(BIN)/python --require-hashes -r requirements/docs.txt
	$(BIN)/python scripts/site.py build/site

setup: .venv/ready

.venv/ready: requirements/dev.txt pyproject.toml | .tools/bin/uv
	$(UV) venv -q --clear --python python3 .venv
	$(UV) pip install -q --python $(BIN)/python --require-hashes --compile-bytecode -r requirements/dev.txt
	$(UV) pip install -q --python $(BIN)/python --no-deps --no-build-isolation -e .
	@$(BIN)/python -m compileall -q src
	@touch $@

.tools/bin/uv:
	python3 -m pip install -q --disable-pip-version-check --target .tools --upgrade --require-hashes -r requirements/build.txt

sandbox:
	@scripts/need bubblewrap chromium compiler node postgres

clients: sandbox
	@scripts/npm-clients >/dev/null

lock: | .tools/bin/uv  ## resolve the requirements anew
	$(UV) pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
		$(EXTRAS:%=--extra %) --group dev pyproject.toml -o requirements/dev.txt
	$(UV) pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
		--group pyproject.toml:build -c requirements/dev.txt -o requirements/build.txt
	$(UV) pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
		--group bench -c requirements/dev.txt pyproject.toml -o requirements/bench.txt
	$(UV) pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
		--group docs -c requirements/dev.txt pyproject.toml -o requirements/docs.txt
	$(UV) pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
		--extra anthropic --extra mcp --extra postgres --extra server -c requirements/dev.txt pyproject.toml -o requirements/server.txt

clean:
	rm -rf .venv .tools .coverage* .mypy_cache .pytest_cache .ruff_cache .hypothesis
