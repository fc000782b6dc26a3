# SPDX-License-Identifier: Apache-2.0

.DEFAULT_GOAL := help
.PHONY: help test short soak lint examples golden bench fuzz up down

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

test: ## everything, with real brokers where they can be had; says what it could not cover
	@./scripts/test.sh

short: ## the quick tier, without brokers
	go test -short -timeout 5m ./...

soak: ## the nightly sizes: random kills on real brokers, many seeds, long histories; takes hours
	@./scripts/soak.sh

lint: ## run the linters of the tool module (the first time they are built, which takes minutes)
	go tool -modfile=tools/go.mod golangci-lint run ./...
	go test tools/blocking/main.go tools/blocking/main_test.go
	go run tools/blocking/main.go -except runner/process,runner/spawn,runner/blackbox,effects/postgres runner workloads faults effects inmem

examples: ## verify the consumers of examples/, naive and mended, on real brokers
	@./scripts/examples.sh

golden: ## rewrite the golden files
	go test $$(grep -rl --include='*_test.go 'Bool("update"' . | xargs -n 1 dirname | sort -u) -update

bench: ## run the benchmarks that need no broker
	go test -run '^$$' -bench . -benchmem ./clock/... ./inmem/... ./history/... ./checkers/... ./explore/... ./runner/record/...

fuzz: ## fuzz what is parsed, a minute each
	go test -run '^$$' -fuzz '^FuzzParseEnvelope$$' -fuzztime 1m ./msg
	go test -run '^$$' -fuzz '^FuzzParse$$' -fuzztime 1m ./workloads
	go test -run '^$$' -fuzz '^FuzzDecodeBlock$$' -fuzztime 1m ./history
	go test -run '^$$' -fuzz '^FuzzOpen$$' -fuzztime 1m ./history
	go test -run '^$$' -fuzz '^FuzzImport$$' -fuzztime 1m ./history
	for f in Verifiable Redpanda OpenMessaging Jepsen EDN; do \
		go test -run '^$$' -fuzz "^Fuzz$$f\$$" -fuzztime 1m ./history/foreign || exit 1; done

up: ## start the three brokers and keep them
	go run ./cmd/harness up

down: ## stop what up started
	go run ./cmd/harness down
