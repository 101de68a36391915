# The two commands to know: `make demo` and `make test`. Each prepares what it needs, and nothing twice.

PORT ?= 7420
OPEN ?= 1
PYTHON = .venv/bin/python
export PORT OPEN
# pytest rewrites asserts, and keeps what it has rewritten: without its caches every run pays for that anew.
unexport PYTHONDONTWRITEBYTECODE
# Files of tests side by side, in their order: browsers come last, and leave no room for another loop.
SIDE_BY_SIDE = -n auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder

# Of the SDK's unit tests, those that run beside Core's: so that both halves take as long.
VALUES = $(addprefix tests/unit/sdk/test_,cases.py json_encode.py json_parse.py)

.PHONY: demo test unit unit-core unit-sdk bench screenshots fuzz lint release lock clean

demo: ## Core with the demo page at http://127.0.0.1:$(PORT)/; OPEN=0 opens no browser
	@scripts/setup.sh demo
	@exec $(PYTHON) -m scripts.demo

test: ## the whole suite, real browsers included
	@scripts/setup.sh test
	@$(MAKE) --no-print-directory lint
	@$(PYTHON) -m pytest $(SIDE_BY_SIDE)

unit: ## the unit tests alone, in two halves side by side
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target unit-core unit-sdk

unit-core:
	@$(PYTHON) -m pytest -q tests/unit/core tests/unit/test_*.py $(VALUES)

unit-sdk:
	@$(PYTHON) -m pytest -q tests/unit/sdk $(addprefix --ignore=,$(VALUES))

bench: ## the measurements, as ratios; NAME="…" runs some (python -m bench --list)
	@scripts/setup.sh test
	@$(PYTHON) -m bench $(NAME)

screenshots: ## the pictures of the README, taken of the real demo
	@scripts/setup.sh test
	@$(PYTHON) -m scripts.screenshots

fuzz: ## 100 000 inputs that nobody would send, and as many as coverage finds in a minute where atheris is there
	@scripts/setup.sh test
	@$(PYTHON) -m pytest -q tests/security/test_fuzz.py --fuzz 100000
	@$(PYTHON) -m tests.security.atheris_run 60

lint: ## the gates: lint rules, format, types
	@$(PYTHON) -m ruff check .
	@$(PYTHON) -m ruff format --check .
	@$(PYTHON) -m mypy

release: ## the three wheels to publish, into dist/
	@scripts/setup.sh demo
	@$(PYTHON) -m scripts.release

lock: ## resolve all dependencies anew
	@$(PYTHON) -m scripts.lock

clean: ## remove everything that the other targets made
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis test-results
