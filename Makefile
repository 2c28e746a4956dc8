# Two commands matter: `make demo` shows what this does, `make test` checks that it does.
# Everything they need is set up by them, in .venv, with uv if it is there and pip otherwise.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready
REFERENCE := .reference
LOWEST := .lowest
FUZZ := .fuzz
PYTEST_WORKERS ?= 2

.PHONY: demo test test-all test-lowest fuzz fuzz-guided lint types unit site goldens conformance bench-data bench-cold lock clean help

help:  ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

$(STAMP): pyproject.toml
	@if command -v uv >/dev/null 2>&1; then \
	  uv venv --quiet --allow-existing --python $(PYTHON) $(VENV) && \
	  uv pip install --quiet --python $(BIN)/python --group dev -e . ; \
	else \
	  $(PYTHON) -m venv $(VENV) && \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1' && \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check --group dev -e . ; \
	fi
	@touch $@

demo: $(STAMP)  ## the main job, small, on this machine's CPU
	@$(BIN)/python -m hint_relic demo

test: lint types site unit  ## lint, types, the documentation site, and all tests but the slow ones

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

site: $(STAMP)  ## the documentation, in .site/html; a broken link fails
	$(BIN)/python website/build.py

unit: $(STAMP)
	$(BIN)/pytest -n $(PYTEST_WORKERS) -m "not slow"

test-all: lint types site test-lowest  ## everything: the slow tests, and the lowest versions
	$(BIN)/pytest -n $(PYTEST_WORKERS)

$(LOWEST)/.ready: pyproject.toml
	$(PYTHON) -m venv $(LOWEST)
	$(PYTHON) -c 'import tomllib; [print(d.replace(">=", "==")) for d in \
	  tomllib.load(open("pyproject.toml", "rb"))["project"]["dependencies"]]' > $(LOWEST)/lowest.txt
	$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check -c $(LOWEST)/lowest.txt --group dev -e .
	@touch $@

test-lowest: $(LOWEST)/.ready  ## the quick tests with the lowest versions of the dependencies
	$(LOWEST)/bin/python -m pytest -n $(PYTEST_WORKERS) -m "not slow"

fuzz: $(STAMP)  ## a million bad inputs to everything that reads files (minutes)
	PYTHONPATH=tests $(BIN)/python -m trust.fuzz --inputs 1000000

$(FUZZ)/.ready: pyproject.toml
	$(PYTHON) -m venv $(FUZZ)
	$(FUZZ)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(FUZZ)/bin/python -m pip install --quiet --disable-pip-version-check --group fuzz -e .
	@touch $@

fuzz-guided: $(FUZZ)/.ready  ## a million more, steered by coverage (atheris)
	PYTHONPATH=tests $(FUZZ)/bin/python -m trust.guided --inputs 1000000

$(REFERENCE)/.ready: pyproject.toml
	$(PYTHON) -m venv $(REFERENCE)
	$(REFERENCE)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(REFERENCE)/bin/python -m pip install --quiet --disable-pip-version-check dm-clrs==2.0.3 --group dev -e .
	@touch $@

conformance: $(REFERENCE)/.ready  ## compare with dm-clrs 2.0.3, live: traces, rewrites, network
	$(REFERENCE)/bin/python -m pytest -c conformance/pytest.ini conformance

goldens: $(REFERENCE)/.ready  ## remake tests/goldens from dm-clrs 2.0.3
	$(REFERENCE)/bin/python conformance/make_goldens.py

bench-data: $(STAMP)  ## traces per second, against dm-clrs where `make conformance` has been run
	$(BIN)/python benchmarks/data.py

bench-cold: $(STAMP)  ## seconds that the first draw of each algorithm takes, with nothing compiled
	$(BIN)/python benchmarks/cold.py

lock:  ## requirements.lock, with hashes and without hosts
	uv pip compile --universal --generate-hashes --no-header --no-emit-index-url --group dev pyproject.toml -o requirements.lock

clean:
	rm -rf $(VENV) $(REFERENCE) $(LOWEST) $(FUZZ) .site .pytest_cache .mypy_cache .ruff_cache
