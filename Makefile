# Switchyard. `make` alone lists the targets; `make check` is what CI runs.

GOLANGCI_VERSION := v2.15.0
GREMLINS_VERSION := v0.6.0
# Of make release. nfpm 2.46 and later need modules that not every module proxy serves.
NFPM_VERSION      := v2.45.1
CYCLONEDX_VERSION := v1.10.0
REGCTL_VERSION    := v0.11.7

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

# What make release builds for, and whom its packages name.
PLATFORMS  ?= linux/amd64 linux/arm64
MAINTAINER := The Switchyard maintainers <switchyard-hpc@users.noreply.github.com>

DESTDIR ?=
PREFIX  ?= /usr
BINDIR  := $(PREFIX)/bin
LIBDIR  := $(PREFIX)/lib
SHARE   := $(PREFIX)/share

GO       ?= go
# Outside the checkout, for all checkouts of this user: the linter takes minutes to build.
TOOLS    ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/switchyard-tools
GOLANGCI := $(TOOLS)/golangci-lint-$(GOLANGCI_VERSION)
GREMLINS := $(TOOLS)/gremlins-$(GREMLINS_VERSION)
NFPM      := $(TOOLS)/nfpm-$(NFPM_VERSION)
CYCLONEDX := $(TOOLS)/cyclonedx-gomod-$(CYCLONEDX_VERSION)
REGCTL    := $(TOOLS)/regctl-$(REGCTL_VERSION)
# Where the tests of localsched/slurm look for it.
NEWER_SLURM   := $(TOOLS)/slurm-trixie
# Where the tests of cmd/switchyard look for them.
WORKFLOW_TOOLS := $(TOOLS)/workflow-tools-2
# Where examples/compose/up.sh looks for it.
PROMETHEUS := $(TOOLS)/prometheus-trixie
DEBIAN_MIRROR ?= http://deb.debian.org/debian
BIN      := bin
BINARY    = $(BIN)/switchyard
# Writes the completions, the manual pages and the sample of a configuration, so it has to run on this machine.
COMPLETER = $(BINARY)
LDFLAGS  := -s -w -X main.version=$(VERSION) -X main.commit=$(COMMIT)

# What the property tests draw from, so that they draw the same everywhere; 0 is another seed
# each time, as in make explore.
RAPID_SEED ?= 20261128
export RAPID_SEED
# How many values make explore draws for each property, and under which directories.
CHECKS     ?= 5000
PROPERTIES ?= .

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
check: ## all that must hold before a commit; 25 minutes on 2 cores
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

