# Two commands do everything on a fresh clone: make demo, make test.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

# Where this is set, every process compiles torch anew: ten seconds each. Empty is unset.
export PYTHONDONTWRITEBYTECODE =

.PHONY: demo test test-all faults check bench screenshots clean browser

demo: $(READY)
	$(BIN)/depthgauge audit

test: $(READY) browser
	OMP_NUM_THREADS=1 $(BIN)/pytest -n auto --dist worksteal

test-all: $(READY) browser
	OMP_NUM_THREADS=1 $(BIN)/pytest -n auto --dist worksteal -m ""

faults: $(READY)
	OMP_NUM_THREADS=1 $(BIN)/pytest -m "" -n 0 -s tests/faults

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

bench: $(READY)
	mkdir -p build && PYTHONPATH=benchmarks $(BIN)/python -m speed --json build/speed.json
	$(BIN)/python benchmarks/null.py
	$(BIN)/python benchmarks/report.py
	$(BIN)/python benchmarks/store_scale.py
	$(BIN)/python benchmarks/workers.py

# Pictures of reports for the README and the docs.
screenshots: $(READY) browser
	$(BIN)/depthgauge audit --out build/screenshots/teacher
	$(BIN)/python docs/make_screenshots.py build/screenshots/teacher

# The report's pages are tested in Debian's Chromium; without it those tests are skipped.
browser:
	@command -v chromium >/dev/null || { \
		[ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
		{ apt-get install -y -qq --no-install-recommends chromium || \
		  { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium; }; } \
		>/dev/null 2>&1; } || echo "No Chromium: the tests in a browser are skipped."

# torch comes first and pinned: asking for it in any other way may fetch a much larger build.
$(READY): requirements.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --no-compile torch==2.13.0
	$(BIN)/pip install --quiet --no-compile -r requirements.lock
	$(BIN)/pip install --quiet --no-deps --no-build-isolation --editable .
	touch $@

clean:
	rm -rf $(VENV) dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
