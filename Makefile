# pairbench: `make demo` and `make test` do everything on a fresh Debian
# machine with Go; the other targets are their parts.

VERSION   := $(shell cat VERSION 2>/dev/null || echo 0.1.0)
LDFLAGS   := -s -w -X main.version=$(VERSION)
# The tag leaves out the command line library's Markdown writer.
TAGS      := urfave_cli_no_docs
GOBUILD   := CGO_ENABLED=0 go build -trimpath -tags $(TAGS) -ldflags '$(LDFLAGS)'
STATIC    := go tool -modfile=go.tools.mod staticcheck
PLATFORMS := linux/amd64 linux/arm64 darwin/arm64
FUZZTIME  ?= 10s
OUT       ?= pairbench-results/demo

.PHONY: build asio demo test check fuzz cross bench bench-billion coverage crash gate-trials scale dist clean prepare

build: bin/pairbench bin/pbdriver

.PHONY: bin/pairbench bin/pbdriver
bin/pairbench:
	$(GOBUILD) -o $@ ./cmd/pairbench
bin/pbdriver:
	$(GOBUILD) -o $@ ./cmd/pbdriver

# The C++ drivers need g++ and the Asio headers; see collect/asio/Makefile.
asio:
	$(MAKE) -C collect/asio install

# Builds, runs the plan `quick` against the embedded server, leaves a report.
demo: build
	rm -rf $(OUT)
	bin/pairbench run --out $(OUT) quick

# Installs what the tests need (Debian packages by name, Python packages into
# .venv), then runs every test; nothing is skipped.
test: prepare build asio
	.ci/test

prepare:
	.ci/prepare

check: prepare
	.ci/check $(FUZZTIME)

fuzz:
	.ci/fuzz $(FUZZTIME)

cross:
	@for p in $(PLATFORMS); do echo "build and vet $$p"; \
	  GOOS=$${p%/*} GOARCH=$${p#*/} CGO_ENABLED=0 go build -o /dev/null ./cmd/pairbench && \
	  GOOS=$${p%/*} GOARCH=$${p#*/} CGO_ENABLED=0 go vet ./... || exit 1; done

# Ratios beside the peers; UPDATE=1 rewrites BENCHMARKS.md, ONLY=REGEXP and
# ROUNDS=N narrow it. See .ci/bench for what it needs.
bench: build asio
	UPDATE='$(UPDATE)' ONLY='$(ONLY)' ROUNDS='$(ROUNDS)' .ci/bench

# A billion samples of 5,000 processes, generated in $$TMPDIR: 5 GB.
bench-billion: build asio
	BILLION=1 .ci/bench

# Simulated coverage of every interval over 10,000 draws.
coverage:
	go test ./analyze/stat -run Coverage -count=1 -v -timeout 60m -args -draws 10000

# Kills the collector at random moments of real collections, 200 times.
crash: build
	go test ./cmd/pairbench -run TestCrash -count=1 -v -timeout 120m -args -kills 200

# The gate on equal and on slowed arms, 20 times each; see .ci/gate-trials.
gate-trials: build
	.ci/gate-trials

# analysis.sql in DuckDB and Spark against analyze: 200 bundles, 100 million samples.
scale: prepare
	go test ./schemas/interop -run TestScale -count=1 -v -timeout 3h -args -engines duckdb,spark -bundles 200 -samples 100000000

dist:
	.ci/dist '$(VERSION)' '$(TAGS)' $(PLATFORMS)

clean:
	rm -rf bin dist collect/asio/build
