# Everything a contributor types. Needs Python 3.11 or newer and make; `make help` says what there is.
# What a target needs is installed on its first run. A stamp file then keeps the installer away until the
# list of what to install changes.

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
RUNTIME := $(VENV)/.runtime-installed
DEVELOPMENT := $(VENV)/.development-installed
REAL := .real
CAP := 300
SEMANTIC :=
# Tests wait for processes more than they compute: three at once keep two cores busy.
WORKERS := 3
REAL_SERVERS := $(REAL)/.installed

# The servers and the client of others that the tests marked `real` talk to.
REAL_NPM := @modelcontextprotocol/server-everything@2026.8.31 \
	@modelcontextprotocol/server-filesystem@2026.8.31 \
	@modelcontextprotocol/server-memory@2026.8.31 \
	@modelcontextprotocol/inspector-cli@1.0.3 \
	@gleanwork/mcp-config-schema@5.2.0
# The hosts that the tests marked `hosts` start, and the Node that they run on.
HOSTS := .hosts
HOSTS_STAMP := $(HOSTS)/.installed
HOSTS_NPM := @anthropic-ai/claude-code@2.1.332 \
	mcporter@0.12.3 \
	@modelcontextprotocol/inspector@2.12.0 \
	@modelcontextprotocol/conformance@0.2.0-alpha.12 \
	node@22.23.3
HOSTS_PYPI := fastmcp==4.2.3

REAL_PYPI := mcp-server-time==2026.10.19 mcp-server-git==2026.10.19
REAL_PYPI_OLDER := mcp==1.30.0

COMPILE := $(BIN)/uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes \
	--no-config --no-emit-index-url --custom-compile-command "make lock" --quiet

.PHONY: help setup demo test test-real hosts bench bench-search golden hygiene soak schema lock fmt clean
.DEFAULT_GOAL := help

help: ## say what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile

setup: $(DEVELOPMENT) ## install everything that developing needs into .venv

demo: $(RUNTIME) ## show toolfold at work on three servers of its own; no Node, no network after the first run
	@$(BIN)/toolfold demo

test: $(DEVELOPMENT) ## check format, lint and types, then run every test that needs nothing from outside
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/mypy --platform win32 --cache-dir .mypy_cache/win32 server upstream_clients index
	$(BIN)/pytest -m "not real and not hosts and not soak" -n $(WORKERS) --dist worksteal

test-real: $(DEVELOPMENT) $(REAL_SERVERS) ## run the tests against servers from npm and PyPI (needs Node)
	$(BIN)/pytest -m real

hosts: $(DEVELOPMENT) $(HOSTS_STAMP) ## try Claude Code, mcporter, the inspector, fastmcp and the conformance suite (needs Node)
	$(BIN)/pytest -m hosts

bench: $(DEVELOPMENT) ## print timings and memory
	@set -e; for file in tests/benchmarks/bench_*.py; do echo "== $$file"; $(BIN)/python "$$file"; done

bench-search: $(DEVELOPMENT) ## score the search: make bench-search SETS=folder with scorer.py and its sets [SEMANTIC=--semantic]
	@test -f "$(SETS)/scorer.py" || { echo "make bench-search needs SETS=folder, where scorer.py and the sets are." >&2; exit 1; }
	PYTHONPATH="$(CURDIR)" $(BIN)/python "$(SETS)/scorer.py" --cap $(CAP) --cmd "'$(BIN)/python' tests/benchmarks/search_engine.py $(SEMANTIC)"
	PYTHONPATH="$(CURDIR)" $(BIN)/python tests/benchmarks/search_quality.py "$(SETS)" $(SEMANTIC)

golden: $(DEVELOPMENT) ## hold signatures against those of OpenClaw: make golden SHARED=folder with openclaw/hint-golden.json
	@test -f "$(SHARED)/openclaw/hint-golden.json" || { echo "make golden needs SHARED=folder, where openclaw/hint-golden.json is." >&2; exit 1; }
	PYTHONPATH="$(CURDIR)" $(BIN)/python tests/benchmarks/hint_golden.py "$(SHARED)/openclaw"

hygiene: $(DEVELOPMENT) ## judge the detector of suspicious descriptions: make hygiene SHARED=folder with faults and real-tools
	@test -f "$(SHARED)/faults/tool_descriptions.json" || { echo "make hygiene needs SHARED=folder, where faults/tool_descriptions.json is." >&2; exit 1; }
	PYTHONPATH="$(CURDIR)" $(BIN)/python tests/benchmarks/hygiene.py "$(SHARED)"

