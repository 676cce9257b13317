# make demo   sets up and shows the main job on shipped data
# make test   sets up, a browser and MariaDB included, and runs the tests, all but the slow ones
# make slow   the slow ones: large margin tables, Spark, hundreds of kills
# make check  lint, format, types
# make bench  the benchmarks, each beside its peers
# make docs   the documentation, into docs/_build/html
PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin

# The tests start Python hundreds of times; without bytecode each of them compiles all it imports.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test slow programs check format bench docs clean

$(VENV)/base: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(RUN)/pip install --quiet --constraint constraints.txt --editable .
	touch $@

$(VENV)/dev: $(VENV)/base
	$(RUN)/pip install --quiet --constraint constraints.txt --editable '.[test,check]'
	touch $@

$(VENV)/docs: $(VENV)/base
	$(RUN)/pip install --quiet --constraint constraints.txt --editable '.[docs]'
	touch $@

demo: $(VENV)/base
	$(RUN)/python examples/ask.py

programs:
	tests/install_programs

test: programs $(VENV)/dev
	$(RUN)/pytest -n auto -m 'not slow'

slow: programs $(VENV)/dev
	$(RUN)/pytest -n auto -m slow

check: $(VENV)/dev
	$(RUN)/ruff check
	$(RUN)/ruff format --check
	$(RUN)/mypy
	$(RUN)/lint-imports --no-logo

format: $(VENV)/dev
	$(RUN)/ruff check --fix
	$(RUN)/ruff format

bench: $(VENV)/dev
	$(RUN)/pip install --quiet --constraint constraints.txt --editable '.[bench]'
	for script in benchmarks/*.py; do $(RUN)/python $$script || exit 1; done

docs: $(VENV)/docs
	$(RUN)/python docs/figures.py
	$(RUN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html

clean:
	rm -rf $(VENV) docs/_build .mypy_cache .pytest_cache .ruff_cache .hypothesis
