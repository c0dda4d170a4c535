# What one types; `make help` lists it. Everything runs in .venv, which is made on first use.
PYTHON ?= python3
BIN := .venv/bin
EXTRAS := dev
.DEFAULT_GOAL := help

.PHONY: help setup chromium test test-all check lint wheel docs play demo bench golden clean

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: .venv/installed ## make .venv and install the project with all it is tested with

.venv/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	# torch first and alone: its pinned CPU build, before anything could ask for another
	$(BIN)/pip install -q -c constraints.txt torch==2.13.0
	$(BIN)/pip install -q -c constraints.txt -e ".[$(EXTRAS)]"
	touch $@

# The browser tests use the system's own; without it they fail, and say so.
chromium:
	@command -v chromium || command -v chromium-browser || command -v google-chrome || \
	if [ "$$(id -u)" = 0 ]; then apt-get install -y -q chromium || { apt-get update -q && apt-get install -y -q chromium; }; \
	elif sudo -n true 2>/dev/null; then sudo apt-get update -q && sudo apt-get install -y -q chromium; \
	else echo "The browser tests need Chromium, and this user may not install it: on Debian, apt-get install chromium"; fi

test: ## the tests, on two cores; installs Chromium for those in the browser
	$(MAKE) -j2 setup chromium
	$(BIN)/python -m pytest -n 2 --dist loadgroup -m "not slow"

test-all: ## all tests, those of other frameworks (in an environment of their own) and measurements too
	$(MAKE) -j2 setup chromium
	$(BIN)/python -m pytest -n 2 --dist loadgroup

check: lint wheel docs ## ruff, mypy, the walls between packages, a clean install of the wheel, and the site

lint: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

wheel: setup
	$(BIN)/python -m tools.wheel_check

docs: setup ## the documentation, in build/site; a warning is an error
	$(BIN)/python -m sphinx -W --keep-going -q docs build/site
	@echo build/site/index.html

.venv/playable: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/pip install -q -c constraints.txt -e ".[play]"
	touch $@

play: .venv/playable ## play against the agents in the browser
	$(BIN)/python -m agents play

demo: export OMP_NUM_THREADS = 1
demo: setup ## train an agent by self-play in a few minutes and show how it does
	$(BIN)/python -m train demo

bench: setup ## speed, as ratios to OpenSpiel and PettingZoo in one run
	$(BIN)/python -m tools.bench
	$(BIN)/python -m tools.bench --training --rounds 5 --seconds 5 --out runs/bench-training.json

golden: setup ## write the golden playthroughs anew, to be read before they are committed
	$(BIN)/python -m tests.golden

clean: ## remove what can be made again
	rm -rf .venv runs dist build docs/_generated .pytest_cache .ruff_cache .mypy_cache
