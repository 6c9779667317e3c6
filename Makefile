# Switchyard. `make` alone lists the targets; `make check` is what CI runs.

GOLANGCI_VERSION := v2.15.0
GREMLINS_VERSION := v0.6.0

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
COMMIT  ?= $(shell git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)

TIMEOUT   ?= 45m
SHORT     ?= -short
# How many packages are built or tested at once under the race detector, and how many tests
# of each: most wait for processes and clocks.
PACKAGES  ?= 2
PARALLEL  ?= 4
FUZZTIME  ?= 10s
BENCH     ?= .
BENCHTIME ?= 1s
COUNT     ?= 1
RECORD    :=
# The rooms in which make mutate plants faults, the share of them in percent that tests must
# find, and more flags of gremlins, such as -E REGEXP to leave files out.
ROOMS     ?= plugins/policy/tc internal/int128 peer/gridqueue localsched/engine
KILLED    ?= 85
GREMLINSFLAGS ?=

# What make reproduce makes, and the directory of the traces and prices.
NAMES ?=
DATA  ?= ../shared/data

# What make release builds for.
PLATFORMS ?= linux/amd64 linux/arm64

DESTDIR ?=
PREFIX  ?= /usr
BINDIR  := $(PREFIX)/bin
UNITDIR := $(PREFIX)/lib/systemd/system
SHARE   := $(PREFIX)/share

GO       ?= go
# Outside the checkout, for all checkouts of this user: the linter takes minutes to build.
TOOLS    ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/switchyard-tools
GOLANGCI := $(TOOLS)/golangci-lint-$(GOLANGCI_VERSION)
GREMLINS := $(TOOLS)/gremlins-$(GREMLINS_VERSION)
# Where the tests of localsched/slurm look for it.
NEWER_SLURM   := $(TOOLS)/slurm-trixie
DEBIAN_MIRROR ?= http://deb.debian.org/debian
BIN      := bin
BINARY    = $(BIN)/switchyard
# Writes the completions, so it has to run on this machine.
COMPLETER = $(BINARY)
LDFLAGS  := -s -w -X main.version=$(VERSION) -X main.commit=$(COMMIT)

# As make build, so that nothing is compiled twice, and the same in each checkout.
GOFLAGS ?= -trimpath
export GOFLAGS

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
build: ## build bin/switchyard and bin/switchyard-shim, static and reproducible
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN)/ ./cmd/switchyard ./cmd/switchyard-shim

# One program is all of these: it is the plugin whose name it is started by.
BUILT_IN := tc mcmf stable iss engine slurm pricefile tariff

.PHONY: plugins
plugins: ## build the built-in policies, schedulers and feeds as plugins, and the examples, into bin/plugins
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w' -o bin/plugins/ ./plugins/standalone ./examples/plugins/...
	for name in $(BUILT_IN); do ln -sf standalone "bin/plugins/$$name"; done

.PHONY: check
check: ## all that must hold before a commit; 15 minutes on 2 cores
	@echo "make check: fmt-check lint generate-check tidy-check test (slow tests at small sizes; make check-full has them whole)"
	$(MAKE) fmt-check lint generate-check tidy-check test

.PHONY: check-full
check-full: ## the same with the slow tests at full size, and fuzzing; an hour
	$(MAKE) fmt-check lint generate-check tidy-check test fuzz SHORT=

# Two calls of go test run side by side: what needs the race detector waits for processes and
# clocks most of the time, the rest computes. internal/archtest knows which is which. The
# long packages are named first, so that none is left alone at the end.
LONG := ./cmd/switchyard ./examples/compose ./localsched/slurm ./localsched/localschedtest ./examples/plugins

