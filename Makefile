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
MINUTES := 30
SECONDS := 120
SEED :=
# Tests wait for processes more than they compute: three at once keep two cores busy.
WORKERS := 3
REAL_SERVERS := $(REAL)/.installed
ENGINE := .engine
NEWEST_NODE := latest
PROBES := tests/code/test_guest_probes.py tests/code/test_escaped_probes.py tests/code/test_hostile_children.py tests/code/test_gate.py

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

# What the search is timed beside.
PEERS := .peers
PEERS_PYPI := fastmcp==4.2.3

REAL_PYPI := mcp-server-time==2026.10.19 mcp-server-git==2026.10.19
REAL_PYPI_OLDER := mcp==1.30.0

# The Gateway that the tests marked `openclaw` talk to, and the Node that it asks for: another than most machines have. The
# stamp's name says both, because installing takes minutes.
OPENCLAW := .openclaw-real
OPENCLAW_VERSION := 2026.9.6
OPENCLAW_NODE := 24.22.3
OPENCLAW_STAMP := $(OPENCLAW)/.installed-$(OPENCLAW_VERSION)-$(OPENCLAW_NODE)

COMPILE := $(BIN)/uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes \
	--no-config --no-emit-index-url --custom-compile-command "make lock" --quiet

.PHONY: help setup demo test test-real test-openclaw hosts engine probes bench bench-search bench-speed golden hygiene faults fuzz soak schema lock fmt clean
.DEFAULT_GOAL := help

help: ## say what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile

setup: $(DEVELOPMENT) ## install everything that developing needs into .venv

demo: $(RUNTIME) ## show toolfold at work on three servers of its own; no Node, no network after the first run
	@$(BIN)/toolfold demo

test: $(DEVELOPMENT) engine ## check format, lint and types, then run every test that needs nothing from outside
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/bandit --quiet --configfile pyproject.toml --recursive server upstream_clients index tests
	$(BIN)/mypy
	$(BIN)/mypy --platform win32 --cache-dir .mypy_cache/win32 server upstream_clients index
	$(BIN)/pytest -m "not real and not hosts and not openclaw and not soak and not probes and not faults" -n $(WORKERS) --dist worksteal

# Without Node, npm or a registry the tests of mode code are skipped, and say so.
engine: $(DEVELOPMENT) ## bring the engine of mode code into .engine, for the tests (needs Node)
	@TOOLFOLD_DATA_DIR=$(ENGINE) TOOLFOLD_CACHE_DIR=$(ENGINE)/cache npm_config_fetch_retries=1 $(BIN)/toolfold code install \
		|| echo "Mode code is not tested here: without Node and the engine its tests are skipped."

probes: $(DEVELOPMENT) engine ## try to escape from mode code, with controls, on the Node found here and on the newest from npm
	npm install --prefix $(ENGINE)/newest --no-save --no-package-lock --no-audit --no-fund --loglevel=error node@$(NEWEST_NODE)
	$(BIN)/pytest $(PROBES)
	TOOLFOLD_NODE=$(ENGINE)/newest/node_modules/node/bin/node $(BIN)/pytest $(PROBES)

test-real: $(DEVELOPMENT) $(REAL_SERVERS) ## run the tests against servers from npm and PyPI (needs Node)
	$(BIN)/pytest -m real

test-openclaw: $(DEVELOPMENT) $(OPENCLAW_STAMP) ## run the tests against a real OpenClaw Gateway (needs npm; minutes, 1 GB)
	$(BIN)/pytest -m openclaw

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

bench-speed: $(DEVELOPMENT) $(PEERS)/.installed ## time the search beside fastmcp's: make bench-speed [SETS=folder with upstreams/catalog.py]
	$(BIN)/python tests/benchmarks/bench_search.py --sizes 1000,10000,50000 \
		--catalogue "$(if $(SETS),$(SETS)/upstreams)" --fastmcp $(PEERS)/bin/python
	$(BIN)/python tests/benchmarks/bench_building.py

hygiene: $(DEVELOPMENT) ## judge the detector of suspicious descriptions: make hygiene SHARED=folder with faults and real-tools
	@test -f "$(SHARED)/faults/tool_descriptions.json" || { echo "make hygiene needs SHARED=folder, where faults/tool_descriptions.json is." >&2; exit 1; }
	PYTHONPATH="$(CURDIR)" $(BIN)/python tests/benchmarks/hygiene.py "$(SHARED)"

fuzz: $(DEVELOPMENT) ## feed bad messages to each face of the gateway: SECONDS=120 each [SEED=number]; then the long machines (minutes)
	PYTHONPATH="$(CURDIR)" $(BIN)/python -P tests/fuzz/run.py --seconds $(SECONDS) $(if $(SEED),--seed $(SEED))
	MACHINES=fuzz $(BIN)/pytest tests/machines

soak: $(DEVELOPMENT) ## run the long tests (minutes), then two gateways among bad upstreams for half an hour: MINUTES=30 [SEED=number]
	$(BIN)/pytest -m soak
	PYTHONPATH="$(CURDIR)" $(BIN)/python -P tests/soak/run.py --minutes $(MINUTES) $(if $(SEED),--seed $(SEED))

faults: $(DEVELOPMENT) ## inject every fault of the matrix, the slow ones too, and print the figures (Linux)
	@PYTHONPATH="$(CURDIR)" $(BIN)/python -m tests.faults.report

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
	rm -rf $(VENV) $(REAL) $(HOSTS) $(PEERS) $(OPENCLAW) $(ENGINE) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
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

$(PEERS)/.installed: Makefile | $(BIN)/python
	@echo "Installing $(PEERS_PYPI) into $(PEERS)"
	@$(BIN)/python -m venv --clear $(PEERS)
	@$(PEERS)/bin/python -m pip --disable-pip-version-check --quiet install $(PEERS_PYPI)
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

# OpenClaw's own scripts refuse any other Node than the one that it asks for, so that one is installed first and goes first.
$(OPENCLAW_STAMP):
	@node --version >/dev/null 2>&1 && npm --version >/dev/null 2>&1 || { \
		echo "make test-openclaw needs Node.js with npm on the PATH, to install another. Install it and try again." >&2; exit 1; }
	@test "$$(uname -s)" = Linux || { echo "make test-openclaw runs on Linux: that Node is not on npm for others." >&2; exit 1; }
	@echo "Installing OpenClaw $(OPENCLAW_VERSION) and Node $(OPENCLAW_NODE) into $(OPENCLAW)"
	@rm -rf $(OPENCLAW) && mkdir -p $(OPENCLAW)/node
	@set -e; package="node-linux-$$(node -p process.arch)"; \
	npm install --prefix $(OPENCLAW)/node --no-save --no-package-lock --no-audit --no-fund --loglevel=error "$$package@$(OPENCLAW_NODE)"; \
	PATH="$(CURDIR)/$(OPENCLAW)/node/node_modules/$$package/bin:$$PATH" \
	npm install --prefix $(OPENCLAW) --no-save --no-package-lock --no-audit --no-fund --loglevel=error openclaw@$(OPENCLAW_VERSION)
	@touch $@
