# `make demo` and `make test` install what they need into .venv and run; nothing else is required.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
STAMP := $(VENV)/.installed
export MERCER_DATA ?= $(abspath $(wildcard ../shared/data))

.PHONY: demo test test-slow lint docs docs-quick bench papers results clean test-kills test-browser

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("Mercer needs Python 3.11 or newer; this is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	@touch $(STAMP)

demo: $(STAMP)
	$(BIN)/mercer demo

test: $(STAMP)
	$(BIN)/python -m pytest -n 2 -m "not slow and not kills and not browser"

test-slow: $(STAMP)
	$(BIN)/python -m pytest -m slow

test-kills: $(STAMP)
	$(BIN)/python -m pytest -m kills

# The page of `mercer watch` in an installed chromium (Debian: apt-get install chromium).
test-browser: $(VENV)/.browser
	$(BIN)/python -m pytest -rs -m browser tests/watch/browser

$(VENV)/.browser: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev,browser]"
	@touch $(VENV)/.browser

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

$(VENV)/.docs: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[docs]"
	@touch $@

# Open build/site/index.html: no server is needed. The quick form shows the longer examples without their pictures.
docs: $(VENV)/.docs
	$(BIN)/python -m pytest -n 2 src/mercer tests/test_documents.py tests/site
	rm -rf docs/gallery docs/reference build/site
	$(BIN)/sphinx-build -b html -W --keep-going -q docs build/site
	$(BIN)/python docs/extensions/built_site.py build/site

docs-quick: $(VENV)/.docs
	rm -rf docs/gallery docs/reference build/quick-site
	MERCER_DOCS=quick $(BIN)/sphinx-build -b html -W --keep-going -q docs build/quick-site
	$(BIN)/python docs/extensions/built_site.py build/quick-site

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
	rm -rf $(VENV) docs/gallery docs/reference demo-out build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
