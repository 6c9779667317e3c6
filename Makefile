# Switchyard. `make` alone lists the targets; `make check` is what CI runs.

GOLANGCI_VERSION := v2.15.0

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
COMMIT  ?= $(shell git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)

TIMEOUT   ?= 45m
FUZZTIME  ?= 10s
BENCH     ?= .
BENCHTIME ?= 1s

DESTDIR ?=
PREFIX  ?= /usr
BINDIR  := $(PREFIX)/bin
UNITDIR := $(PREFIX)/lib/systemd/system
SHARE   := $(PREFIX)/share

GO       ?= go
TOOLS    := $(CURDIR)/.bin
GOLANGCI := $(TOOLS)/golangci-lint-$(GOLANGCI_VERSION)
BINARY   := bin/switchyard
LDFLAGS  := -s -w -X main.version=$(VERSION) -X main.commit=$(COMMIT)

SHELL       := bash
.SHELLFLAGS := -euo pipefail -c
.ONESHELL:
.NOTPARALLEL:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: build
build: ## build bin/switchyard, static and reproducible
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BINARY) ./cmd/switchyard

.PHONY: plugins
plugins: ## build the built-in policies and schedulers as plugins, and the examples, into bin/plugins
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w' -o bin/plugins/ ./plugins/standalone/... ./examples/plugins/...

.PHONY: check
check: fmt-check lint generate-check tidy-check test claims ## all that must hold before a commit

.PHONY: test
test: ## run the tests under the race detector
	$(GO) test -race -timeout $(TIMEOUT) ./...

.PHONY: claims
claims: ## check the papers' claims that take too long under the race detector
	$(GO) test -timeout $(TIMEOUT) -run 'TestHeavyWorkload|TestThreadsDoNotMatter' ./internal/sim
	$(GO) test -timeout $(TIMEOUT) -run 'TestEveryMonthBearsTheClaimsOut' ./internal/reproduce/bluegene

.PHONY: lint
lint: $(GOLANGCI) ## run the linters
	$(GOLANGCI) run

.PHONY: fmt
fmt: $(GOLANGCI) ## format the code
	$(GOLANGCI) fmt

.PHONY: fmt-check
fmt-check: $(GOLANGCI) ## fail if fmt would change something
	$(GOLANGCI) fmt --diff

.PHONY: generate
generate: ## make the generated code anew (needs protoc)
	$(GO) generate ./...

# Compared with a copy and not with git, so that it also holds before a commit.
# The line that names protoc's own version may differ.
.PHONY: generate-check
generate-check: ## fail if generate changes something
	@if [ "$${CI:-}" != true ] && ! command -v protoc >/dev/null; then
		echo "generate-check skipped: protoc is not installed (Debian: protobuf-compiler); CI checks it"
		exit 0
	fi
	echo "generating, to compare"
	old=$$(mktemp -d)
	trap 'rm -r "$$old"' EXIT
	find . -name '*.pb.go' -exec cp --parents -t "$$old" {} +
	$(GO) generate ./...
	find . -name '*.pb.go' | while read -r file; do
		diff -u -I '^//.*protoc  *v' "$$old/$$file" "$$file" ||
			{ echo "$$file was out of date; commit it as it is now" >&2; exit 1; }
	done

.PHONY: tidy-check
tidy-check: ## fail if go mod tidy would change something
	$(GO) mod tidy -diff

.PHONY: fuzz
fuzz: ## run every fuzz target for FUZZTIME (10s)
	@{ grep -rH --include='*_test.go' '^func Fuzz' . || true; } |
		sed -E 's|^(.*)/[^/]*:func (Fuzz[A-Za-z0-9_]*).*|\1 \2|' | sort |
		while read -r folder target; do
			echo "$$folder $$target"
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) "$$folder" </dev/null
		done

.PHONY: bench
bench: ## run the benchmarks that match BENCH, for BENCHTIME (1s) each; they print ratios
	@{ grep -rl --include='*_test.go' '^func Benchmark' . || true; } | xargs -r dirname | sort -u |
		xargs -r $(GO) test -run '^$$' -bench '$(BENCH)' -benchtime $(BENCHTIME) -benchmem

.PHONY: bench-lemon
bench-lemon: ## compare the flow solver with LEMON (Debian: liblemon-dev), some minutes; LEMON_LARGE=1 for the largest, 10 GB
	$(GO) test -tags lemon -run '^$$' -bench LEMON -benchtime 1x ./internal/mincostflow

.PHONY: demo
demo: build ## start three sites on this machine and watch jobs move
	$(BINARY) demo

# Does not build what is there already: root often has no Go in its PATH.
.PHONY: install
install: $(BINARY) ## install under PREFIX (/usr): binary, systemd unit, completions
	install -D -m 755 $(BINARY) '$(DESTDIR)$(BINDIR)/switchyard'
	install -d '$(DESTDIR)$(UNITDIR)' '$(DESTDIR)$(SHARE)/bash-completion/completions' \
		'$(DESTDIR)$(SHARE)/zsh/site-functions' '$(DESTDIR)$(SHARE)/fish/vendor_completions.d'
	sed 's|/usr/bin/switchyard|$(BINDIR)/switchyard|' examples/systemd/switchyard.service \
		>'$(DESTDIR)$(UNITDIR)/switchyard.service'
	$(BINARY) completion bash >'$(DESTDIR)$(SHARE)/bash-completion/completions/switchyard'
	$(BINARY) completion zsh >'$(DESTDIR)$(SHARE)/zsh/site-functions/_switchyard'
	$(BINARY) completion fish >'$(DESTDIR)$(SHARE)/fish/vendor_completions.d/switchyard.fish'

$(BINARY):
	$(MAKE) build

.PHONY: clean
clean: ## remove what build made and the tools
	rm -rf bin .bin

$(GOLANGCI):
	GOBIN=$(TOOLS) $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)
	mv $(TOOLS)/golangci-lint $@
