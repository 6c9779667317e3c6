#!/usr/bin/env bash
# Starts the sites of a test bed in containers, has its exercise.sh submit jobs and check what
# becomes of them, and takes all down again, also when something fails. README.md says more.
set -euo pipefail
# shellcheck source=grid.sh
. "$(dirname "$0")/grid.sh"

usage() {
	cat <<-'TEXT'
		usage: up.sh BED [--keep] [--profile peers|nats]

		  BED              initiations, electricity, power-budget, iss, monitoring, slurm or peers: a directory here
		  --keep           leave the grid running afterwards; down.sh takes it down
		  --profile peers  of the bed peers: each site has a NATS server, and partners dial it (the default)
		  --profile nats   of the bed peers: all sites use a cluster of three NATS servers, one by a leaf node

		  BUSYBOX=PATH     a static busybox, if not /bin/busybox
		  SWITCHYARD=PATH  a static switchyard, if it is not to be built here
		  PROMETHEUS=DIR   of the bed monitoring: what "make prometheus" unpacks, if it is elsewhere
		  SLURM=DIR        of the bed slurm: what "make newer-slurm" unpacks, if it is elsewhere
	TEXT
}

BED= profile= keep=false child=

wrong_usage() {
	usage >&2
	exit 2
}

options() {
	while [ $# -gt 0 ]; do
		case $1 in
		--profile)
			profile=${2-}
			shift
			;;
		--profile=*) profile=${1#*=} ;;
		--keep) keep=true ;;
		-h | --help)
			usage
			exit
			;;
		-*) wrong_usage ;;
		*)
			[ -z "$BED" ] || wrong_usage
			BED=${1%/}
			;;
		esac
		shift || break
	done
	[ -n "$BED" ] && [ -x "$here/$BED/exercise.sh" ] || wrong_usage
	case $BED:$profile in
	peers:peers | peers:nats | *:) ;;
	*) wrong_usage ;;
	esac
	[ "$BED" != peers ] || profile=${profile:-peers}
}

# name_grid makes the grid's folder, and writes down there what down.sh must know. The
# project's name is random: nothing of another run or project has it.
name_grid() {
	COMPOSE_PROJECT_NAME=switchyard-$BED-$(od -An -N4 -tx1 /dev/urandom | tr -d ' \n')
	GRID=${TMPDIR:-/tmp}/$COMPOSE_PROJECT_NAME
	COMPOSE_PROFILES=
	[ "$profile" != nats ] || COMPOSE_PROFILES=nats
	[ "$BED" != monitoring ] || COMPOSE_PROFILES=monitoring
	export COMPOSE_PROJECT_NAME COMPOSE_PROFILES BED GRID
	mkdir -m 700 "$GRID"
	trap finish EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	cat >"$GRID/grid.env" <<-ENV
		export COMPOSE_PROJECT_NAME=$COMPOSE_PROJECT_NAME COMPOSE_PROFILES=$COMPOSE_PROFILES BED=$BED GRID='$GRID'
	ENV
}

# finish takes the grid down, or says how to use it. After a failure it first prints
# what the peers said last.
finish() {
	local code=$?
	trap '' INT TERM HUP
	set +e
	if [ -n "$child" ]; then
		kill "$child"
		wait "$child"
	fi
	[ "$code" -eq 0 ] || logs >&2
	if $keep; then
		invite
	else
		say "taking the grid down"
		"$here/down.sh" "$GRID" || code=1
	fi
	exit "$code"
}

logs() {
	local id
	docker ps --all --quiet --filter "label=com.docker.compose.project=$COMPOSE_PROJECT_NAME" | while read -r id; do
		docker inspect --format '--- {{index .Config.Labels "com.docker.compose.service"}}, {{.State.Status}}' "$id"
		docker logs --tail 25 "$id" 2>&1
	done
}

invite() {
	cat <<-TEXT
		The grid $COMPOSE_PROJECT_NAME is still there. To talk to it:
		  docker exec $(container aurora) switchyard sites
		  docker exec -iu ada -w /home/ada $(container aurora) switchyard submit <$here/job.sh - 20
		  docker exec $(container aurora) switchyard queue --recent 100
		To take it down:
		  $here/down.sh $GRID
	TEXT
}

# build makes the images. There is nothing in them but what is built or copied here.
build() {
	local files=$GRID/image
	mkdir "$files"
	if [ -n "${SWITCHYARD-}" ]; then
		cp "$SWITCHYARD" "$files/switchyard"
	else
		compile switchyard ./cmd/switchyard
	fi
	if [ "$BED" = slurm ]; then
		import_slurm
		return
	fi
	build_site
	if [ "$profile" = nats ]; then
		compile nats-server github.com/nats-io/nats-server/v2
		compile nk github.com/nats-io/nkeys/nk # makes the keys of the sites' users
		image nats
	fi
	[ "$BED" != monitoring ] || import_prometheus
}

