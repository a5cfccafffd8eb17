# Every target sets up what it needs first: on a fresh machine `make run` and `make test` are all there is to do.
SHELL := /bin/bash
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
# The commands are started hundreds of times by the tests: what Python has compiled is kept, whatever the environment says.
unexport PYTHONDONTWRITEBYTECODE

HOST ?= 127.0.0.1
PORT ?= 8080
# Extra words for pytest, for example: make test PYTEST_ARGS="-n 4 -x"
PYTEST_ARGS ?=
# Extra words for the benchmark, for example: make bench BENCH_ARGS="--json bench.json"
BENCH_ARGS ?=

# Where `make services` has its servers listen, on loopback.
MARIADB_PORT ?= 33060
POSTGRES_PORT ?= 35432
S3_PORT ?= 38333

BIN := .venv/bin

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  %-15s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

.PHONY: setup
setup: ## system packages, .venv and the guest interpreter; nothing to do when all is there
	@PYTHON="$(PYTHON)" scripts/setup.sh

# What `make languages` installs, and what `make test` installs and tests.
LANGUAGES ?= major minor
TESTED_LANGUAGES := major minor racket

.PHONY: languages
languages: setup ## install the toolchains of LANGUAGES (major minor): names, groups or all
	@$(BIN)/sandbox languages install $(LANGUAGES)

# A toolchain that this machine cannot get is told and its tests are skipped; it must not keep everything else from being tested.
.PHONY: languages-for-tests
languages-for-tests: setup
	@$(BIN)/sandbox languages install --no-check $(TESTED_LANGUAGES) || true

.PHONY: run
run: setup ## serve on HOST:PORT (127.0.0.1:8080)
	@exec $(BIN)/sandbox serve --host $(HOST) --port $(PORT)

.PHONY: run-online
run-online: run ## serve in production; give HOST=0.0.0.0 to listen on every address

.PHONY: run-dev
run-dev: setup ## serve, and start again whenever a source file changes
	@exec $(BIN)/sandbox serve --host $(HOST) --port $(PORT) --reload

.PHONY: packages-for-tests
packages-for-tests: setup
	@scripts/system-packages.sh tests

.PHONY: test
test: check packages-for-tests languages-for-tests ## lint, types, layers and the fast tests; failed tests run once more
	@$(BIN)/python scripts/run_tests.py $(PYTEST_ARGS)

.PHONY: test-all
test-all: check packages-for-tests languages-for-tests ## every suite: slow tests, all languages, MCP conformance
	@$(BIN)/python scripts/run_tests.py --all $(PYTEST_ARGS)
	@$(MAKE) test-languages
	@$(MAKE) test-mcp

.PHONY: test-case
test-case: setup ## the tests whose name contains CASE
	@test -n "$(CASE)" || { echo 'say which: make test-case CASE=fork_bomb' >&2; exit 2; }
	@$(BIN)/python -m pytest -k "$(CASE)" $(PYTEST_ARGS)

.PHONY: test-case-pdb
test-case-pdb: setup ## the same, stopping in the debugger at the first failure
	@test -n "$(CASE)" || { echo 'say which: make test-case-pdb CASE=fork_bomb' >&2; exit 2; }
	@$(BIN)/python -m pytest -k "$(CASE)" -x --pdb --timeout 0 $(PYTEST_ARGS)

.PHONY: test-languages
test-languages: setup ## install and test every language of the catalog
	@$(BIN)/sandbox languages install --no-check all || true
	@SANDBOX_TESTED_LANGUAGES=all $(BIN)/python -m pytest tests/languages/test_every_language.py tests/sessions/test_languages.py $(PYTEST_ARGS)

.PHONY: test-cgroup2
test-cgroup2: ## the tests of control groups in a virtual machine that has cgroup version 2 alone
	@scripts/cgroup2-vm/run.sh $(PYTEST_ARGS)

.PHONY: test-mcp
test-mcp: setup ## the published conformance suite and the inspector of MCP, from the npm registry, against the MCP server
	@scripts/system-packages.sh mcp
	@$(BIN)/python scripts/mcp/conformance.py

.PHONY: test-neighbours
test-neighbours: setup ## measure pings while others attack the same server; fails at a 99th percentile of 100 ms
	@$(BIN)/python scripts/neighbours.py

.PHONY: services
services: ## start MariaDB, PostgreSQL and an S3 server for trying things out, on loopback, and print their URLs
	@scripts/services/mariadb.sh start .state/services/mariadb $(MARIADB_PORT)
	@scripts/services/postgres.sh start .state/services/postgres $(POSTGRES_PORT)
	@scripts/services/seaweedfs.sh start .state/services/seaweedfs $(S3_PORT)

.PHONY: services-stop
services-stop: ## end them and forget what they held
	@scripts/services/mariadb.sh stop .state/services/mariadb
	@scripts/services/postgres.sh stop .state/services/postgres
	@scripts/services/seaweedfs.sh stop .state/services/seaweedfs

.PHONY: check
check: lint ## lint, formatting, types and layers
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

.PHONY: lint
lint: setup ## ruff: rules and formatting, changing nothing
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check

.PHONY: format
format: setup ## ruff: mend what can be mended
	@$(BIN)/ruff check --fix
	@$(BIN)/ruff format

.PHONY: bench
bench: setup ## measure this machine: engine, HTTP and their ratios
	@$(BIN)/sandbox bench $(BENCH_ARGS)

.PHONY: docs
docs: setup ## write the generated pages of docs/ anew
	@$(BIN)/sandbox docs --write

.PHONY: twin
twin: setup ## make the blocking client of sessions from the one for event loops
	@$(BIN)/python scripts/unasync.py

.PHONY: lock
lock: setup ## resolve every lock file anew: requirements, toolchains of language rows, the MCP suite
	@scripts/lock.sh

.PHONY: clean-languages
clean-languages: ## remove the installed toolchains; system packages stay
	rm -rf .state/toolchains

.PHONY: clean
clean: ## remove environments, caches and build results
	rm -rf .venv .state/guest .state/lock .state/setup.lock .state/system-packages*.tried build dist
	rm -rf .pytest_cache .ruff_cache .mypy_cache .import_linter_cache
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
