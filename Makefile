# Two commands for a newcomer: `make demo` and `make test`. Both set up a virtual environment first.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: demo test lint types check bench clean

demo: $(VENV)/.run
	$(BIN)/eslabon demo

test: $(VENV)/.dev
	$(BIN)/python -m pytest -n auto

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

check: lint types test

# Minutes of measurement beside the peers; docs/benchmarks.md is written anew.
bench: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check roboticstoolbox-python
	$(BIN)/python benchmarks/run.py

# pip runs again only when the dependencies change: the package itself is installed in place.
$(VENV)/.run: pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[plot]'
	@touch $@

$(VENV)/.dev: pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@ $(VENV)/.run

clean:
	rm -rf $(VENV) build dist out .mypy_cache .ruff_cache .hypothesis
