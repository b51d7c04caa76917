GO        ?= go
PKG       ?=
GEARS     = wait queue deltafifo indexer informer nsctl
FUZZTIME  ?= 30s
VERSION   ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS   = -X orrery/internal/app/program.Version=$(VERSION)

.PHONY: help module needs-go needs-cc build demo try minikube test race fuzz e2e chaos conformance contract bench bench-quick nightly event lint krew manifests glossary recordings fmt clean workshop

help: ## list the targets
	@grep -E '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## /  \1\t/' | expand -t 16

# Go 1.21 or newer fetches the version that go.mod names, unless GOTOOLCHAIN forbids it.
needs-go:
	@command -v $(GO) >/dev/null || { echo "make: Orrery needs Go 1.26, and there is no $(GO) in PATH; README.md says how to get it" >&2; exit 1; }
	@$(GO) list -m >/dev/null || { echo "make: Orrery needs Go 1.26, and this is $$(GOTOOLCHAIN=local $(GO) env GOVERSION); README.md says how to get it" >&2; exit 1; }

needs-cc: needs-go
	@set -- $$($(GO) env CC); command -v $$1 >/dev/null || { echo "make: the race detector needs a C compiler, and there is no $$1 in PATH" >&2; exit 1; }

# Without libc, each file runs in any container and on any distribution, and takes less memory.
build: needs-go ## build bin/orrery, the controller, and bin/lab, the laboratory
	@echo "==> building bin/orrery and bin/lab"
	CGO_ENABLED=0 $(GO) build -ldflags '$(LDFLAGS)' -o bin/ ./cmd/orrery ./cmd/lab

demo: build ## watch a namespace being deleted, gear by gear, on this machine alone (SCENE=name for another scene)
	@bin/lab demo $(if $(SCENE),--scene $(SCENE))

try: build ## start a real control plane, run the controller on it and delete a namespace
	@echo "==> building the control plane (minutes the first time) and deleting a namespace on it"
	$(MAKE) -C upstream controlplane
	$(GO) -C upstream run ./e2e/cmd/try -controlplane $(CURDIR)/bin/controlplane

minikube: build ## the same on a machine with minikube: a profile of its own, without the built-in controller, deleted at the end (KEEP=1 leaves it)
	@deploy/minikube.sh

test: needs-cc ## test the main module with the race detector, and measure the coverage of the gears (LONG=1: property tests at full length)
	@echo "==> testing with the race detector"
	@GO=$(GO) .ci/test $(PKG)

race: ## test the gears 20 times with the race detector
	@echo "==> testing the gears 20 times with the race detector"
	$(GO) test -race -count=20 -timeout 4h $(GEARS:%=./%/...)

event: ## the files, lines and functions that one event passes, from DELETE to finalize, for each set of gears
	@$(GO) test -count=1 -v -run TestTheTourIsWhatAnEventRuns ./internal/house | sed -n 's/^ *tour_test.go:[0-9]*: //p'

fuzz: ## feed every fuzz target for FUZZTIME (30s)
	@echo "==> fuzzing each target for $(FUZZTIME)"
	@GO=$(GO) FUZZTIME=$(FUZZTIME) .ci/fuzz

chaos: ## everything goes wrong at once: 1,000 seeds in virtual time, an hour (SEED=n repeats one; SEEDS, DURATION)
	@echo "==> playing seeds in virtual time"
	$(GO) test -c -o bin/chaos.test ./internal/lab/chaos
	@seq 0 $$(($$(nproc) - 1)) | GOGC=800 xargs -P 0 -I PART bin/chaos.test -test.run '^(TestSeeds|TestControllers)$$' -test.timeout 6h \
		-seed $(or $(SEED),1) -seeds $(or $(SEEDS),$(if $(SEED),1,1000)) -storms $(or $(DURATION),10m) -parts $$(nproc) -part PART

contract: ## run the contract suites against client-go
	@echo "==> running the contract suites against client-go"
	$(GO) -C upstream test ./contract

e2e: build ## real control plane: scenarios, official conformance specs, contract suites against client-go (E2E_MATRIX=whole, E2E_GEARS=textbook)
	@echo "==> testing against a real control plane and against client-go"
	$(MAKE) -C upstream lint e2e

conformance: build ## only the official conformance specs: namespaces, replica sets and deployments, garbage collector
	@echo "==> running the official conformance specs"
	$(MAKE) -C upstream conformance

