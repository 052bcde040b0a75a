# The two commands a newcomer needs: `make demo` and `make test`. Both set everything up first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test test-fast lint types bench docs clean

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt --no-deps grad-cam  # it asks for another OpenCV
	touch $@

demo: $(READY)
	$(BIN)/snellen demo --out demo
	@echo "open demo/run/report.html"

test: $(READY)
	$(BIN)/python -m pytest -n 2 --dist loadfile

test-fast: $(READY)
	$(BIN)/python -m pytest -m "not slow"

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

bench: $(READY)
	$(BIN)/python benchmarks/phantom.py
	$(BIN)/python benchmarks/overhead.py
	$(BIN)/python benchmarks/memory.py
	$(BIN)/python benchmarks/mixing.py
	$(BIN)/python benchmarks/augment.py
	$(BIN)/python benchmarks/training.py
	$(BIN)/python benchmarks/backgrounds.py
	$(BIN)/python benchmarks/in9.py
	$(BIN)/python benchmarks/adversarial.py

docs: $(READY)
	$(BIN)/python docs/build.py --phantom
	$(BIN)/python docs/mixing.py
	$(BIN)/python docs/backgrounds.py

clean:
	rm -rf $(VENV) demo runs
