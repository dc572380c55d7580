# Two commands for a newcomer: `make demo` and `make test`. Both set up a virtual environment first.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: demo test lint types check imports pictures docs docs-serve docs-documents bench baseline clean

demo: $(VENV)/.run
	$(BIN)/eslabon demo

# Without a Chromium, and without leave to install one, the tests in a browser are skipped and say so.
test: $(VENV)/.dev
	@$(BIN)/python tests/browser.py
	$(BIN)/python -m pytest -n auto --dist worksteal -rs

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/codespell src docs docs_build *.md

types: $(VENV)/.dev
	$(BIN)/mypy

check: lint types test

# Who imports whom, without the imports that others imply; needs Graphviz (tred and dot).
imports: $(VENV)/.dev
	@command -v tred dot > /dev/null || { echo "tred and dot are missing; install Graphviz."; exit 1; }
	$(BIN)/import-linter drawgraph eslabon | sed -e '/"\.__main__"/d' -e '/concentrate/d' -e 's/"\.\([^"]*\)"/"\1"/g' | tred \
	  | dot -Gsize=7 -Granksep=0.3 -Nshape=box -Nstyle=rounded -Nheight=0.3 -Tsvg > docs/imports.svg

# The pictures that drawings are compared with, anew: look at them before they are committed.
pictures: $(VENV)/.dev
	$(BIN)/python tests/drawing/pictures.py

# The documentation site, into build/site; nothing is loaded from a network, neither here nor by the pages.
docs: $(VENV)/.dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

docs-serve: $(VENV)/.dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs serve

# What was found wrong in print, anew from the reports; minutes.
docs-documents: $(VENV)/.dev
	$(BIN)/python docs_build/documents.py

# Minutes of measurement beside the peers; docs/benchmarks.md is written anew. BASE=path names an earlier checkout.
bench: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check roboticstoolbox-python BondGraphTools
	$(BIN)/python benchmarks/run.py $(if $(BASE),--base $(BASE))

# Every verb on many mechanisms, recorded into build/baseline; minutes. BASE=path, an earlier checkout or a recording of one, is
# compared with this checkout: a difference that benchmarks/baseline/expected.toml does not list is a failure.
baseline: $(VENV)/.dev
	$(BIN)/python benchmarks/baseline/run.py $(if $(BASE),--base $(BASE))

# pip runs again only when the dependencies change: the package itself is installed in place.
$(VENV)/.run: pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check --editable '.[study]'
	@touch $@

$(VENV)/.dev: pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check --editable '.[dev]'
	@touch $@ $(VENV)/.run

clean:
	rm -rf $(VENV) build dist out .mypy_cache .ruff_cache .hypothesis
