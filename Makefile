# make demo   set up and show what discotag does
# make check  style, types and the quick tests: about two minutes on two cores
# make test   set up and run every check
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: help demo check test lint tests wheel docs format bench clean

help:
	@sed -n 's/^# make/make/p' Makefile

# A stamp in the environment for each set of packages: set-up runs again only when these change.
$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "discotag needs Python 3.11 or newer; try: make PYTHON=python3.12" >&2; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(VENV)/.base: $(VENV)/.made pyproject.toml constraints.txt
	$(PIP) install -c constraints.txt -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.base
	$(PIP) install -c constraints.txt -e '.[dev,docs,train,corpora,tables,ray,serve,spacy,datasets]'
	@touch $@

$(VENV)/.bench: $(VENV)/.base
	$(PIP) install -c constraints.txt -e '.[bench,train,corpora,tables,serve,spacy]'
	@touch $@

demo: $(VENV)/.base
	@$(BIN)/discotag predict --sentences lines --format terminal docs/demo.txt

check: lint
	$(BIN)/pytest -n auto -m "not slow"

test: lint wheel docs tests

# make lint   style, types and the order of the house
lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# make tests  the tests alone
tests: $(VENV)/.dev
	$(BIN)/pytest -n auto

# make docs   build the documentation in site/; nothing is loaded from elsewhere
docs: $(VENV)/.dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet

# make wheel  build the package, install it alone in a new environment elsewhere, and try it there
wheel: $(VENV)/.dev
	@set -e; folder=$$(mktemp -d); trap 'rm -rf "$$folder"' EXIT; \
	PIP_CONSTRAINT="$(CURDIR)/constraints.txt" $(BIN)/python -m build --outdir "$$folder" . >"$$folder/log" 2>&1 \
	  || { cat "$$folder/log" >&2; exit 1; }; \
	$(PYTHON) -m venv --without-pip "$$folder/env"; \
	$(PIP) --python "$$folder/env/bin/python" install --no-compile -c constraints.txt "$$folder"/*.whl; \
	cp tests/installed.py "$$folder"; cd "$$folder"; env -u PYTHONPATH env/bin/python -I installed.py

# make format put the code into shape
format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# make bench  the figures of README and docs
bench: $(VENV)/.bench
	$(BIN)/python benchmarks/scheme.py
	$(BIN)/python benchmarks/inference.py
	$(BIN)/python benchmarks/corpora.py
	$(BIN)/python benchmarks/lexicon.py
	$(BIN)/python benchmarks/prediction.py
	$(BIN)/python benchmarks/spacy_pipeline.py
	$(BIN)/python benchmarks/tables.py
	$(BIN)/python benchmarks/serving.py

# make clean  remove the environment and caches
clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
