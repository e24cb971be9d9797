# demo: a whole campaign from recorded measurements; needs the Go toolchain only
# test: everything that can be tested on this machine
# bench-method: what strategies cost until the criteria hold, on all recorded data
# load: many clients of the service at once
# simulate: the algorithms of the runtime library on up to 512 simulated ranks; hours
# fuzz-runtime: random programs with the runtime library on MPICH and Open MPI, also with sanitizers; hours
# mpich-tests: MPICH's own tests of collectives with each of the runtime library's algorithms; an hour or two
# real-programs: LAMMPS, HPCC and GROMACS with and without the runtime library; half an hour
# lint, bench, fuzz: what their names say
GO ?= go
export CGO_ENABLED = 0
LDFLAGS = -s -w

.PHONY: build demo test test-slurm test-cli test-rooms race lint bench bench-live bench-method load simulate fuzz fuzz-runtime mpich-tests real-programs clean

build:
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/tutti ./cmd/tutti

demo: build
	rm -rf results/demo
	./bin/tutti tune -c configs/demo.yaml

# Tests of Slurm, then those of programs, both of which mostly wait, run beside those of the rooms.
test:
	sh scripts/install-test-tools.sh
	$(MAKE) -j2 -O test-rooms test-slurm test-cli

test-slurm:
	$(GO) test -count=1 -timeout 20m -run '^TestSlurm' ./cmd/tutti

test-cli:
	$(GO) test -count=1 -timeout 20m -skip '^TestSlurm' ./cmd/tutti

test-rooms:
	$(GO) test -count=1 -timeout 20m -p 3 ./benchrunner/live ./benchrunner/slurm $$($(GO) list ./... | grep -vx tutti/cmd/tutti)

# Packages that start goroutines or lock, and whole campaigns side by side.
race:
	CGO_ENABLED=1 $(GO) test -race -short -count=1 -timeout 20m -p 2 ./surrogate/... ./hpo ./journal ./service/... ./benchrunner/local ./benchrunner/live ./campaign/assembly

lint:
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); echo "run gofmt -w on these files"; exit 1; }
	$(GO) vet ./...
	$(GO) tool -modfile=scripts/staticcheck.mod staticcheck ./...

bench:
	$(GO) test -run '^$$' -bench . -benchtime 3x ./surrogate/... ./hpo ./internal/lab ./service ./service/api

# needs root, MPICH, Slurm and OSU_HOME
bench-live:
	bash scripts/bench-live.sh

# SEEDS=10 for the full table; REAL=FOLDER adds the CSV files of that folder
bench-method: build
	bash scripts/bench-method.sh

load: build
	$(GO) run ./cmd/tutti-load --tutti bin/tutti --campaign configs/demo.yaml

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