# build_site makes the image of a site with the built-in batch system.
build_site() {
	local files=$GRID/image busybox=${BUSYBOX:-/bin/busybox}
	[ -x "$busybox" ] || fail "$busybox is not there; the containers need a static shell (Debian: apt install busybox-static)"
	cp "$here/Dockerfile" "$here/passwd" "$here/group" "$files"
	cp "$busybox" "$files/busybox"
	image site
}

# import_prometheus makes the image of what Debian's package has.
import_prometheus() {
	local files=${PROMETHEUS:-${XDG_CACHE_HOME:-$HOME/.cache}/switchyard-tools/prometheus-trixie}
	[ -x "$files/usr/bin/prometheus" ] || fail "there is no Prometheus in $files; unpack Debian's: make -C $(realpath "$here/../..") prometheus"
	say "importing the image $COMPOSE_PROJECT_NAME:prometheus"
	tar -C "$files" --owner=0 --group=0 -c . | docker import --change 'ENTRYPOINT ["/usr/bin/prometheus"]' - "$COMPOSE_PROJECT_NAME:prometheus" >/dev/null
}

# import_slurm makes the image of all machines of the bed slurm: the /usr that Debian's packages have, what else
# a root has, and switchyard.
import_slurm() {
	local files=${SLURM:-${XDG_CACHE_HOME:-$HOME/.cache}/switchyard-tools/slurm-trixie} root=$GRID/root dir
	[ -x "$files/usr/sbin/slurmctld" ] || fail "there is no Slurm in $files; unpack Debian's: make -C $(realpath "$here/../..") newer-slurm"
	mkdir -p "$root"/{etc/pam.d,run,var/{lib,log,spool}}
	mkdir -m 1777 "$root/tmp"
	cp -r --preserve=mode,links "$files/usr" "$root"
	mkdir -p "$root"/usr/local/{bin,sbin}
	for dir in bin sbin lib lib64; do ln -s "usr/$dir" "$root/$dir"; done
	cat "$here/passwd" "$here/slurm/passwd" >"$root/etc/passwd"
	cat "$here/group" "$here/slurm/group" >"$root/etc/group"
	echo 'hosts: files dns' >"$root/etc/nsswitch.conf"
	# slurmd asks su for the environment of a job's account.
	printf '%s required pam_permit.so\n' auth account password session >"$root/etc/pam.d/other"
	cp "$GRID/image/switchyard" "$root/usr/local/bin"
	cp "$here/slurm/start.sh" "$root/usr/local/sbin/start"
	chmod -R u=rwX,go=rX "$root"/{etc,run,usr/local,var}
	chmod 755 "$root"
	say "importing the image $COMPOSE_PROJECT_NAME:slurm"
	tar --owner=0 --group=0 -C "$root" -c . |
		docker import --change 'ENTRYPOINT ["/usr/local/sbin/start"]' - "$COMPOSE_PROJECT_NAME:slurm" >/dev/null
}

compile() {
	say "building $1"
	CGO_ENABLED=0 go -C "$here/../.." build -trimpath -ldflags '-s -w' -o "$GRID/image/$1" "$2"
}

image() {
	say "building the image $COMPOSE_PROJECT_NAME:$1"
	docker build --quiet --target "$1" --tag "$COMPOSE_PROJECT_NAME:$1" "$GRID/image" >"$GRID/build.log" 2>&1 || fail "$(cat "$GRID/build.log")"
}

# start shows what Compose says of its progress only if it fails.
start() {
	say "starting the containers"
	compose up --detach --no-build >"$GRID/compose.log" 2>&1 || fail "$(cat "$GRID/compose.log")"
}

configure() {
	local script=$here/$BED/configure.sh
	if [ -x "$script" ]; then
		"$script" "$GRID/image/switchyard" "$GRID" "$profile"
	else
		"$here/configure.sh" "$GRID/image/switchyard" "$GRID" "$BED"
	fi
}

# exercise waits for a child in the background: bash would hold back a signal until one
# in the foreground has ended.
exercise() {
	local code=0
	"$here/$BED/exercise.sh" &
	child=$!
	wait "$child" || code=$?
	child=
	return "$code"
}

options "$@"
docker version >/dev/null || fail "no Docker engine answers; it must run, and you must be allowed to use it"
compose version >/dev/null
name_grid
build
configure
start
exercise
