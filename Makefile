# build: bin/tutti and bin/tutti-lab, static
# deps: compiles the standard library, other modules and the tools
# demo: a whole campaign from recorded measurements; needs the Go toolchain only
# test-fast: tests of calculations, formats and files, in a minute; needs the Go toolchain only and installs nothing
# test: everything needed to trust a change; real MPI, Slurm and Chromium, few cases of each
# test-all: every case of every test, statistical proofs and simulated machines included
# test-releases: other releases of MPICH, Open MPI and Slurm in chroots of several Debian suites, in RELEASES; as root, an hour
# race: the race detector where goroutines share memory
# bench-method: what strategies cost until the criteria hold, on all recorded data
# load: many clients of the service at once
# simulate: the algorithms of the runtime library on up to 512 simulated ranks; hours
# fuzz-runtime: random programs with the runtime library on MPICH and Open MPI, also with sanitizers; hours
# mpich-tests: MPICH's own tests of collectives with each of the runtime library's algorithms; an hour or two
# real-programs: LAMMPS, HPCC and GROMACS with and without the runtime library; half an hour
GO ?= go
export CGO_ENABLED = 0
# All targets compile with the same flags, so that they share the build cache.
export GOFLAGS := $(shell $(GO) env GOFLAGS) -trimpath
LDFLAGS = -s -w
TOOL = $(GO) tool -modfile=scripts/tools.mod
LINT = $(GO) run -modfile=scripts/tools.mod scripts/lint.go
# gotestsum prints a line a package, then the tests that were skipped, with the reason, and those that failed.
# lint does the analyses of go vet. Without symbols, test programs link in two thirds of the time; panics still name files and lines.
GOTEST = $(TOOL) gotestsum --format pkgname -- -count=1 -vet=off -ldflags '$(LDFLAGS)'
# gotestsum itself is compiled without the race detector and cgo. Programs that tests start end at once, not after a second.
GORACE = $(TOOL) gotestsum --format pkgname --raw-command -- env CGO_ENABLED=1 GORACE=atexit_sleep_ms=0 $(GO) test -json -race -short -count=1 -vet=off -ldflags '$(LDFLAGS)'
RACE = ./service ./benchrunner/live ./service/api ./benchrunner/local ./journal
RACE_WORKERS = ./surrogate/forest ./campaign/assembly
OTHERS = $(GO) list -deps -test -f '{{if or .Standard (not .Module.Main)}}{{.ImportPath}}{{end}}'
# Packages whose tests mostly wait or take longest come first, so that others fill the gaps.
SLOW = ./cmd/tutti ./benchrunner/live ./csource ./doctor ./service/api ./mpi/libraries ./mpi/mpich ./benchrunner/native ./mpi/openmpi ./campaign
ALL = $(SLOW) $$($(GO) list ./... | grep -vxF "$$($(GO) list $(SLOW))")

.PHONY: build deps demo test-fast test test-all test-releases race lint bench bench-live bench-method load simulate fuzz fuzz-runtime mpich-tests real-programs clean

build:
	$(GO) build -ldflags '$(LDFLAGS)' -o bin/ ./cmd/...

deps:
	$(TOOL) gotestsum --version
	$(LINT) -version
	$(GO) build $$($(OTHERS) ./...)
	CGO_ENABLED=1 $(GO) build -race $$(CGO_ENABLED=1 $(OTHERS) $(RACE) $(RACE_WORKERS))

demo: build
	rm -rf results/demo
	./bin/tutti tune -c configs/demo.yaml

# The other packages start many processes, or fit models again and again.
test-fast:
	$(GO) test -short -vet=off $$($(GO) list ./... | grep -vE '^tutti/(benchrunner/live|campaign|cmd|doctor|internal/lab|service)(/|$$)')

# Packages share the MPI programs that their tests compile.
test:
	sh scripts/install-test-tools.sh
	TEST_PROGRAMS=$$(mktemp -d); export TEST_PROGRAMS; trap 'rm -rf "$$TEST_PROGRAMS"' EXIT; $(GOTEST) -timeout 20m -p 3 -parallel 2 $(ALL)

test-all:
	TEST_ALL=1 sh scripts/install-test-tools.sh
	TEST_ALL=1 $(GOTEST) -timeout 2h -p 2 $(ALL)

RELEASES ?= /var/tmp/tutti-releases
test-releases:
	bash scripts/test-releases.sh $(RELEASES)

race:
	$(GORACE) -skip '^Example' -timeout 20m -p 2 $(RACE)
	$(GORACE) -run Workers $(RACE_WORKERS)

lint:
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); echo "run gofmt -w on these files"; exit 1; }
	$(LINT) ./...

bench:
	$(GO) test -run '^$$' -bench . -benchtime 3x ./surrogate/... ./hpo ./internal/lab ./service

# needs root, MPICH, Slurm and OSU_HOME
bench-live:
	bash scripts/bench-live.sh

# SEEDS=10 for the full table; REAL=FOLDER adds the CSV files of that folder
bench-method: build
	bash scripts/bench-method.sh

load: build
	$(GO) run ./cmd/tutti-lab load --tutti bin/tutti --campaign configs/demo.yaml

simulate:
	sh scripts/bench-simulated.sh

FUZZTIME ?= 20s
fuzz:
	sh scripts/fuzz.sh $(FUZZTIME)

TABLES ?= 1000
fuzz-runtime:
	FUZZ_STEPS=360 FUZZ_TABLES=$(TABLES) FUZZ_FIRST=$(FIRST) $(GO) test ./mpi/libraries -count=1 -run 'TestLive(Fuzz|Sanitized)' -v -timeout 24h

FOLDER ?= $(CURDIR)/results
mpich-tests:
	bash scripts/mpich-tests.sh $(FOLDER)/mpich-tests

real-programs:
	bash scripts/real-programs.sh $(FOLDER)/real-programs

clean:
	rm -rf bin results/demo
