# Every target does its own set-up: Python 3.11 or later and make are enough.

PYTHON ?= python3
BIN := .venv/bin
PACKAGES := .venv/.packages
READY := .venv/.ready
PEERS := .venv/.peers
APART := $(patsubst %,.venv/%/.ready,tumult smartnoise diffprivlib)
PYRIGHT := .venv/.pyright
BROWSER := .venv/.browser
SITE := .venv/.site
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet --quiet
PINS := requirements/pins.txt
NEWEST := build/newest
NEWEST_PIP := $(NEWEST)/bin/python -m pip --disable-pip-version-check --quiet install
LIARS := $(wildcard tests/laws/test_footer_laws.py tests/laws/test_liar_laws.py \
	tests/laws/test_lazy_source_laws.py tests/unit/engines/test_duckdb_plans.py \
	tests/unit/engines/test_postgres_beliefs.py tests/unit/engines/test_spark_beliefs.py)
COVERED := src/sordino/losses/*,src/sordino/losses/curves/*,src/sordino/losses/budgets/*,src/sordino/noise/*,src/sordino/noise/threshold/*,src/sordino/noise/sampling/*,src/sordino/data/contribution.py,src/sordino/ledger/*
# per cent of lines
LEAST ?= 100
# signals that these tests send at any instant may strike while coverage holds its own lock
UNCOUNTED := --ignore tests/unit/ledger/test_ledger_interrupts.py
# a worker that is done takes over from the other
SHARED := --numprocesses 2 --dist worksteal
# compiled tests are kept: a third of a start would go to compiling them anew
check fast test coverage: export PYTHONDONTWRITEBYTECODE :=
MINUTES ?= 60
SEED ?= 1
AUDIT_MINUTES ?= 15
DATED = $(or $(filter-out 1,$(SEED)),$(shell date -u +%Y%m%d))

.PHONY: help venv demo test lint check fast bench coverage audit probe evening night mutants nets proofs wheel \
	pythons picture pictures docs format clean

help:  ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

venv: $(READY)  ## set up .venv with pinned packages and Sordino itself

demo: $(READY)  ## see Sordino at work
	@$(BIN)/python -m sordino.demo

test: $(READY) $(BROWSER)  ## run every test, the slow statistical ones included
	@SORDINO_PROFILE=ci $(BIN)/python -m pytest --quiet $(SHARED)

lint: $(READY) $(PYRIGHT)  ## format, lint, types and layers
	@! grep -n '://' requirements/*.txt || { echo "pins name no addresses"; exit 1; }
	@$(BIN)/ruff format --check --quiet . || { echo "run: make format"; exit 1; }
	@$(BIN)/ruff check --quiet
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/python -m tests.typing.pages build/pages
	@if test -x $(BIN)/pyright; then $(BIN)/pyright > .venv/pyright.log || \
		{ cat .venv/pyright.log; exit 1; }; \
		else echo "PYRIGHT COULD NOT BE INSTALLED (.venv/pyright.log):"; \
		echo "types were NOT CHECKED as editors see them"; fi
	@$(BIN)/lint-imports --no-logo > .venv/layers.log 2>&1 || { cat .venv/layers.log; exit 1; }
	@echo "format, lint, types and layers are in order"

check: $(READY) $(PYRIGHT)  ## lint, fast tests, executable docs, side by side
	@$(MAKE) --no-print-directory --jobs 2 --output-sync=target lint fast

fast: $(READY)  ## the fast tests alone
	@$(BIN)/python -m pytest --quiet $(SHARED) -m "not slow"

bench: $(READY) $(PEERS) $(APART)  ## measure against the peers, print the table; ROWS=Laplace
	@$(BIN)/python -m benchmarks $(ROWS) $(MORE)
	@SORDINO_PROFILE=night $(BIN)/python -m pytest --quiet -n 0 tests/test_docs.py -k other_tools

coverage: $(READY)  ## fail if a line of COVERED is reached by no fast test
	@$(BIN)/python -m pytest --quiet $(SHARED) -m "not slow" --cov --cov-report= $(UNCOUNTED)
	@$(BIN)/python -m coverage report --include="$(COVERED)" --fail-under=$(LEAST)

audit: $(READY) $(BROWSER) $(SITE)  ## try to prove it wrong; then the statistical tests alone
	@mkdir -p build
	@$(BIN)/sordino audit --minutes $(AUDIT_MINUTES) --seed $(SEED) --out build/audit.html \
		--facts build/audit.json
	@$(BIN)/python -m tests.assurance build/audit.json
	@$(BIN)/python -m tests.hostile --seed $(SEED) --calls 100000 --out build/inputs.json
	@$(BIN)/python -m tests.assurance build/inputs.json inputs
	@SORDINO_PROFILE=night $(BIN)/python -m pytest --quiet -m slow

probe: $(READY)  ## the audit in three minutes, drawn by the date; SEED=20261128
	@mkdir -p build
	@echo "an audit by the seed $(DATED); repeat: make probe SEED=$(DATED)"
	@$(BIN)/sordino audit --minutes 1.25 --seed $(DATED)
	@$(BIN)/sordino audit --minutes 0.75 --seed $(DATED) --engine duckdb
	@$(BIN)/python -m tests.hostile --count 40 --calls 1000 --seed $(DATED) 2> build/probe.log || \
		{ cat build/probe.log; exit 1; }

night: $(READY)  ## ask the newest engines about files and tables that lie; name new steps of plans
	@rm -rf $(NEWEST)
	@$(BIN)/python -m venv $(NEWEST)
	@$(NEWEST_PIP) -r $(PINS)
	@$(NEWEST_PIP) --pre --upgrade duckdb polars pyarrow
	@$(NEWEST_PIP) --no-build-isolation --no-deps -e .
	@SORDINO_PROFILE=night $(NEWEST)/bin/python -m pytest --quiet $(LIARS)
	@$(NEWEST)/bin/python -m tests.plan_names
	@$(NEWEST)/bin/sordino audit --minutes 5 --engine duckdb --seed $(SEED)

evening: $(READY) $(BROWSER)  ## ask a sample of the night, drawn by the date; MINUTES=60 SEED=20261123
	@$(BIN)/python -m tests.evening --minutes $(MINUTES) $(and $(filter-out 1,$(SEED)),--seed $(SEED))

mutants: $(READY)  ## plant errors in a copy, print what no test notices; MINUTES=60 SEED=1
	@nice $(BIN)/python -m tests.mutants --minutes $(MINUTES) --seed $(SEED) $(MORE)

nets: $(READY)  ## say which net catches which planted error, in docs/assurance.md; MINUTES=60
	@mkdir -p build
	@nice $(BIN)/python -m tests.mutants.nets --minutes $(MINUTES) --out build/nets.json
	@$(BIN)/python -m tests.assurance build/nets.json nets

proofs: $(READY)  ## check the lemmas of proofs/*.v, where coqc is installed
	@$(BIN)/python -m tests.machine_checked

wheel: $(READY)  ## build dist/, and try the wheel where the source is not
	@$(BIN)/python -m tests.delivery

pythons: $(READY)  ## try the wheel on every Python that pyproject.toml names
	@$(BIN)/python -m tests.delivery --pythons

picture: $(READY) $(BROWSER)  ## make the picture of a report that README shows
	@$(BIN)/python -m tests.browser.front_page

pictures: $(READY)  ## draw the pictures of ideas
	@$(BIN)/python -m tests.site.drawings

docs: $(READY) $(SITE)  ## build the site of these pages, with search, in build/site
	@$(BIN)/python -m tests.site build/site

format: $(READY)  ## format, and mend what lint can mend
	@$(BIN)/ruff format --quiet .
	@$(BIN)/ruff check --quiet --fix --exit-zero

clean:  ## remove everything that was made
	@rm -rf .venv dist build .coverage .*_cache .hypothesis
	@find src tests benchmarks -name __pycache__ -prune -exec rm -rf {} +

$(PACKAGES): $(PINS)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Sordino needs Python 3.11 or later: make PYTHON=python3.12"; exit 1; }
	@echo "setting up .venv (once, about a minute)"
	@$(PYTHON) -m venv --clear .venv
	@$(PIP) install -r $(PINS)
	@touch $@

$(READY): $(PACKAGES) pyproject.toml
	@$(PIP) install --no-build-isolation --no-deps -e .
	@touch $@

$(PEERS): $(PACKAGES) requirements/peers.txt
	@$(PIP) install -r requirements/spark.txt > .venv/pyspark.log 2>&1 || \
		echo "pyspark cannot be installed here (.venv/pyspark.log): its rows will say so"
	@for peer in opendp dp-accounting riskcal pipeline-dp; do \
		$(PIP) install -c $(PINS) -c requirements/peers.txt $$peer > .venv/$$peer.log 2>&1 || \
		echo "$$peer cannot be installed here (.venv/$$peer.log): its rows will say so"; \
	done
	@touch $@

# in environments of their own: they need an older Spark, OpenDP or scikit-learn
$(APART): .venv/%/.ready: requirements/%.txt $(PACKAGES)
	@{ $(PYTHON) -m venv --clear .venv/$* && .venv/$*/bin/python -m pip install \
		--disable-pip-version-check --quiet -r $< && touch $@; } > .venv/$*.log 2>&1 || \
		echo "$* cannot be installed here (.venv/$*.log): its rows will say so"

$(PYRIGHT): $(PACKAGES) requirements/pyright.txt
	@$(PIP) install -c $(PINS) -r requirements/pyright.txt > .venv/pyright.log 2>&1 || true
	@touch $@

# what judges pages for the tests that look at them; it wants a browser of its own
$(BROWSER): $(PACKAGES) requirements/browser.txt
	@$(PIP) install --no-deps -r requirements/browser.txt > .venv/browser.log 2>&1 || \
		echo "NO BROWSER: axe-core cannot be installed here (.venv/browser.log)"
	@touch $@

$(SITE): $(PACKAGES) requirements/site.txt
	@$(PIP) install -c $(PINS) -r requirements/site.txt
	@touch $@