.PHONY: explore
explore: ## run the property tests with new seeds and CHECKS (5000) values each, of what is under PROPERTIES (.)
	@code=0 # of -short, rapid makes a fifth
	for folder in $$(grep -rlE --include='*_test.go' 'rapid\.(Make)?Check\(' $(PROPERTIES) | xargs -n 1 dirname | sed 's|^[^./]|./&|' | sort -u); do
		names=$$(awk '/^func Test/ { sub(/^func /, ""); sub(/\(.*/, ""); name = $$0 } /rapid\.(Make)?Check\(/ && name != "" { print name; name = "" }' $$folder/*_test.go | paste -sd '|')
		RAPID_SEED=0 RAPID_CHECKS=$$((5 * $(CHECKS))) $(GO) test -short -count=1 -timeout $(TIMEOUT) -run "^($$names)\$$" "$$folder" </dev/null || code=1
	done
	exit $$code

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

.PHONY: alerts-check
alerts-check: ## check alert rules and dashboards with promtool (Debian: prometheus), and if it is there alertmanager.yml with amtool
	@command -v promtool >/dev/null || { echo "make alerts-check: promtool is not installed; on Debian: apt install prometheus" >&2; exit 1; }
	$(GO) test -count=1 -run 'Promtool|Amtool|Share' ./internal/metrics

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
reproduce: ## write the tables, figures and claims of docs/reproduction.md, or of NAMES alone; 45 minutes of CPU
	@[ -z "$$(git status --porcelain -- . ':!docs')" ] || { echo "make reproduce: there are uncommitted changes outside docs; commit or stash them" >&2; exit 1; }
	$(MAKE) --no-print-directory build
	$(BINARY) sim reproduce --page docs/reproduction.md --data '$(DATA)' $(NAMES)

.PHONY: demo
demo: build ## start three sites on this machine and watch jobs move
	$(BINARY) demo

# The date of manual pages, and of all files of a release.
export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null)

# The same commit gives the same files on any machine with the same Go: names are in order, times are
# the commit's, and the binaries are built with -trimpath.
.PHONY: release
release: $(NFPM) $(CYCLONEDX) $(REGCTL) ## build archives, deb, rpm, images and SBOMs of the tagged VERSION for PLATFORMS into dist/, with checksums
	@fail() { echo "make release: $$*" >&2; exit 1; }
	[[ '$(VERSION)' =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$$ ]] ||
		fail "VERSION is '$(VERSION)', which is no release such as v0.1.0; tag the commit (git tag v0.1.0) in a clean checkout"
	grep -q '^## $(patsubst v%,%,$(VERSION))\b' CHANGELOG.md ||
		fail "CHANGELOG.md has no section '## $(patsubst v%,%,$(VERSION))'; give the unreleased changes that heading and a date"
	[ -z "$$(git status --porcelain)" ] || fail "there are uncommitted changes; commit or stash them"
	$(MAKE) --no-print-directory packages

# What the SBOM has without a license: Go's own library, and modules under the MIT license in other words than usual.
UNRECOGNIZED := std github.com/hashicorp/go-metrics

# What make release makes, also of a checkout that is none.
.PHONY: packages
packages: $(NFPM) $(CYCLONEDX) $(REGCTL)
	@rm -rf dist
	$(MAKE) --no-print-directory build # to write the completions
	date=$$(date -u -d @$$SOURCE_DATE_EPOCH +%FT%TZ)
	mkdir -p dist
	printf 'switchyard (%s-1) stable; urgency=medium\n\n  * See CHANGELOG.md.\n\n -- %s  %s\n' '$(patsubst v%,%,$(VERSION))' \
		'$(MAINTAINER)' "$$(date -uR -d @$$SOURCE_DATE_EPOCH)" | gzip -9n >dist/changelog.Debian.gz
	touch -d @$$SOURCE_DATE_EPOCH dist/changelog.Debian.gz
	for platform in $(PLATFORMS); do
		name=switchyard-$(VERSION)-$${platform//\//-}
		echo "building $$name"
		GOOS=$${platform%/*} GOARCH=$${platform#*/} $(MAKE) --no-print-directory build BIN=dist/build
		$(MAKE) --no-print-directory -s install BIN=dist/build COMPLETER=bin/switchyard DESTDIR=dist/root
		share=dist/root/usr/share/doc/switchyard
		install -D -m 644 -t $$share LICENSE README.md CHANGELOG.md
		install -D -m 644 -t $$share/docs docs/*.md
		GO=$(GO) internal/packaging/licenses dist/build/* >$$share/third-party-licenses.txt
		find dist/root -exec touch -hd @$$SOURCE_DATE_EPOCH {} +
		tar -C dist --sort=name --owner=0 --group=0 --numeric-owner --transform="s|^root|$$name|" -c root | gzip -9n >dist/$$name.tar.gz
		# It reads the licenses of modules that were downloaded by their names and versions, which those of a build need not be. This
		# checkout is none of them.
		(cd / && $(GO) mod download $$($(GO) version -m $(CURDIR)/dist/build/* | awk '$$1 == "dep" { print $$2 "@" $$3 }' | sort -u))
		(cd dist/build && GOPROXY=off $(CYCLONEDX) bin -json -noserial -notimestamp -std -licenses -version $(VERSION) -output ../$$name.cdx.json switchyard 2>/dev/null)
		unlicensed=$$(awk '/^  "components"/ { on = 1 } !on { next } /^    \{/ { name = "" } /^      "name":/ { name = $$2 } /"licenses": \[/ { name = "" } /^    \}/ && name { print name }' dist/$$name.cdx.json | tr -d '",' | LC_ALL=C sort | xargs)
		[ "$$unlicensed" = '$(sort $(UNRECOGNIZED))' ] || { echo "make release: the SBOM has no license of: $$unlicensed; it should be these alone: $(sort $(UNRECOGNIZED))" >&2; exit 1; }
		for packager in deb rpm; do
			GOARCH=$${platform#*/} VERSION=$(VERSION) MAINTAINER='$(MAINTAINER)' $(NFPM) package -f internal/packaging/nfpm.yaml -p $$packager -t dist >/dev/null
		done
		install -d dist/image/usr/bin dist/image/etc/switchyard dist/image/run/switchyard dist/image/var/lib
		install -d -m 711 dist/image/var/lib/switchyard
		install -d -m 1777 dist/image/tmp
		cp dist/build/* dist/image/usr/bin
		install -D -m 644 -t dist/image/usr/share/doc/switchyard LICENSE $$share/third-party-licenses.txt
		printf '%s\n' 'root:x:0:0:root:/:/bin/sh' 'nobody:x:65534:65534:nobody:/:/bin/sh' >dist/image/etc/passwd
		printf '%s\n' 'root:x:0:' 'nogroup:x:65534:' >dist/image/etc/group
		image=ocidir://dist/oci:$(VERSION)
		$(REGCTL) image create "$$image" --platform "$$platform" --created "$$date" >/dev/null
		$(REGCTL) image mod "$$image" --replace --layer-add dir=dist/image --time "set=$$date" --reproducible \
			--config-entrypoint '["/usr/bin/switchyard"]' --config-cmd '["peer","--config","/etc/switchyard"]' \
			--label org.opencontainers.image.title=Switchyard --label org.opencontainers.image.version=$(VERSION) \
			--label org.opencontainers.image.revision=$(COMMIT) --label org.opencontainers.image.licenses=Apache-2.0 \
			--label org.opencontainers.image.source=https://github.com/switchyard-hpc/switchyard >/dev/null
		# The export has the time of day in its index.
		mkdir dist/export
		$(REGCTL) image export "$$image" --name switchyard:$(VERSION) | tar -C dist/export -x
		sed -i "s|\(image.created\":\"\)[^\"]*|\1$$date|" dist/export/index.json
		tar -C dist/export --sort=name --owner=0 --group=0 --numeric-owner --mtime=@$$SOURCE_DATE_EPOCH -cf dist/$$name.oci.tar oci-layout index.json manifest.json blobs
		rm -rf dist/root dist/build dist/image dist/oci dist/export
	done
	rm dist/changelog.Debian.gz
	(cd dist && sha256sum * >SHA256SUMS && cat SHA256SUMS)

# Debian 12 and 13, once, with what the check needs.
CLEAN_ROOTS := $(TOOLS)/bookworm.tar $(TOOLS)/trixie.tar

.PHONY: dashboard-check
dashboard-check: ## draw the pages for browsers in chromium, at three widths, light and dark, into dist/dashboard for people to look at
	@mkdir -p dist/dashboard
	DASHBOARD_SCREENSHOTS=$(CURDIR)/dist/dashboard $(GO) test ./peer/dashboard -run TestPagesInBrowser -count=1 -v

# As root, since it runs the installed peer in a chroot of its own.
.PHONY: packages-check
packages-check: $(NFPM) $(CYCLONEDX) $(REGCTL) $(CLEAN_ROOTS) ## install, upgrade and remove the packages in clean Debian 12 and 13 roots; 5 minutes, as root
	@old=$$(mktemp -d)
	trap 'rm -rf "$$old"' EXIT
	$(MAKE) --no-print-directory packages PLATFORMS=linux/$$($(GO) env GOARCH) VERSION=v0.0.9
	cp dist/*.deb dist/*.rpm "$$old"
	$(MAKE) --no-print-directory packages PLATFORMS=linux/$$($(GO) env GOARCH) VERSION=v0.1.0
	internal/packaging/check "$$old" dist $(CLEAN_ROOTS)

$(CLEAN_ROOTS):
	@echo "making a clean Debian $(basename $(@F)) in $(TOOLS), once"
	mkdir -p $(TOOLS)
	dir=$$(mktemp -d $(TOOLS)/build.XXXX)
	trap 'rm -rf "$$dir"' EXIT
	debootstrap --variant=minbase --include=systemd $(basename $(@F)) "$$dir/root" $(DEBIAN_MIRROR) >"$$dir/log" || { cat "$$dir/log" >&2; exit 1; }
	rm -rf "$$dir"/root/var/cache/apt/archives/*.deb
	tar -C "$$dir/root" -c . >"$$dir/tar"
	mv "$$dir/tar" $@

# Does not build what is there already: root often has no Go in its PATH.
.PHONY: install
install: $(BINARY) ## install under PREFIX (/usr): binaries, systemd unit, account for guests, manual pages, completions, sample configuration
	install -D -m 755 $(BINARY) '$(DESTDIR)$(BINDIR)/switchyard'
	install -m 755 $(BINARY)-shim '$(DESTDIR)$(BINDIR)/switchyard-shim'
	install -d '$(DESTDIR)$(LIBDIR)/systemd/system' '$(DESTDIR)$(SHARE)/bash-completion/completions' \
		'$(DESTDIR)$(SHARE)/zsh/site-functions' '$(DESTDIR)$(SHARE)/fish/vendor_completions.d' '$(DESTDIR)$(SHARE)/doc/switchyard'
	sed 's|/usr/bin/switchyard|$(BINDIR)/switchyard|' examples/systemd/switchyard.service \
		>'$(DESTDIR)$(LIBDIR)/systemd/system/switchyard.service'
	install -D -m 644 examples/systemd/sysusers.conf '$(DESTDIR)$(LIBDIR)/sysusers.d/switchyard.conf'
	install -D -m 644 examples/systemd/tmpfiles.conf '$(DESTDIR)$(LIBDIR)/tmpfiles.d/switchyard.conf'
	$(COMPLETER) completion bash >'$(DESTDIR)$(SHARE)/bash-completion/completions/switchyard'
	$(COMPLETER) completion zsh >'$(DESTDIR)$(SHARE)/zsh/site-functions/_switchyard'
	$(COMPLETER) completion fish >'$(DESTDIR)$(SHARE)/fish/vendor_completions.d/switchyard.fish'
	$(COMPLETER) man '$(DESTDIR)$(SHARE)/man/man1'
	gzip -9nf '$(DESTDIR)$(SHARE)'/man/man1/switchyard*.1
	$(COMPLETER) config sample >'$(DESTDIR)$(SHARE)/doc/switchyard/switchyard.toml'

$(BINARY):
	$(MAKE) build

.PHONY: clean
clean: ## remove what build made
	rm -rf bin dist

$(GOLANGCI):
	$(call install,golangci-lint,github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION))

$(GREMLINS):
	$(call install,gremlins,github.com/go-gremlins/gremlins/cmd/gremlins@$(GREMLINS_VERSION))

$(NFPM):
	$(call install,nfpm,github.com/goreleaser/nfpm/v2/cmd/nfpm@$(NFPM_VERSION))

$(CYCLONEDX):
	$(call install,cyclonedx-gomod,github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@$(CYCLONEDX_VERSION))

$(REGCTL):
	$(call install,regctl,github.com/regclient/regclient/cmd/regctl@$(REGCTL_VERSION))

.PHONY: newer-slurm
newer-slurm: $(NEWER_SLURM) ## unpack Debian 13's Slurm, on which the tests of localsched/slurm run too, once; half a minute

# The tests put its /usr in the place of this machine's, so nothing has to be configured, and of the links that
# the packages would make on installation only those to Slurm's daemons and to awk are needed.
$(NEWER_SLURM):
	@echo "unpacking Debian 13's Slurm into $(TOOLS), once"
	$(call debian,trixie)
	apt-get -qq install -y --no-install-recommends --download-only '?essential' procps \
		slurmctld slurmd slurm-client munge slurmdbd slurm-wlm-mysql-plugin mariadb-server-core mariadb-client-core
	$(unpacked)
	mkdir -p "$$dir/root/usr/local"
	for daemon in "$$dir"/root/usr/sbin/*-wlm; do ln -s "$${daemon##*/}" "$${daemon%-wlm}"; done
	ln -s mawk "$$dir/root/usr/bin/awk"
	mv -T "$$dir/root" $@

