# Each target sets itself up in .venv; a second run installs nothing.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt
# pytest starts one process per core; more threads would only compete for them. Tests start many processes, which would
# all compile the same modules where the environment says not to write bytecode.
FOR_TESTS := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=

.PHONY: demo test axe slow-tests lint format docs perf reproduce faults fuzz models clean

demo: $(VENV)/installed
	$(BIN)/python examples/demo.py

test: $(VENV)/installed-dev axe
	$(FOR_TESTS) $(BIN)/pytest --numprocesses auto --dist worksteal -m "not slow"

# axe-core, which looks for faults of accessibility on the page of the studio; without it those tests are skipped
AXE := $(VENV)/axe/node_modules/axe-core/axe.min.js
axe: $(VENV)/installed-dev
	@test -f $(AXE) || npm install --silent --no-audit --no-fund --prefix $(VENV)/axe axe-core@4 || echo "axe-core is not installed: npm failed"

# tests that take long, and more cases of others
slow-tests: $(VENV)/installed-dev axe
	$(FOR_TESTS) $(BIN)/pytest --numprocesses auto --dist worksteal -m slow

lint: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# the variable keeps the theme from advertising its successor
docs: $(VENV)/installed-dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

perf: $(VENV)/installed-dev
	$(PIP) --editable ".[peers]"
	$(BIN)/python perf/expr.py | tee perf/results/expr.txt
	$(BIN)/python perf/train.py | tee perf/results/train.txt
	$(BIN)/python perf/evaluate.py | tee perf/results/evaluate.txt
	$(BIN)/python perf/constants.py | tee perf/results/constants.txt
	$(BIN)/python perf/search.py | tee perf/results/search.txt
	$(BIN)/python perf/choice.py | tee perf/results/choice.txt
	$(BIN)/python perf/checkpoints.py | tee perf/results/checkpoints.txt
	$(BIN)/python perf/memory.py | tee perf/results/memory.txt
	$(BIN)/python perf/parallel.py | tee perf/results/parallel.txt
	$(BIN)/python perf/start.py | tee perf/results/start.txt
	$(BIN)/python perf/studio.py | tee perf/results/studio.txt

# the paper's tables and figures: small budgets into out/reproduce, or make reproduce PROFILE=full ITEM=noise
PROFILE ?= quick
reproduce: $(VENV)/installed-dev
	$(BIN)/python experiments/reproduce.py --profile $(PROFILE) $(if $(ITEM),--item $(ITEM))

# kill -9 at random moments, 50 times, some of them on a cluster; a quarter of an hour
faults: $(VENV)/installed-dev
	$(BIN)/python tests/faults/kill_at_random.py | tee experiments/results/faults.md

# a million malformed inputs of every kind; some ten minutes, and the same command resumes
fuzz: $(VENV)/installed-dev
	$(BIN)/python tests/fuzz/run.py --out experiments/results/fuzz.md

# The models that come with edhie and their epochs; a few minutes each on one core. Their cards say how they were made.
SHIPPED := Nguyen-1:120 Nguyen-2:120 Feynman-1:120 Feynman-2:120 $(foreach n,1 2 3 4 5 6,General-$(n):40)
models: $(VENV)/installed-dev
	for each in $(SHIPPED); do \
		name=$${each%:*}; epochs=$${each#*:}; \
		folder=src/edhie/generators/library/$$(echo $$name | tr A-Z a-z); \
		$(BIN)/edhie train $$name --latent 32 --epochs $$epochs --device cpu --out $$folder --force || exit 1; \
	done

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "edhie needs Python 3.11 or newer; set PYTHON=...")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing edhie into $(VENV) (about a minute the first time)"
	$(PIP) --editable .
	@touch $@

$(VENV)/installed-dev: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing edhie and its development tools into $(VENV) (a few minutes the first time)"
	$(PIP) --editable ".[dev]"
	@touch $@ $(VENV)/installed

clean:
	rm -rf $(VENV) out build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
