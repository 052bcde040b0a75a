# The two commands a newcomer needs: `make demo` and `make test`. Both set up first what they need.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt
READY := $(VENV)/.ready
READY_DEV := $(VENV)/.ready-dev

.PHONY: demo system test test-fast hostile lint types bench docs site clean

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) -e .
	touch $@

$(READY_DEV): $(READY)
	$(PIP) -e '.[dev]'
	$(PIP) --no-deps grad-cam imagecorruptions-imaug  # they ask for another OpenCV
	touch $@

demo: $(READY)
	$(BIN)/snellen demo --out demo
	@echo "open demo/run/report.html"

system:  # what tests of pages and stores need beside Python; tests without it are skipped, so this never fails
	@{ command -v chromium && ls /usr/lib/postgresql/*/bin/initdb; } >/dev/null 2>&1 || \
	{ test "$$(id -u)" = 0 && command -v apt-get && timeout 120 apt-get update && \
	timeout 400 apt-get install -y --no-install-recommends chromium postgresql; } >/dev/null 2>&1 || \
	echo "chromium or postgresql is missing and cannot be installed here: tests that need them are skipped"

test: $(READY_DEV) system
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

test-fast: $(READY_DEV)
	$(BIN)/python -m pytest -m "not slow"

hostile: $(READY_DEV)  # 10,000 damaged inputs through every reader; five minutes on two cores
	PYTHONPATH=src OMP_NUM_THREADS=1 $(BIN)/python tests/hostile/report.py --inputs 10000 --jobs 2 --out hostile.txt

lint: $(READY_DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY_DEV)
	$(BIN)/mypy

bench: $(READY_DEV)
	$(BIN)/python benchmarks/phantom.py
	$(BIN)/python benchmarks/overhead.py
	$(BIN)/python benchmarks/memory.py
	$(BIN)/python benchmarks/mixing.py
	$(BIN)/python benchmarks/augment.py
	$(BIN)/python benchmarks/training.py
	$(BIN)/python benchmarks/backgrounds.py
	$(BIN)/python benchmarks/in9.py
	$(BIN)/python benchmarks/adversarial.py
	$(BIN)/python benchmarks/occluders.py

docs: $(READY_DEV)
	$(BIN)/python docs/build.py --phantom
	$(BIN)/python docs/mixing.py
	$(BIN)/python docs/backgrounds.py
	$(BIN)/python docs/occluders.py
	$(BIN)/python docs/two_fills.py
	$(BIN)/python docs/gallery.py

site: $(READY_DEV)  # site/index.html; a broken link, a missing page or anything from the network is an error
	$(BIN)/python docs/build_site.py

clean:
	rm -rf $(VENV) demo runs site .cache