.PHONY: test
test: ## run the tests, with the race detector where goroutines are
	@dir=$$(mktemp -d) plain=
	trap 'if [ -n "$$plain" ]; then kill -- "-$$plain" 2>/dev/null || true; fi; rm -rf "$$dir"' EXIT
	chmod 711 "$$dir"
	export SWITCHYARD_TEST_BIN=$$dir/bin
	echo "building the binary and the plugins for the tests"
	CGO_ENABLED=0 $(GO) build -ldflags '-s -w -X main.commit=test' -o "$$dir/bin/" \
		./cmd/switchyard ./cmd/switchyard-shim ./plugins/standalone ./examples/plugins/...
	for name in $(BUILT_IN); do ln -sf standalone "$$dir/bin/$$name"; done
	CGO_ENABLED=0 $(GO) run ./internal/archtest/runs >"$$dir/runs"
	run() { # run plain|race FLAG...: the calls of go test of this kind
		local kind tests skip packages long package code=0
		while read -r kind tests skip packages; do
			[ "$$kind" = "$$1" ] || continue
			long=
			for package in $(LONG); do
				[[ " $$packages " != *" $$package "* ]] || long+=" $$package"
			done
			$(GO) test $(SHORT) -vet=off -timeout $(TIMEOUT) -run "$$tests" -skip "$$skip" "$${@:2}" $$long $$packages || code=1
		done <"$$dir/runs"
		return $$code
	}
	set -m # a process group of its own, which ends with this one
	CGO_ENABLED=0 run plain >"$$dir/plain" 2>&1 & plain=$$!
	set +m
	code=0
	# Else each process under the race detector sleeps for a second before it exits. The tests start
	# one for each command, and three for each job.
	export GORACE=atexit_sleep_ms=0
	CGO_ENABLED=1 run race -race -p $(PACKAGES) -parallel $(PARALLEL) 2>&1 | tee "$$dir/race" || code=1
	wait "$$plain" || code=1
	plain=
	cat "$$dir/plain"
	echo "The packages by their time:"
	grep -hE '^(ok|FAIL)\s+[^[:space:]]+\s' "$$dir/plain" "$$dir/race" | sort -t $$'\t' -k 1,1r -k 3,3nr
	exit $$code

.PHONY: lint
lint: $(GOLANGCI) ## run the linters
	CGO_ENABLED=0 $(GOLANGCI) run

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
	find . \( -name '*.pb.go' -o -name '*_pb2.py' \) -exec cp --parents -t "$$old" {} +
	$(GO) generate ./...
	find . \( -name '*.pb.go' -o -name '*_pb2.py' \) | while read -r file; do
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

# All kinds of mutants that gremlins has.
MUTANTS := --invert-assignments --invert-bitwise --invert-bwassign --invert-logical --invert-loopctrl --remove-self-assignments

# gremlins calls a go of our own. It says which mutants do not compile, which are then left out:
# go test exits with 1 for them as for a test that fails. And it bounds the CPU time and the memory
# of a mutant that never ends: a bound on time would be passed by any mutant on a busy machine.
# The seeds with which one mutant failed are not tried on the next.
.PHONY: mutate
mutate: $(GREMLINS) ## plant faults in ROOMS, say what share the tests find; 40 minutes on 2 cores that are free
	@dir=$$(mktemp -d)
	trap 'rm -rf "$$dir"' EXIT
	cat >"$$dir/go" <<-EOF
		#!/bin/bash
		ulimit -t 20 -v 8000000
		out=\$$($$(command -v $(GO)) "\$$@" 2>&1) && exit
		echo "\$$out"
		[[ \$$out != *'[build failed]'* ]] || exit 2
		exit 1
	EOF
	chmod +x "$$dir/go"
	export CGO_ENABLED=0 GOFLAGS="$(GOFLAGS) $(SHORT) -count=1 -vet=off" RAPID_NOFAILFILE=true RAPID_SHRINKTIME=0s
	code=0
	for room in $(ROOMS); do
		PATH=$$dir:$$PATH $(GREMLINS) unleash "./$$room" $(MUTANTS) --timeout-coefficient 100 -S lc $(GREMLINSFLAGS) | tee "$$dir/log"
		awk -v room="$$room" -v least=$(KILLED) -F '[:,] *' '
			/^Killed:/ { killed += $$2; all += $$2 + $$4 + $$6 }
			/^Timed out:/ { killed += $$2; all += $$2 }
			END {
				share = all ? 100 * killed / all : 0
				printf "%s: the tests find %d of %d mutants, %.0f %%\n", room, killed, all, share
				exit share < least
			}' "$$dir/log" || code=1
	done
	exit $$code

