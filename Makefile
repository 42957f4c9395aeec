# `make` alone lists the targets. `make test` needs Go and make, nothing else;
# `make tools` gets the tools of the others.

GO ?= go

# The newest Go, beside the oldest one that go.mod allows: both are supported.
OTHER_GO := go1.27.0

GOLANGCILINT_VERSION := v2.15.0

# The tool lives in a folder named after its version, so that a new version here
# is a new file and gets built. It brings gofumpt and staticcheck, as pinned.
BIN          := $(CURDIR)/bin
GOLANGCILINT := $(BIN)/golangci-lint-$(GOLANGCILINT_VERSION)/golangci-lint

# The modules that are left out. make ci leaves out those whose imports take minutes to
# build without a cache, servers of registries and object stores: make nightly has them.
SKIP ?=

# Every folder with a go.mod is a module, at whatever depth.
MODULES := $(filter-out $(SKIP),$(sort $(patsubst %/,%,$(dir $(shell find . \( -name '.?*' -o -name testdata -o -path ./bin -o -path ./tmp \) -prune -o -name go.mod -print)))))

# The tags with which modules have other sources.
BUILDS := purego poolswapsched poolswapdebug

# Where assembly, system calls or the size of a word make a difference, and one
# of each kind of system that Go runs on. linux/amd64 has every other target.
PLATFORMS ?= linux/386 linux/arm64 linux/riscv64 darwin/arm64 windows/amd64 freebsd/amd64 js/wasm

FUZZTIME ?= 10s

# Passed to go test, as -v or -run.
TESTFLAGS ?=

# Flags of the tests in builds that repeat those of `make test` and
# `make modules`, and in `make platforms`: make ci says -short.
REPEATFLAGS ?=

# The packages with code of their own for a processor or a build, and those that
# are close to it. The others only see the interface of these.
CORE := . ./internal/refcount/... ./internal/seam/... ./internal/stripe/... ./oplog/... ./typedpool/...

# The modules whose tests make modules runs with -short. Those of make ci are
# tests of faults: long, and in need of a disk and a processor that are not busy.
# make nightly runs them whole.
BRIEF ?=

# The modules besides the root whose tests make other-go runs.
OTHER_MODULES ?=

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

## What needs Go and make alone

.PHONY: test
test: ## the tests of the root module
	$(GO) test -shuffle=on $(TESTFLAGS) ./...

.PHONY: debug
debug: ## the tests of the debug builds of typedpool and slab
	$(GO) test -shuffle=on -tags poolswapdebug $(REPEATFLAGS) $(TESTFLAGS) . ./internal/refcount ./poolswaptest ./slab/... ./typedpool/...

.PHONY: platforms
platforms: ## vet the root module as it is built for each of PLATFORMS
	@GO="$(GO)" scripts/platforms $(filter -short,$(REPEATFLAGS)) $(PLATFORMS)

# Built first, because go run makes every exit status 1, and is not the process
# that a signal has to reach.
.PHONY: demo
demo: ## poolswap beside three other ways to replace a table, in half a minute
	$(GO) build -o $(BIN)/ ./examples/demo
	@$(BIN)/demo

## What needs modules from elsewhere

.PHONY: bench
bench: ## what each way of sharing an object costs on this machine
	$(GO) run -C bench .

.PHONY: picture
picture: ## measure reads by 1 to 16 goroutines, and draw the README's picture
	$(GO) run -C bench . -suite scaling -count 10 -o results/scaling
	$(GO) run -C bench ./picture

.PHONY: picture-deltas
picture-deltas: ## measure deltas to 256 replicas, and draw and quote that in docs/fleet.md
	$(GO) run -C bench . -suite fleetdelta -count 1 -o results/fleetdelta
	$(GO) run -C bench ./picture
	$(GO) test -C bench -run Quoted -quote

.PHONY: demo-fleet
demo-fleet: ## a server, and three replicas whose table changes while things break
	$(GO) run -C examples/fleet ./demo

