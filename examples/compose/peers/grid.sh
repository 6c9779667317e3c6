# What up.sh, exercise.sh and down.sh share; they source it. The variables
# COMPOSE_PROJECT_NAME, COMPOSE_PROFILES and GRID say which grid, see up.sh.
# shellcheck shell=bash

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck disable=SC2034 # for those that source it
sites=(aurora borealis cygnus draco electra)

say() { printf '%s %s\n' "$(date +%T)" "$*"; }

fail() {
	printf '%s\n' "$*" >&2
	exit 1
}

# compose runs Compose v2 where it is installed, else docker-compose 1.29.
compose() {
	if docker compose version >/dev/null 2>&1; then
		docker compose --file "$here/compose.yml" "$@"
	elif command -v docker-compose >/dev/null; then
		docker-compose --file "$here/compose.yml" "$@"
	else
		fail "neither \"docker compose\" nor docker-compose is installed (Debian: apt install docker-compose)"
	fi
}

# container prints the id of a service's container, by the labels that both write.
container() {
	docker ps --all --quiet --filter "label=com.docker.compose.project=$COMPOSE_PROJECT_NAME" \
		--filter "label=com.docker.compose.service=$1"
}

# at SITE COMMAND...: runs the command in the site's container, with the standard input.
at() {
	docker exec --interactive "$(container "$1")" "${@:2}"
}

# ada COMMAND...: runs the command at aurora as its user, at home.
ada() {
	docker exec --interactive --user ada --workdir /home/ada "$(container aurora)" "$@"
}

# cut_off SITE NETWORK: takes the site off the network. Connections are not closed: as with
# a cable that is pulled, nobody is told.
cut_off() {
	docker network disconnect "${COMPOSE_PROJECT_NAME}_$2" "$(container "$1")"
}

# heal SITE NETWORK: puts it back, under the name that partners dial if it is its own.
heal() {
	local names=()
	[ "$1" != "$2" ] || names=(--alias "peer.$2")
	docker network connect "${names[@]}" "${COMPOSE_PROJECT_NAME}_$2" "$(container "$1")"
}

# await WHAT COMMAND...: repeats the command until it succeeds. What it complains of is shown
# the last time only. Nothing takes nearly as long as its patience, also on a busy machine.
await() {
	local patience=180 deadline
	deadline=$((SECONDS + patience))
	while [ "$SECONDS" -lt "$deadline" ]; do
		"${@:2}" 2>/dev/null && return
		sleep 0.1
	done
	"${@:2}" || fail "waited $patience s in vain until $1"
}
