# Two commands for a newcomer: `make demo` and `make test`. Both set up a virtual environment first.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: demo test quick budget nightly lint types check imports pictures docs docs-serve docs-documents bench images baseline clean

demo: $(VENV)/.run
	$(BIN)/eslabon demo

# One worker more than cores: some tests wait for browsers, kernels and other processes.
WORKERS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)

# Without a Chromium, and without leave to install one, the tests in a browser are skipped and say so.
# Compiled code is kept in build/test-cache from run to run; COLD=1 starts from an empty one.
test: $(VENV)/.dev
	@$(BIN)/python tests/browser.py
	$(if $(COLD),rm -rf build/test-cache)
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -rs

# While you work: the formulas and all below them, and one test of every part above; no browser, nothing slow.
quick: $(VENV)/.dev
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m "not slow and not browser" $(QUICK)

QUICK := $(addprefix tests/,numerics model files compiler export formulas test_smoke.py)

# The whole suite from an empty cache; fails where a folder takes more CPU time than tests/budget.toml gives it.
budget:
	ESLABON_BUDGET=strict $(MAKE) test COLD=1

# Other random examples and more of them, code as users compile it, tests in random order; an hour or more.
# The seed is printed, and `make nightly SEED=...` repeats a run.
SEED ?= $(shell date +%Y%m%d)
nightly: $(VENV)/.dev
	@echo "SEED=$(SEED)"
	HYPOTHESIS_PROFILE=nightly ESLABON_OPTIMIZATION=1 ESLABON_TEST_SEED=$(SEED) $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -rs \
	  --random-order --random-order-seed=$(SEED) --hypothesis-seed=$(SEED)

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

# The pictures of the README and of the pages, and the gallery's table; look at them before they are committed.
images: $(VENV)/.dev
	$(BIN)/python docs_build/images.py
	$(BIN)/python docs_build/gallery.py

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
