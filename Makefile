# Every target makes the environment and installs what it needs: nothing to do before it.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check install --quiet

.DEFAULT_GOAL := help
.PHONY: help demo lab llama test check soak clean bubblewrap chromium

help:
	@echo "make demo   gate three candidates on the shipped model and say why (about 3 minutes)"
	@echo "make test   everything CI runs"
	@echo "make lab    open the notebooks"
	@echo "make llama  llama.cpp as a second reference, on the shipped model and on its float32 form"
	@echo "make check  lint, types, tests of the package with coverage"
	@echo "make soak   long campaigns: kills, mutations, live power"
	@echo "make clean  remove the environment and what runs leave behind"

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed-run: $(BIN)/python pyproject.toml
	$(PIP) -e .
	@touch $@

$(VENV)/.installed-test: $(BIN)/python pyproject.toml
	$(PIP) -e '.[test,sign]'
	@touch $@ $(VENV)/.installed-run

$(VENV)/.installed-lab: $(BIN)/python pyproject.toml
	$(PIP) -e '.[lab]'
	@touch $@

# Rows are `sealed` only inside bubblewrap; without it everything still runs and says so.
bubblewrap:
	@command -v bwrap >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
	  && { apt-get update -qq && apt-get install -y -qq bubblewrap; } >/dev/null 2>&1; } \
	  || echo "bubblewrap is not here and could not be installed: rows will be 'unconfined'"

# The page and the widgets are looked at in a real browser where there is one; without it those tests skip.
chromium:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null \
	  || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
	  && { apt-get update -qq && apt-get install -y -qq chromium; } >/dev/null 2>&1; } \
	  || echo "chromium is not here and could not be installed: the browser tests will skip"

demo: $(VENV)/.installed-run bubblewrap
	@$(BIN)/scoreboard demo

# From the root of the checkout, so that links from a notebook to the code and the glossary open.
lab: $(VENV)/.installed-lab
	$(BIN)/jupyter lab --ServerApp.root_dir=. $(if $(filter 0,$(shell id -u)),--allow-root) labs/00_orientation.ipynb

$(VENV)/.installed-llama: $(BIN)/python pyproject.toml
	$(PIP) -e '.[llama]'
	@touch $@

llama: $(VENV)/.installed-llama bubblewrap
	rm -rf fixtures/engines/llama_loose fixtures/engines/llama_strict
	$(BIN)/scoreboard adapt llama.cpp --into fixtures/engines/llama_loose
	$(BIN)/scoreboard adapt llama.cpp --into fixtures/engines/llama_strict --settings strict
	$(BIN)/python -m fixtures.model.dequantise fixtures/model/austen-q8_0-as-f32.gguf

check: $(VENV)/.installed-test bubblewrap
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest labs solutions
	$(BIN)/pytest tests --cov --cov-report=term -m "not soak"

test: chromium check

soak: $(VENV)/.installed-test bubblewrap
	$(BIN)/pytest -m soak

clean:
	rm -rf $(VENV) build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