# GNU parallel, Snakemake, Toil and Cylc with what they import for the batch system Slurm. The packages that they depend on
# take a minute of CPU time to install and 690 MB, most of it client libraries of clouds.
WORKFLOW_PACKAGES := parallel \
	snakemake libdatrie1 $(addprefix python3-,appdirs attr certifi chardet charset-normalizer configargparse connection-pool datrie \
	decorator humanfriendly idna jinja2 jsonschema markupsafe pulp pyrsistent ratelimiter requests retry six smart-open stopit tabulate \
	throttler toposort urllib3 wcwidth wrapt yaml) \
	toil $(addprefix python3-,blessed dateutil dill distutils docker enlighten lib2to3 packaging pkg-resources prefixed psutil pubsub \
	typing-extensions tz websocket) \
	libnorm1 libpgm-5.3-0 libprotobuf32 libsodium23 libzmq5 $(addprefix python3-,aiofiles aniso8601 ansimarkup async-timeout colorama graphene \
	graphql-core graphql-relay isodatetime promise protobuf rx urwid zmq)

# Cylc is Python alone, for the packages of Debian 12: its own Cylc does not start with its Python, and Debian 13's not with its graphql-core.
CYLC_PACKAGES := cylc-flow python3-cylc

.PHONY: workflow-tools
workflow-tools: $(WORKFLOW_TOOLS) ## unpack Debian 12's Snakemake, Toil and GNU parallel, and Debian 13's Cylc, with which cmd/switchyard is tested, once; some seconds

