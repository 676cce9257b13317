# make demo   sets up and shows the main job on shipped data
# make proofs the machine-checked proofs, every theorem with what it assumes: nothing
# make test   sets up, browser, Node, databases, nginx, R and Coq included, and runs the tests, all but the slow ones
# make slow   the slow ones: large margin tables, Spark, hundreds of kills
# make check  lint, format, types
# make fuzz   odd things given to everything public, for an hour, or SECONDS for each of two fuzzers
# make mutants  small faults in the package, one at a time: does a test fail? For SECONDS, of MODULES
# make bench  the benchmarks, each beside its peers
# make docs   the documentation, into docs/_build/html; it audits the installed libraries
# make dist   wheel, sdist and a list of all that they need (CycloneDX), into dist
# make container  the image of deploy/Containerfile: built, run, asked and stopped; needs root
# make paper  a short paper, into paper/_build
# make shots  the picture of the studio in the README, which Git keeps
PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin
SECONDS ?= 1800 # of each of the two fuzzers, or of mutants
MODULES ?= # below src/rainbowdp, with wildcards; none for all

# The tests start Python hundreds of times; without bytecode each of them compiles all it imports.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test slow programs proofs check format fuzz mutants bench docs shots paper dist container clean

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

proofs:
	tests/install_programs coq
	$(PYTHON) proofs/check.py

test: programs $(VENV)/dev
	$(RUN)/pytest -n auto -m 'not slow'

slow: programs $(VENV)/dev
	$(RUN)/pytest -n auto -m slow

check: $(VENV)/dev $(VENV)/docs
	$(RUN)/ruff check
	$(RUN)/ruff format --check
	$(RUN)/mypy
	$(RUN)/lint-imports --no-logo

format: $(VENV)/dev
	$(RUN)/ruff check --fix
	$(RUN)/ruff format

fuzz: $(VENV)/dev
	$(RUN)/pip install --quiet --constraint constraints.txt --editable '.[fuzz]'
	$(RUN)/python fuzz/run.py --seconds $(SECONDS)
	$(RUN)/python fuzz/guided.py -max_total_time=$(SECONDS)

mutants: $(VENV)/dev
	$(RUN)/python mutants/mutants.py --seconds $(SECONDS) --modules $(MODULES)

bench: $(VENV)/dev
	$(RUN)/pip install --quiet --constraint constraints.txt --editable '.[bench]'
	for script in benchmarks/*.py; do $(RUN)/python $$script || exit 1; done

docs: $(VENV)/docs $(VENV)/dev
	$(RUN)/python docs/figures.py
	$(RUN)/python docs/audits.py
	$(RUN)/python docs/gallery.py
	$(RUN)/python docs/screenshots.py
	$(RUN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html

shots: $(VENV)/docs
	$(RUN)/python docs/screenshots.py --readme

paper:
	tests/install_programs tex
	$(PYTHON) paper/numbers.py
	cd paper && latexmk -pdf -interaction=nonstopmode -halt-on-error -quiet -outdir=_build rainbowdp.tex

dist: $(VENV)/base
	$(RUN)/pip install --quiet --constraint constraints.txt --editable '.[publish]'
	rm -rf dist
	$(RUN)/python -m build --outdir dist .
	$(PYTHON) -m venv dist/empty
	dist/empty/bin/pip install --quiet --constraint constraints.txt dist/*.whl
	$(RUN)/cyclonedx-py environment --output-reproducible --output-file dist/sbom.json dist/empty
	rm -rf dist/empty

container:
	tests/install_programs containers
	tests/deploy/try_container

clean:
	rm -rf $(VENV) docs/_build paper/_build .mypy_cache .pytest_cache .ruff_cache .hypothesis mutants/_kept
