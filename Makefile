# Everything runs in .venv, which the first target makes. Nothing is needed but Python 3.11 to 3.13 and make.

PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3; do command -v $$p >/dev/null 2>&1 && $$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' 2>/dev/null && echo $$p && break; done)
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready-$(shell cat pyproject.toml constraints.txt | cksum | cut -d' ' -f1)

.PHONY: demo test lint docs bench bench-crew bench-sweep bench-live bench-dashboard soak-quarter live-smoke tiny-llm clean

# A home of its own, so that the demo neither needs nor touches anybody's books.
DEMO_BOOKS := sqlite:///data/demo.db
DEMO = @echo; echo '$$ alphaagent $(1)'; ALPHAAGENT_DATABASE_URL=$(DEMO_BOOKS) $(BIN)/alphaagent $(1)

demo: $(READY)
	@rm -f data/demo.db data/demo.db-wal data/demo.db-shm
	$(call DEMO,decide AAPL --as-of 2022-09-16 --engine heuristic)
	$(call DEMO,settle --as-of 2022-09-19)
	$(call DEMO,portfolio show --as-of 2022-09-19)
	$(call DEMO,replay last)
	$(call DEMO,audit verify --replay)
	@echo
	@echo "Apple on 2022-09-16, decided on recorded data; the order filled at the next session's open; all of it is in data/demo.db."
	@echo "Look at it again:    ALPHAAGENT_DATABASE_URL=$(DEMO_BOOKS) $(BIN)/alphaagent show last"
	@echo "Postings:            ALPHAAGENT_DATABASE_URL=$(DEMO_BOOKS) $(BIN)/alphaagent ledger show"
	@echo "A book of your own:  $(BIN)/alphaagent decide NVDA --as-of 2023-08-24"

test: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -n auto

lint: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/mypy

docs: $(READY)
	$(BIN)/python docs/make_cli_page.py

bench: $(READY)
	$(BIN)/python tests/benchmarks/measure.py

bench-crew: $(READY)
	$(BIN)/python tests/benchmarks/crew.py

bench-live: $(READY)
	$(BIN)/python tests/benchmarks/live.py

bench-sweep: $(READY)
	$(BIN)/python tests/benchmarks/sweep.py

# A ledger of 100,000 decisions and what the dashboard's pages take of it; needs three gigabytes of disk and some minutes.
bench-dashboard: $(READY)
	$(BIN)/python tests/benchmarks/dashboard.py

# A quarter of nights on which runs are killed, models are away and sources are lost; some 20 minutes, never part of the tests (eight nights are).
soak-quarter: $(READY)
	$(BIN)/python tests/soak/quarter.py

# The real vendors, where there is a network: make live-smoke TICKER=AAPL CONTACT="Name mail@example.org"; never part of the tests.
TICKER ?= AAPL
CONTACT ?=
live-smoke: $(READY)
	$(BIN)/python tests/smoke/live.py '$(TICKER)' '$(CONTACT)'

# A real model of 135 million parameters. Compiles its server once, in .venv-tiny; never part of the tests.
tiny-llm: $(READY)
	$(BIN)/python tests/tiny_llm/run.py --venv .venv-tiny

$(READY): pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "Python 3.11, 3.12 or 3.13 is needed and was not found" >&2; exit 1; }
	@echo "Making $(VENV) with $(PYTHON); the first time takes a few minutes."
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@rm -f $(VENV)/.ready-*
	@touch $@

clean:
	rm -rf $(VENV) .venv-tiny build dist .mypy_cache .ruff_cache .pytest_cache