.PHONY: bench
bench: ## run the benchmarks that match BENCH, for BENCHTIME (1s) each, and print their ratios beside the recorded ones
	@{ grep -rl --include='*_test.go' '^func Benchmark' . || true; } | xargs -r dirname | sort -u |
		xargs -r $(GO) run ./internal/benchratio -bench '$(BENCH)' -benchtime $(BENCHTIME) -count $(COUNT) $(RECORD)

.PHONY: bench-record
bench-record: ## the same, and record the ratios of those that ran, the median of 3 runs each
	$(MAKE) bench RECORD=-record COUNT=3

.PHONY: bench-lemon
bench-lemon: ## compare the flow solver with LEMON (Debian: liblemon-dev), some minutes; LEMON_LARGE=1 for the largest, 10 GB
	$(GO) test -tags lemon -run '^$$' -bench LEMON -benchtime 1x ./internal/mincostflow

# The program names the commit that made each block, so nothing else may differ from that.
.PHONY: reproduce
reproduce: ## write the tables, figures and claims of docs/reproduction.md, or of NAMES alone; an hour of CPU
	@[ -z "$$(git status --porcelain -- . ':!docs')" ] || { echo "make reproduce: there are uncommitted changes outside docs; commit or stash them" >&2; exit 1; }
	$(MAKE) --no-print-directory build
	$(BINARY) sim reproduce --page docs/reproduction.md --data '$(DATA)' $(NAMES)

.PHONY: demo
demo: build ## start three sites on this machine and watch jobs move
	$(BINARY) demo

# The same commit gives the same archives on any machine with the same Go: names are in order, times are
# the commit's, and the binaries are built with -trimpath.
.PHONY: release
release: ## build the archives of the tagged VERSION for PLATFORMS into dist/, with their checksums
	@fail() { echo "make release: $$*" >&2; exit 1; }
	[[ '$(VERSION)' =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$$ ]] ||
		fail "VERSION is '$(VERSION)', which is no release such as v0.1.0; tag the commit (git tag v0.1.0) in a clean checkout"
	grep -q '^## $(patsubst v%,%,$(VERSION))\b' CHANGELOG.md ||
		fail "CHANGELOG.md has no section '## $(patsubst v%,%,$(VERSION))'; give the unreleased changes that heading and a date"
	[ -z "$$(git status --porcelain)" ] || fail "there are uncommitted changes; commit or stash them"
	rm -rf dist
	$(MAKE) --no-print-directory build # to write the completions
	for platform in $(PLATFORMS); do
		name=switchyard-$(VERSION)-$${platform//\//-}
		echo "building $$name"
		GOOS=$${platform%/*} GOARCH=$${platform#*/} $(MAKE) --no-print-directory build BIN=dist/build
		$(MAKE) --no-print-directory install BIN=dist/build COMPLETER=bin/switchyard DESTDIR=dist/$$name
		install -D -m 644 -t dist/$$name/usr/share/doc/switchyard LICENSE README.md CHANGELOG.md docs/third-party.md
		tar -C dist --sort=name --owner=0 --group=0 --numeric-owner --mtime=@$$(git log -1 --format=%ct) -c $$name |
			gzip -9n >dist/$$name.tar.gz
		rm -rf dist/$$name dist/build
	done
	(cd dist && sha256sum *.tar.gz >SHA256SUMS && cat SHA256SUMS)

# Does not build what is there already: root often has no Go in its PATH.
.PHONY: install
install: $(BINARY) ## install under PREFIX (/usr): binary, systemd unit, completions
	install -D -m 755 $(BINARY) '$(DESTDIR)$(BINDIR)/switchyard'
	install -m 755 $(BINARY)-shim '$(DESTDIR)$(BINDIR)/switchyard-shim'
	install -d '$(DESTDIR)$(UNITDIR)' '$(DESTDIR)$(SHARE)/bash-completion/completions' \
		'$(DESTDIR)$(SHARE)/zsh/site-functions' '$(DESTDIR)$(SHARE)/fish/vendor_completions.d'
	sed 's|/usr/bin/switchyard|$(BINDIR)/switchyard|' examples/systemd/switchyard.service \
		>'$(DESTDIR)$(UNITDIR)/switchyard.service'
	$(COMPLETER) completion bash >'$(DESTDIR)$(SHARE)/bash-completion/completions/switchyard'
	$(COMPLETER) completion zsh >'$(DESTDIR)$(SHARE)/zsh/site-functions/_switchyard'
	$(COMPLETER) completion fish >'$(DESTDIR)$(SHARE)/fish/vendor_completions.d/switchyard.fish'

$(BINARY):
	$(MAKE) build

.PHONY: clean
clean: ## remove what build made
	rm -rf bin dist

$(GOLANGCI):
	$(call install,golangci-lint,github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION))

