#!/usr/bin/env bash
# Starts five sites in containers, has exercise.sh submit jobs, cut networks and check the
# results, and takes all down again, also when something fails. README.md says more.
set -euo pipefail
# shellcheck source=grid.sh
. "$(dirname "$0")/grid.sh"

usage() {
	cat <<-'TEXT'
		usage: up.sh [--profile peers|nats] [--keep]

		  --profile peers  each site has a NATS server of its own, and partners dial it (the default)
		  --profile nats   all sites use a cluster of three NATS servers
		  --keep           leave the grid running afterwards; down.sh takes it down

		  BUSYBOX=PATH     a static busybox, if not /bin/busybox
		  SWITCHYARD=PATH  a static switchyard, if it is not to be built here
	TEXT
}

profile=peers keep=false child=

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
		*)
			usage >&2
			exit 2
			;;
		esac
		shift || break
	done
	case $profile in
	peers | nats) ;;
	*)
		usage >&2
		exit 2
		;;
	esac
}

# name_grid makes the grid's folder, and writes down there what down.sh must know. The
# project's name is random: nothing of another run or project has it.
name_grid() {
	COMPOSE_PROJECT_NAME=switchyard-peers-$(od -An -N4 -tx1 /dev/urandom | tr -d ' \n')
	GRID=${TMPDIR:-/tmp}/$COMPOSE_PROJECT_NAME
	COMPOSE_PROFILES=
	[ "$profile" = peers ] || COMPOSE_PROFILES=$profile
	export COMPOSE_PROJECT_NAME COMPOSE_PROFILES GRID
	mkdir -m 700 "$GRID"
	trap finish EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	cat >"$GRID/grid.env" <<-ENV
		export COMPOSE_PROJECT_NAME=$COMPOSE_PROJECT_NAME COMPOSE_PROFILES=$COMPOSE_PROFILES GRID='$GRID'
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
		  docker exec -iu ada -w /home/ada $(container aurora) switchyard submit <$here/job.sh - 7 20
		  docker exec $(container aurora) switchyard queue --recent 100
		To take it down:
		  $here/down.sh $GRID
	TEXT
}

# build makes the images. There is nothing in them but what is built or copied here.
build() {
	local files=$GRID/image busybox=${BUSYBOX:-/bin/busybox}
	[ -x "$busybox" ] || fail "$busybox is not there; the containers need a static shell (Debian: apt install busybox-static)"
	mkdir "$files"
	cp "$here/Dockerfile" "$here/passwd" "$here/group" "$files"
	cp "$busybox" "$files/busybox"
	if [ -n "${SWITCHYARD-}" ]; then
		cp "$SWITCHYARD" "$files/switchyard"
	else
		compile switchyard ./cmd/switchyard
	fi
	image site
	if [ "$profile" = nats ]; then
		compile nats-server github.com/nats-io/nats-server/v2
		image nats
	fi
}

compile() {
	say "building $1"
	CGO_ENABLED=0 go -C "$here/../../.." build -trimpath -ldflags '-s -w' -o "$GRID/image/$1" "$2"
}

image() {
	say "building the image $COMPOSE_PROJECT_NAME:$1"
	docker build --quiet --target "$1" --tag "$COMPOSE_PROJECT_NAME:$1" "$GRID/image" >/dev/null
}

# exercise waits for a child in the background: bash would hold back a signal until one
# in the foreground has ended.
exercise() {
	local code=0
	"$here/exercise.sh" &
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
"$here/configure.sh" "$GRID/image/switchyard" "$GRID" "$profile"
compose up --detach --no-build
exercise
