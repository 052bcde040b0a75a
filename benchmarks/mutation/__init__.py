"""Single-line faults put into the source, and whether the tests notice; `benchmarks/mutants.py` runs it."""
