# `make demo` and `make test` install what they need into .venv and run; nothing else is required.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
STAMP := $(VENV)/.installed
export MERCER_DATA ?= $(abspath $(wildcard ../shared/data))

.PHONY: demo test test-slow lint bench papers results clean

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("Mercer needs Python 3.11 or newer; this is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	@touch $(STAMP)

demo: $(STAMP)
	$(BIN)/mercer demo

test: $(STAMP)
	$(BIN)/python -m pytest -n 2 -m "not slow"

test-slow: $(STAMP)
	$(BIN)/python -m pytest -m slow

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(STAMP)
	$(BIN)/python -m benchmarks

papers: $(STAMP)
	$(BIN)/python -m papers --quick -o build/quick

# Takes hours: the papers at full size, all benchmarks, and docs/results.md from both. After an interrupt, run it again
# to continue.
results: $(STAMP)
	$(BIN)/python -m papers -o build/reproduced
	$(BIN)/python -m benchmarks --all
	$(BIN)/python -m benchmarks.results_page

clean:
	rm -rf $(VENV) demo-out build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
