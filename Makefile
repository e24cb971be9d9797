# demo: a whole campaign from recorded measurements; needs the Go toolchain only
# test: everything that can be tested on this machine
# bench-method: what strategies cost until the criteria hold, on all recorded data
# load: many clients of the service at once
# lint, bench, fuzz: what their names say
GO ?= go
export CGO_ENABLED = 0
LDFLAGS = -s -w

.PHONY: build demo test race lint bench bench-live bench-method load fuzz clean

build:
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/tutti ./cmd/tutti

demo: build
	rm -rf results/demo
	./bin/tutti tune -c configs/demo.yaml

test:
	sh scripts/install-test-tools.sh
	$(GO) test -count=1 -timeout 20m ./...

race:
	CGO_ENABLED=1 $(GO) test -race -short -count=1 ./campaign ./store ./surrogate/learner ./surrogate/forest ./hpo ./service ./service/api ./service/client ./service/token

lint:
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); echo "run gofmt -w on these files"; exit 1; }
	$(GO) vet ./...
	$(GO) tool -modfile=scripts/staticcheck.mod staticcheck ./...

bench:
	$(GO) test -run '^$$' -bench . -benchtime 3x ./surrogate/... ./hpo ./campaign/evaluate ./service ./service/api

# needs root, MPICH, Slurm and OSU_HOME
bench-live:
	bash scripts/bench-live.sh

# SEEDS=10 for the full table; REAL=FOLDER adds the CSV files of that folder
bench-method: build
	bash scripts/bench-method.sh

load: build
	$(GO) run ./cmd/tutti-load --tutti bin/tutti --campaign configs/demo.yaml

FUZZTIME ?= 20s
fuzz:
	sh scripts/fuzz.sh $(FUZZTIME)

clean:
	rm -rf bin results/demo