RIVALS := bench/build/rivals

# Passed to the measurement, as -keep results/rivals.
RIVALSFLAGS ?=

.PHONY: rivals-build
rivals-build: ## build the programs of make rivals
	@scripts/need cargo gcc liburcu
	mkdir -p $(RIVALS)
	gcc -std=gnu11 -O2 -Wall -Wextra -o $(RIVALS)/c bench/rivals/c/*.c -pthread -lurcu-memb -lurcu-qsbr -lurcu-common
	cargo build --release --manifest-path bench/rivals/rust/Cargo.toml --target-dir $(RIVALS)/target
	cp $(RIVALS)/target/release/rivals $(RIVALS)/rust

.PHONY: rivals
rivals: rivals-build ## a read beside those of libraries in Rust and C
	$(GO) run -C bench . -suite rivals -count 20 -o out/rivals $(RIVALSFLAGS)

.PHONY: bench-gate
bench-gate: ## fail if a read is slower than in bench/results/gate, of this processor
	$(GO) run -C bench . -suite read -count 10 -o out/gate -gate results/gate

.PHONY: profile
profile: ## the heap profiles of examples/pooling, without a pool and with two
	@mkdir -p tmp/profile
	$(GO) build -o $(BIN)/ ./examples/pooling
	@set -e; for work in data buffer log-line; do for way in 'no pool' sync.Pool typedpool; do \
		profile="tmp/profile/$$work.$$way.prof"; \
		echo "==== $$work, $$way: $$profile"; \
		$(BIN)/pooling -work "$$work" -way "$$way" -memprofile "$$profile" >/dev/null; \
		$(GO) tool pprof -top -nodecount=3 -sample_index=alloc_space "$$profile" 2>/dev/null | sed 1,4d; \
	done; done

.PHONY: purego
purego: ## the tests without linkname, assembly and membarrier
	$(GO) test -shuffle=on -tags purego $(REPEATFLAGS) $(TESTFLAGS) $(CORE)
	cd verify && POOLSWAP_DEEP= $(GO) test -short -shuffle=on -tags purego $(TESTFLAGS) ./...

ENGINE := ./internal/refcount

# Of the engine the tests that this build alone has: the others never meet the
# scheduler.
.PHONY: sched
sched: ## the interleavings of the real code, and other tests of that build
	$(GO) test -tags poolswapsched -run "$$(scripts/tests-only-in poolswapsched $(ENGINE))|ReadPath" $(TESTFLAGS) $(ENGINE)
	$(GO) test -tags poolswapsched $(TESTFLAGS) $$($(GO) list -tags poolswapsched ./internal/... | grep -v '/refcount$$')
	cd verify && POOLSWAP_DEEP= $(GO) test -short -shuffle=on -tags poolswapsched $(TESTFLAGS) ./...

.PHONY: modules
modules: ## the tests of every module but the root
	@set -e; for module in $(filter-out .,$(MODULES)); do \
		case " $(BRIEF) " in *" $$module "*) short=-short ;; *) short= ;; esac; \
		echo "$(GO) test $$short $$module/..."; \
		(cd $$module && $(GO) test $$short -shuffle=on $(TESTFLAGS) ./...); \
	done

.PHONY: verify
verify: ## state machine, linearizability, leaks: the tests of verify/
	cd verify && $(GO) test -shuffle=on $(TESTFLAGS) ./...

.PHONY: other-go
other-go: ## the tests of the root module with OTHER_GO, the newest Go
	@[ "$$(GOTOOLCHAIN=$(OTHER_GO) $(GO) env GOVERSION)" = $(OTHER_GO) ] || { \
		echo "missing: $(OTHER_GO), which $(GO) gets from the module proxy" >&2; exit 1; }
	GOTOOLCHAIN=$(OTHER_GO) $(GO) test -shuffle=on $(REPEATFLAGS) $(TESTFLAGS) ./...
	@set -e; for module in $(OTHER_MODULES); do \
		echo "$(OTHER_GO) test -short $$module/..."; \
		(cd $$module && GOTOOLCHAIN=$(OTHER_GO) POOLSWAP_DEEP= $(GO) test -short -shuffle=on $(TESTFLAGS) ./...); \
	done

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
	CGO_ENABLED=1 $(GO) test -race -shuffle=on $(REPEATFLAGS) $(TESTFLAGS) ./...
	cd verify && CGO_ENABLED=1 POOLSWAP_DEEP= $(GO) test -short -race -shuffle=on $(TESTFLAGS) ./...

# qemu runs a test, but not the programs for arm64 that a test starts: examples
# and these are left out.
STARTS_PROGRAMS := ^(TestSweeperPanicEndsProcess|TestPublishedCodeRuns)$$

.PHONY: cross
cross: ## the tests on 32 bits, and under qemu on arm64 and, of slab, on a big-endian processor
	GOARCH=386 $(GO) test -shuffle=on $(REPEATFLAGS) $(TESTFLAGS) ./...
	@scripts/need qemu-aarch64
	GOARCH=arm64 $(GO) test -short -shuffle=on -exec qemu-aarch64 -skip '$(STARTS_PROGRAMS)' $(TESTFLAGS) . ./docs ./internal/... ./oplog/... ./slab/... ./typedpool/...
	GOARCH=arm64 $(GO) test -short -exec qemu-aarch64 -run TestSources $(TESTFLAGS) ./reload
	@scripts/need qemu-s390x
	GOARCH=s390x $(GO) test -short -exec qemu-s390x $(TESTFLAGS) ./slab

.PHONY: builds
builds: ## make test with each of asan, msan, cover, noopt, pie
	@GO="$(GO)" MAKE="$(MAKE)" TESTFLAGS="$(REPEATFLAGS) $(TESTFLAGS)" scripts/builds asan msan cover noopt pie

.PHONY: model
model: ## check the protocol in its formal model
	@scripts/need spin gcc
	model/run.sh verify

.PHONY: model-mutants
model-mutants: ## see that the model finds every bug planted in it
	@scripts/need spin gcc
	model/run.sh mutants

# Which configurations model-deep searches; all where none is named.
DEEP ?=

.PHONY: model-deep
model-deep: ## check the model at bounds of up to 11 GiB and 15 minutes each
	@scripts/need spin gcc
	model/run.sh deep $(DEEP)

## What looks at the source

.PHONY: fmt
fmt: $(GOLANGCILINT) ## format every file
	$(GOLANGCILINT) fmt --enable gofumpt

.PHONY: lint
lint: $(GOLANGCILINT) ## gofumpt, and what .golangci.yml names, in each build
	@GO="$(GO)" GOLANGCILINT="$(GOLANGCILINT)" BUILDS="$(BUILDS)" scripts/lint $(MODULES)

.PHONY: tidy
tidy: ## check that go.mod and go.sum of every module are tidy
	@set -e; for module in $(MODULES); do \
		echo "go mod tidy -diff ($$module)"; \
		(cd $$module && $(GO) mod tidy -diff); \
	done

# Which layers of tests the faults are planted under, separated by commas; all
# of them where none is named. Each fault is one run of each, or with FIRST=yes
# of one after the other until one catches it: first of all of the test that
# caught it before, by internal/mutants/catches.txt, which RECORD=yes writes anew.
# With TIMES=3 a layer has to catch it in three runs of three.
LAYERS ?=
FIRST ?=
RECORD ?=
TIMES ?= 1

.PHONY: mutants
mutants: ## see that the tests find every fault planted in the code
	POOLSWAP_STRESS= POOLSWAP_DEEP= POOLSWAP_NO_SKIP= $(GO) run ./internal/mutants $(if $(FIRST),-first) $(if $(RECORD),-record) -times $(TIMES) -layers "$(LAYERS)"

.PHONY: rehearse
rehearse: ## the release in a clone: tag, get and build every released module
	@GO="$(GO)" scripts/rehearse

## Everything

# The stages, each with the mistakes that it alone catches, in the order in which
# a mistake costs least to find. Those joined by + run side by side, because one
# waits now and then and leaves a core to the other. Those with idle: are one
# process each, and run behind the others.
#
# model: a flaw of the protocol itself, store buffers included
# model-mutants: a model that has gone blind
CI := idle:model idle:model-mutants
# mistakes in the source, unformatted files, unused code
CI += lint
# go.mod and go.sum that a release would have to change
CI += tidy
# the assembly, membarrier, every promise of the interface; links, listings and
# examples of the documentation
CI += test
# purego: the build without linkname and assembly, which a user falls back to
# race: data races
CI += purego+race
# debug: the checks for misuse of typedpool and slab, which only this build has
# platforms: files that do not compile on a system without a test machine here
CI += debug+platforms
# cross: 64-bit words out of alignment on 32 bits; pinning without assembly
# other-go: the differences of the newest Go: where its runtime keeps the number
# of the P, which code its compiler makes of a read, when it collects
CI += cross+other-go
# modules: sequences and histories that no model has, goroutines left behind; the
# benchmark and the examples
CI += modules
# fuzz: input that breaks a parser, or a sequence of operations that breaks the pool
# sched: an interleaving of the real code that breaks the protocol
CI += fuzz+sched

.PHONY: ci
ci: export FUZZTIME = 3s
ci: export PLATFORMS = linux/riscv64 darwin/arm64 windows/amd64 freebsd/amd64 js/wasm # make cross builds the others
ci: export REPEATFLAGS = -short
ci: export BRIEF = ./fleet/fleetd ./fleet/verify
ci: export SKIP = ./reload/verify
ci: export POOLSWAP_NO_SKIP = 1
ci: tools ## all checks, at sizes of about 15 minutes on 2 cores
	@GO="$(GO)" scripts/stages "$(MAKE)" $(CI)

# What only repeats at larger size, at sizes that together take well under two
# hours on 2 cores: the tests that ci runs with -short or for seconds, the builds
# and runs that it has no time for, such as mutants: tests that have gone blind. Of
# model-deep it leaves out the searches that take more than two minutes each: a
# change of the protocol needs them, by make model-deep. It goes on after a stage
# that failed, so that one night tells all, and fails in the end. Sizes can be given: make nightly FUZZTIME=10m
NIGHTLY := lint tidy purego race cross platforms modules other-go fuzz builds mutants soak+model-deep rehearse

.PHONY: nightly
nightly: export LAYERS = scheduler-brief,stepped,unit,machine-code
nightly: export FIRST = yes
nightly: export POOLSWAP_STRESS = 10s
nightly: export POOLSWAP_DEEP = 5s
nightly: export FUZZTIME = 20s
nightly: export OTHER_MODULES = $(filter-out .,$(MODULES))
nightly: export DEEP = depth-3 migrating cpus-3 sweepers portable portable-readers-3 counted
nightly: export PAIRS = 500000000
nightly: export UPDATES = 10000000
nightly: export RACE_PAIRS = 10000000
nightly: export RACE_RETRIES = 50000
nightly: export HISTORIES = 10000
nightly: export STATES = 0
nightly: export POOLSWAP_ATTACKS = 5000
nightly: export SCHEDULES = 50000
nightly: export POOLSWAP_NO_SKIP = 1
nightly: export TESTFLAGS = -timeout 1h
nightly: tools ## what only repeats at larger size, at sizes under two hours on 2 cores
	@GO="$(GO)" scripts/stages -k "$(MAKE)" $(NIGHTLY)

.PHONY: tools
tools: ## install the tools of the checks: system packages, and linters in ./bin
	@scripts/system-packages
	@$(MAKE) --no-print-directory $(GOLANGCILINT)

$(GOLANGCILINT):
	GOBIN=$(@D) $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCILINT_VERSION)