soak: $(DEVELOPMENT) ## run the long tests
	$(BIN)/pytest -m soak

schema: $(DEVELOPMENT) ## write the JSON Schema of the configuration anew, after a change of its models
	@$(BIN)/python -c "import pathlib; from server.config.schema import FILE_NAME, text; \
		pathlib.Path('server/config', FILE_NAME).write_text(text(), encoding='utf-8')"

lock: ## write the lock files anew; `make lock UPGRADE=--upgrade` takes newer versions
	@test -x $(BIN)/uv || $(MAKE) setup
	$(COMPILE) $(UPGRADE) --output-file requirements.lock
	$(COMPILE) $(UPGRADE) --group dev --constraint requirements.lock --output-file requirements-dev.lock

fmt: $(DEVELOPMENT) ## format the code and repair what lint can repair
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean: ## remove everything that these targets made
	rm -rf $(VENV) $(REAL) $(HOSTS) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find server upstream_clients index tests -name __pycache__ -type d -exec rm -rf {} +

# The first of these commands that is new enough makes the environment; `make PYTHON=… setup` names another.
$(BIN)/python:
	@for candidate in $(PYTHON) python3 python3.13 python3.12 python3.11 python; do \
		if "$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then \
			echo "Making $(VENV) with $$("$$candidate" --version)"; \
			"$$candidate" -m venv $(VENV) && exit 0; \
			rm -rf $(VENV); \
			echo "$$candidate cannot make a virtual environment (on Debian and Ubuntu: install python3-venv)." >&2; \
			exit 1; \
		fi; \
	done; \
	echo "toolfold needs Python 3.11 or newer, and there is none on the PATH. Install one, or name it:" >&2; \
	echo "  make PYTHON=/path/to/python3.11 setup" >&2; \
	exit 1

# The build backend is the one thing that this takes from outside the lock: pip fetches it to build, and forgets it.
$(RUNTIME): pyproject.toml requirements.lock | $(BIN)/python
	@echo "Installing toolfold into $(VENV)"
	@$(PIP) install --require-hashes -r requirements.lock
	@$(PIP) install --no-deps --editable .
	@touch $@

# Holds all that the runtime lock holds, so the demo has nothing to install after it.
$(DEVELOPMENT): pyproject.toml requirements.lock requirements-dev.lock | $(BIN)/python
	@echo "Installing what developing needs into $(VENV)"
	@$(PIP) install --require-hashes -r requirements-dev.lock
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $(RUNTIME) $@

$(HOSTS_STAMP): Makefile | $(BIN)/python
	@node --version >/dev/null 2>&1 && npm --version >/dev/null 2>&1 || { \
		echo "make hosts needs Node.js 20 or newer with npm on the PATH. Install it and try again." >&2; exit 1; }
	@echo "Installing hosts into $(HOSTS) (700 MB)"
	@rm -rf $(HOSTS) && mkdir $(HOSTS)
	@npm install --prefix $(HOSTS) --no-save --no-package-lock --no-audit --no-fund --loglevel=error $(HOSTS_NPM)
	@$(BIN)/python -m venv $(HOSTS)/venv
	@$(HOSTS)/venv/bin/python -m pip --disable-pip-version-check --quiet install $(HOSTS_PYPI)
	@touch $@

# The inspector's command line reads name and version from a file that does not come with it; so we write that.
$(REAL_SERVERS): Makefile | $(BIN)/python
	@node --version >/dev/null 2>&1 && npm --version >/dev/null 2>&1 || { \
		echo "make test-real needs Node.js 20 or newer with npm on the PATH. Install it and try again." >&2; exit 1; }
	@echo "Installing real servers into $(REAL)"
	@rm -rf $(REAL) && mkdir $(REAL)
	@npm install --prefix $(REAL) --no-save --no-package-lock --no-audit --no-fund --loglevel=error $(REAL_NPM)
	@echo '{"name":"inspector-cli","version":"1.0.3"}' > $(REAL)/node_modules/@modelcontextprotocol/package.json
	@$(BIN)/python -m venv $(REAL)/venv
	@$(REAL)/venv/bin/python -m pip --disable-pip-version-check --quiet install $(REAL_PYPI)
	@$(BIN)/python -m venv $(REAL)/older
	@$(REAL)/older/bin/python -m pip --disable-pip-version-check --quiet install $(REAL_PYPI_OLDER)
	@touch $@