bench: build ## compare with client-go: build/bench.json, docs/measure/benchmarks.md (twenty-five minutes; ONLY=queue/cycle for one of them)
	@echo "==> comparing with client-go (twenty-five minutes; leave the machine alone meanwhile)"
	$(MAKE) -C upstream bench-programs
	bin/bench $(if $(ONLY),-only '$(ONLY)')

bench-quick: build ## check the exact figures against their targets: allocations, bytes, requests (a minute)
	@echo "==> holding allocations, bytes and requests to their targets"
	$(MAKE) -C upstream bench-programs
	bin/bench -quick -json build/bench-quick.json

workshop: build ## check the labs of the workshop: stubs, planted wrong solutions, scripts (LAB=08 for one)
	@echo "==> checking the labs"
	bin/lab verify $(LAB)

module: ## rename the module everywhere (MODULE=example.org/you/orrery)
	@.ci/module '$(MODULE)'

nightly: ## the checks that are too slow for every change, hours (STEPS="fuzz bench" for some)
	@GO=$(GO) .ci/nightly

lint: ## formatting and known vulnerabilities of both modules; vet and staticcheck of the main one (e2e vets the other)
	@echo "==> checking formatting"
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$unformatted" ]; then echo "not formatted (run make fmt):"; echo "$$unformatted"; exit 1; fi
	@! git grep -nE '^(<<<<<<<|>>>>>>>) ' || { echo "a merge was not finished"; exit 1; }
	@echo "==> go vet"
	$(GO) vet ./...
	GOOS=windows GOARCH=386 CGO_ENABLED=0 $(GO) build -o /dev/null ./cmd/lab # another system, and a 32-bit int
	@echo "==> staticcheck"
	@GO=$(GO) .ci/staticcheck
	@echo "==> govulncheck"
	@GO=$(GO) .ci/vulncheck
	@cd upstream && GO=$(GO) ../.ci/vulncheck -scan package # all calls of Kubernetes take 10 GB

manifests: ## generate the roles in deploy and examples/deploy from the program's rights
	@echo "==> writing deploy/rbac.yaml and examples/deploy/rbac.yaml"
	@$(GO) run ./cmd/orrery rbac > deploy/rbac.yaml.new && mv deploy/rbac.yaml.new deploy/rbac.yaml
	@$(GO) run ./cmd/orrery rbac "$$(sed -n 's/^ *value: //p' examples/deploy/kustomization.yaml)" > deploy/rbac.yaml.new && mv deploy/rbac.yaml.new examples/deploy/rbac.yaml

krew: needs-go ## build the archives of kubectl why-terminating for krew, and a manifest with their sums: build/krew
	@rm -rf build/krew && mkdir -p build/krew
	@cp deploy/krew/why-terminating.yaml build/krew
	@for platform in linux-amd64 linux-arm64 darwin-amd64 darwin-arm64; do \
		echo "==> building $$platform"; name=why-terminating-$$platform; dir=build/krew/$$platform; \
		CGO_ENABLED=0 GOOS=$${platform%-*} GOARCH=$${platform#*-} $(GO) build -ldflags '$(LDFLAGS)' -o $$dir/kubectl-why_terminating ./cmd/orrery \
		&& tar -C $$dir -czf build/krew/$$name.tar.gz kubectl-why_terminating \
		&& sum=$$(sha256sum build/krew/$$name.tar.gz | cut -d ' ' -f 1) \
		&& sed "/$$name/{n;s/sha256: .*/sha256: $$sum/;}" build/krew/why-terminating.yaml > build/krew/new \
		&& mv build/krew/new build/krew/why-terminating.yaml || exit 1; done

glossary: ## write docs/learn/glossary.md, its Chinese page and the live view's terms from workshop/glossary.yaml
	$(GO) test ./internal/lab/course -update

recordings: build ## record what each scene of "lab demo" prints in workshop/teach/recordings (minutes; SCENE=name for one)
	@mkdir -p workshop/teach/recordings
	@for scene in $(or $(SCENE),$$(bin/lab __complete demo --scene '' 2>/dev/null | sed -n 's/^\([a-z][a-z0-9-]*\).*/\1/p')); do \
		echo "==> recording $$scene"; recording=workshop/teach/recordings/$$scene.txt; \
		case $$scene in index | slow-handler) gears=textbook ;; *) gears=fast ;; esac; \
		bin/lab demo --lang en --scene $$scene --gears $$gears > $$recording.new && mv $$recording.new $$recording || exit 1; done

fmt: ## format the code
	@echo "==> formatting"
	gofmt -w $$(git ls-files '*.go')

clean: ## remove what was built
	@echo "==> removing bin and build"
	rm -rf bin build upstream/bin
