# `make` alone lists the targets. `make test` needs Go and make, nothing else;
# `make tools` says what the others need and gets it.

GO ?= go

GOFUMPT_VERSION      := v0.12.0
STATICCHECK_VERSION  := v0.8.2
GOLANGCILINT_VERSION := v2.15.0

# Each tool lives in a folder named after its version, so that a new version
# here is a new file and gets built.
BIN          := $(CURDIR)/bin
GOFUMPT      := $(BIN)/gofumpt-$(GOFUMPT_VERSION)/gofumpt
STATICCHECK  := $(BIN)/staticcheck-$(STATICCHECK_VERSION)/staticcheck
GOLANGCILINT := $(BIN)/golangci-lint-$(GOLANGCILINT_VERSION)/golangci-lint

# Every folder with a go.mod is a module; the root's comes first.
MODULES := $(patsubst %/,%,$(dir $(wildcard ./go.mod ./*/go.mod)))

# The builds of the root module that differ in their sources.
BUILDS := default purego poolswapsched poolswapdebug

FUZZTIME ?= 10s

# Set to -short by those who are in a hurry, to -v by those who are not.
TESTFLAGS ?=

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

## What needs Go and make alone

.PHONY: test
test: ## the tests of the root module
	$(GO) test -shuffle=on $(TESTFLAGS) ./...

.PHONY: debug
debug: ## the tests of typedpool's debug build
	$(GO) test -shuffle=on -tags poolswapdebug $(TESTFLAGS) ./typedpool/...

## What needs modules from elsewhere

.PHONY: bench
bench: ## what each way of sharing an object costs on this machine
	@if [ -f bench/go.mod ]; then \
		echo "$(GO) run -C bench ."; $(GO) run -C bench .; \
	else \
		echo "$(GO) run ./examples/asnlookup -load 10s"; $(GO) run ./examples/asnlookup -load 10s; \
	fi

.PHONY: purego
purego: ## the tests without linkname, assembly and membarrier
	$(GO) test -shuffle=on -tags purego $(TESTFLAGS) ./...
	cd verify && POOLSWAP_DEEP= $(GO) test -short -shuffle=on -tags purego $(TESTFLAGS) ./...

.PHONY: sched
sched: ## the interleavings of the real code, and other tests of that build
	$(GO) test -tags poolswapsched $(TESTFLAGS) ./internal/...
	cd verify && POOLSWAP_DEEP= $(GO) test -short -shuffle=on -tags poolswapsched $(TESTFLAGS) ./...

.PHONY: modules
modules: ## the tests of every module but the root
	@set -e; for module in $(filter-out .,$(MODULES)); do \
		echo "$(GO) test $$module/..."; \
		(cd $$module && $(GO) test -shuffle=on $(TESTFLAGS) ./...); \
	done

.PHONY: verify
verify: ## state machine, linearizability, leaks: the tests of verify/
	cd verify && $(GO) test -shuffle=on $(TESTFLAGS) ./...

.PHONY: fuzz
fuzz: ## every fuzz target for FUZZTIME each (10s)
	@GO="$(GO)" FUZZTIME="$(FUZZTIME)" scripts/fuzz $(MODULES)

.PHONY: soak
soak: ## the long runs whose figures docs/verification.md quotes
	@scripts/need gcc
	GO="$(GO)" scripts/soak

## What needs a C compiler, Spin, or qemu

.PHONY: race
race: ## the tests under the race detector
	@scripts/need gcc
	CGO_ENABLED=1 $(GO) test -race -shuffle=on $(TESTFLAGS) ./...
	cd verify && CGO_ENABLED=1 POOLSWAP_DEEP= $(GO) test -short -race -shuffle=on $(TESTFLAGS) ./...

# qemu runs a test, but not the programs for arm64 that a test starts: examples
# and these are left out.
STARTS_PROGRAMS := ^(TestWithoutAReportAPanicOnTheSweeperEndsTheProcess|TestCodeOfThePublishedDocumentsRuns)$$

.PHONY: cross
cross: ## the tests on 32 bits, and on arm64 under qemu
	GOARCH=386 $(GO) test -shuffle=on $(TESTFLAGS) ./...
	@scripts/need qemu-aarch64
	GOARCH=arm64 $(GO) test -short -shuffle=on -exec qemu-aarch64 -skip '$(STARTS_PROGRAMS)' $(TESTFLAGS) . ./internal/... ./typedpool/...

.PHONY: model
model: ## check the protocol in its formal model
	@scripts/need spin gcc
	model/run.sh verify

.PHONY: model-mutants
model-mutants: ## see that the model finds every bug planted in it
	@scripts/need spin gcc
	model/run.sh mutants

.PHONY: model-deep
model-deep: ## check the model at bounds of up to 11 GiB and 15 minutes each
	@scripts/need spin gcc
	model/run.sh deep

## What looks at the source

.PHONY: fmt
fmt: $(GOFUMPT) ## format every file
	$(GOFUMPT) -w .

.PHONY: lint
lint: $(GOFUMPT) $(STATICCHECK) $(GOLANGCILINT) ## gofumpt, vet, staticcheck, golangci-lint
	@GO="$(GO)" GOFUMPT="$(GOFUMPT)" STATICCHECK="$(STATICCHECK)" GOLANGCILINT="$(GOLANGCILINT)" \
		BUILDS="$(BUILDS)" scripts/lint $(MODULES)

.PHONY: tidy
tidy: ## check that go.mod and go.sum of every module are tidy
	@set -e; for module in $(MODULES); do \
		echo "go mod tidy -diff ($$module)"; \
		(cd $$module && $(GO) mod tidy -diff); \
	done

## Everything

# In the order in which a mistake costs least to find.
CI := lint tidy test purego debug race cross sched modules fuzz mutants model model-mutants

.PHONY: ci
ci: export LAYERS = scheduler,stress,unit,machine-code
ci: export FIRST = yes
ci: export POOLSWAP_NO_SKIP = 1
ci: tools ## all checks, at sizes under 20 minutes on 2 cores
	@GO="$(GO)" scripts/stages "$(MAKE)" $(CI)

# Sizes for a night: what the tests read from the environment. Others by
# arguments: make nightly POOLSWAP_STRESS=1m POOLSWAP_DEEP=1m FUZZTIME=1m
.PHONY: nightly
nightly: export POOLSWAP_STRESS = 5m
nightly: export POOLSWAP_DEEP = 5m
nightly: export FUZZTIME = 5m
nightly: export POOLSWAP_NO_SKIP = 1
nightly: export TESTFLAGS = -timeout 12h
nightly: tools ## all checks, at sizes for a night
	@GO="$(GO)" scripts/stages "$(MAKE)" $(CI) model-deep soak

# Which layers of tests the faults are planted under, separated by commas; all
# of them where none is named. Each fault is one run of each, or with FIRST=yes
# of one after the other until one catches it; at the sizes of a day, for a
# fault that a layer does not see costs all of its time.
LAYERS ?=
FIRST ?=

.PHONY: mutants
mutants: ## see that the tests find every fault planted in the code
	POOLSWAP_STRESS= POOLSWAP_DEEP= POOLSWAP_NO_SKIP= $(GO) run ./internal/mutants $(if $(FIRST),-first) -layers "$(LAYERS)"

.PHONY: tools
tools: ## install what the checks need: system packages, and linters in ./bin
	@scripts/system-packages
	@$(MAKE) --no-print-directory $(GOFUMPT) $(STATICCHECK) $(GOLANGCILINT)

$(GOFUMPT):
	GOBIN=$(@D) $(GO) install mvdan.cc/gofumpt@$(GOFUMPT_VERSION)

$(STATICCHECK):
	GOBIN=$(@D) $(GO) install honnef.co/go/tools/cmd/staticcheck@$(STATICCHECK_VERSION)

$(GOLANGCILINT):
	GOBIN=$(@D) $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCILINT_VERSION)
