# The two commands are `make run` and `make test`; both set up what they need.

.PHONY: help run test bench setup generate

help: ## Say what there is
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## Build the program and show a small team of agents at work
	@scripts/run.sh

test: ## Run every check there is; the last line counts the tests
	@scripts/test.sh

bench: ## Measure, and write docs/benchmarks.md; PEERS=folder measures those too
	@scripts/bench.sh $(if $(PEERS),--peers "$(PEERS)")

setup: ## Install what `make test` needs, and nothing that is there already
	@scripts/setup.sh test

generate: ## Write the files that are made from the code
	@cargo xtask generate
