# make up     set up, sweep the market once, serve app and Dagster side by side
# make demo   the same on a made-up market, without any network
# make test   lint, types, unit and integration tests
#
# Needs git, make, and Python 3.11 to 3.14 with venv. Everything else goes into .venv.

SHELL := /bin/sh
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PYTEST := $(BIN)/pytest

export DAGSTER_HOME ?= $(CURDIR)/.dagster
export DAGSTER_DISABLE_TELEMETRY := 1
# Build machines often set it; then every process would compile the project anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help up demo test lint browser recorded bench lock clean set-up

help:
	@sed -n 's/^# \(make .*\)/\1/p' Makefile
	@echo 'make browser, recorded, bench   slower checks, and benchmarks'
	@echo 'make lint, lock, clean          formatters and types; new locks; remove what was made'

up: $(STAMP)
	@exec $(BIN)/tokentape up

demo: $(STAMP)
	@exec $(BIN)/tokentape demo

# Each worker goes through a half of the tests in order, so that what a module shares is made once;
# the one that is done first takes over from the other.
test: lint
	$(PYTEST) -n 2 --dist worksteal -m "not browser and not recorded"

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

browser: $(STAMP)
	$(PYTEST) -m browser

recorded: $(STAMP)
	$(PYTEST) -m recorded

bench: $(STAMP)
	$(BIN)/python -m benchmarks $(BENCH)

set-up: $(STAMP)

# Newer than the locks, so that only a change of them installs again.
$(STAMP): requirements.lock requirements/bootstrap.lock pyproject.toml
	@set -e; found=; \
	for candidate in "$(PYTHON)" python3 python3.14 python3.13 python3.12 python3.11; do \
	    if [ -n "$$candidate" ] && "$$candidate" -c \
	        'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' 2>/dev/null; \
	    then found=$$candidate; break; fi; \
	done; \
	if [ -z "$$found" ]; then \
	    echo 'tokentape needs Python 3.11 to 3.14; install one, or name it: make PYTHON=/path/to/python' >&2; \
	    exit 2; \
	fi; \
	if ! $(BIN)/python -c \
	    'import pip, sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' 2>/dev/null; then \
	    echo "making $(VENV) with $$found"; \
	    "$$found" -m venv --clear $(VENV) || { \
	        echo "$$found cannot make a venv; on Debian: apt-get install python3-venv" >&2; exit 2; }; \
	fi; \
	echo 'installing the locked packages'; \
	$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements/bootstrap.lock; \
	$(BIN)/uv pip install -q --python $(BIN)/python --require-hashes --compile-bytecode -r requirements.lock; \
	$(BIN)/uv pip install -q --python $(BIN)/python --no-deps --no-build-isolation -e .
	@touch $(STAMP)

# Without addresses, so that any mirror serves them.
lock: $(STAMP)
	$(BIN)/uv pip compile -q --universal --generate-hashes --no-header --no-annotate \
	    --python-version 3.11 --all-extras --upgrade pyproject.toml -o requirements.lock
	$(BIN)/uv pip compile -q --universal --generate-hashes --no-header --no-annotate \
	    --python-version 3.11 --upgrade requirements/bootstrap.in -o requirements/bootstrap.lock

# Data, and the history in it, stays.
clean:
	rm -rf $(VENV) build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -not -path './data*' -prune -exec rm -rf {} +
