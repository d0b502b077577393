.PHONY: setup compare test lint bench clean

setup:
	@bash setup/setup.sh

# Batch 8 keeps nine launches of the full model under five minutes on two cores.
compare: setup
	PATH="$(CURDIR)/.venv/bin:$$PATH" .venv/bin/hvdbench sweep --model alexnet --batch-size 8 --steps 8 --warmup 2 --repeats 3 \
		--results-dir results/compare-$$(date -u +%Y%m%dT%H%M%SZ)

test: setup
	PATH="$(CURDIR)/.venv/bin:$$PATH" .venv/bin/python -m pytest -q tests

lint: setup
	.venv/bin/ruff check .
	.venv/bin/mypy hvdbench

bench: setup
	.venv/bin/python -m tests.bench

clean:
	rm -rf .venv *.egg-info .mypy_cache .ruff_cache .pytest_cache