$(GREMLINS):
	$(call install,gremlins,github.com/go-gremlins/gremlins/cmd/gremlins@$(GREMLINS_VERSION))

.PHONY: newer-slurm
newer-slurm: $(NEWER_SLURM) ## unpack Debian 13's Slurm, on which the tests of localsched/slurm run too, once; half a minute

# The tests put its /usr in the place of this machine's, so nothing has to be configured, and of the links that
# the packages would make on installation only those to Slurm's daemons and to awk are needed.
$(NEWER_SLURM):
	@echo "unpacking Debian 13's Slurm into $(TOOLS), once"
	mkdir -p $(TOOLS)
	dir=$$(mktemp -d $(TOOLS)/build.XXXX)
	trap 'rm -rf "$$dir"' EXIT
	mkdir -p "$$dir"/apt/{lists,archives}/partial "$$dir/root"
	touch "$$dir/apt/status"
	echo 'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(DEBIAN_MIRROR) trixie main' >"$$dir/apt/sources"
	cat >"$$dir/apt/conf" <<-EOF
		Dir { State "$$dir/apt"; State::status "$$dir/apt/status"; Cache "$$dir/apt"; };
		Dir::Etc { sourcelist "$$dir/apt/sources"; sourceparts "/dev/null"; preferences "/dev/null"; preferencesparts "/dev/null"; };
		APT::Sandbox::User "root";
		Acquire::Languages "none";
	EOF
	export APT_CONFIG=$$dir/apt/conf
	apt-get -qq update
	apt-get -qq install -y --no-install-recommends --download-only '?essential' procps \
		slurmctld slurmd slurm-client munge slurmdbd slurm-wlm-mysql-plugin mariadb-server-core mariadb-client-core
	unpack() { dpkg-deb --fsys-tarfile "$$1" | tar -x -C "$$2" --exclude='./usr/share/doc/*' --exclude='./usr/share/locale/*' ./usr; }
	export -f unpack
	printf '%s\n' "$$dir"/apt/archives/*.deb | xargs -P 4 -I {} bash -euo pipefail -c 'unpack "$$1" "$$2"' - {} "$$dir/root"
	mkdir -p "$$dir/root/usr/local"
	for daemon in "$$dir"/root/usr/sbin/*-wlm; do ln -s "$${daemon##*/}" "$${daemon%-wlm}"; done
	ln -s mawk "$$dir/root/usr/bin/awk"
	mv -T "$$dir/root" $@

# install NAME,MODULE: build a tool of that name, once.
define install
@echo "building $(1) into $(TOOLS), once"
mkdir -p $(TOOLS)
dir=$$(mktemp -d $(TOOLS)/build.XXXX)
trap 'rm -rf "$$dir"' EXIT
CGO_ENABLED=0 GOBIN=$$dir $(GO) install $(2)
mv "$$dir/$(1)" $@
endef