# The tests lay it over this machine's /usr. Jobs run as accounts that cannot keep the compiled modules there.
$(WORKFLOW_TOOLS):
	@echo "unpacking Debian's workflow tools into $(TOOLS), once"
	$(call debian,bookworm)
	(cd "$$dir/apt/archives" && apt-get -qq download $(WORKFLOW_PACKAGES))
	$(call source,trixie)
	(cd "$$dir/apt/archives" && apt-get -qq download $(CYLC_PACKAGES))
	$(unpacked)
	/usr/bin/python3 -m compileall -q -j 2 "$$dir/root/usr/lib/python3/dist-packages"
	mv -T "$$dir/root" $@

.PHONY: prometheus
prometheus: $(PROMETHEUS) ## unpack Debian 13's Prometheus, for the test bed monitoring of examples/compose, once; some seconds

# An image can be made of it: it has the C library that it is linked with, and the links by which that is found.
$(PROMETHEUS):
	@echo "unpacking Debian 13's Prometheus into $(TOOLS), once"
	$(call debian,trixie)
	(cd "$$dir/apt/archives" && apt-get -qq download prometheus libc6)
	$(unpacked)
	mkdir "$$dir/image"
	(cd "$$dir/root" && cp -r --parents usr/bin/prometheus usr/lib*/ld-linux-* usr/lib/*/{ld-linux-*,libc.so.6} "$$dir/image")
	ln -s usr/lib usr/lib64 "$$dir/image"
	mv -T "$$dir/image" $@

# debian RELEASE: has apt-get work in $$dir with that release, whatever this machine has installed.
define debian
mkdir -p $(TOOLS)
dir=$$(mktemp -d $(TOOLS)/build.XXXX)
trap 'rm -rf "$$dir"' EXIT
mkdir -p "$$dir"/apt/{lists,archives}/partial "$$dir/root"
touch "$$dir/apt/status"
cat >"$$dir/apt/conf" <<-EOF
	Dir { State "$$dir/apt"; State::status "$$dir/apt/status"; Cache "$$dir/apt"; };
	Dir::Etc { sourcelist "$$dir/apt/sources"; sourceparts "/dev/null"; preferences "/dev/null"; preferencesparts "/dev/null"; };
	APT::Sandbox::User "root";
	Acquire::Languages "none";
EOF
export APT_CONFIG=$$dir/apt/conf
$(call source,$(1))
endef

# source RELEASE: has apt-get in $$dir download packages of that release from now on.
define source
echo 'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(DEBIAN_MIRROR) $(1) main' >"$$dir/apt/sources"
apt-get -qq update
endef

# unpacked unpacks the packages that apt-get has downloaded into $$dir/root.
define unpacked
unpack() { dpkg-deb --fsys-tarfile "$$1" | tar -x -C "$$2" --exclude='./usr/share/doc/*' --exclude='./usr/share/locale/*' ./usr; }
export -f unpack
printf '%s\n' "$$dir"/apt/archives/*.deb | xargs -P 4 -I {} bash -euo pipefail -c 'unpack "$$1" "$$2"' - {} "$$dir/root"
endef

# install NAME,MODULE: build a tool of that name, once.
define install
@echo "building $(1) into $(TOOLS), once"
mkdir -p $(TOOLS)
dir=$$(mktemp -d $(TOOLS)/build.XXXX)
trap 'rm -rf "$$dir"' EXIT
CGO_ENABLED=0 GOBIN=$$dir $(GO) install $(2)
mv "$$dir/$(1)" $@
endef
