# What up.sh, down.sh, configure.sh and the scripts of the beds share; they source it. The variables
# COMPOSE_PROJECT_NAME, COMPOSE_PROFILES, BED and GRID name the grid, see up.sh.
# shellcheck shell=bash

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
sites=(aurora borealis cygnus)
[ "${BED-}" != slurm ] || sites=(aurora borealis)

say() { printf '%s %s\n' "$(date +%T)" "$*"; }

fail() {
	printf '%s\n' "$*" >&2
	exit 1
}

# partner SITE KEY [URL]: prints the table of a partner, whose users run as gridguest. It is dialed at
# the URL, if there is one.
partner() {
	cat <<-TOML

		[[partner]]
		name = "$1"
		public_key = "$2"
		max_jobs = 100
		users = { "*" = "gridguest" }
	TOML
	[ -z "${3-}" ] || echo "url = \"$3\""
}

# compose runs Compose v2 where it is installed, else docker-compose 1.29.
compose() {
	local file=$here/$BED/compose.yml
	[ -e "$file" ] || file=$here/sites.yml
	if docker compose version >/dev/null 2>&1; then
		docker compose --file "$file" "$@"
	elif command -v docker-compose >/dev/null; then
		docker-compose --file "$file" "$@"
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

# reload SITE: has the peer read its configuration again.
reload() {
	at "$1" switchyard reload </dev/null >/dev/null
}

# linked SITE up|down: whether aurora finds its partner so.
linked() {
	at aurora switchyard sites --no-header |
		awk -v site="$1" -v want="$2" '$1 == site { link = $3 } END { exit link != want }'
}

all_linked() {
	local site
	for site in "${sites[@]:1}"; do
		linked "$site" "$1" || return
	done
}

# load_known: whether aurora knows the load of all partners; before the first round only
# gossip can have brought it.
load_known() {
	at aurora switchyard sites --no-header | awk '$8 == "-" { unknown = 1 } END { exit unknown }'
}

all_ended() {
	local queue
	queue=$(at aurora switchyard queue --no-header) && [ -z "$queue" ]
}

# placed PREFIX: prints, for each job whose name begins so, its name, state and site.
placed() {
	at aurora switchyard queue --recent 1000 --no-header | awk -v prefix="$1" 'substr($2, 1, length(prefix)) == prefix { print $2, $4, $8 }'
}

# all_running: no peer may have ended meanwhile; there is nothing that starts it again.
all_running() {
	local site
	for site in "${sites[@]}"; do
		[ "$(docker inspect --format '{{.State.Status}}' "$(container "$site")")" = running ] || fail "the peer of $site has ended"
	done
}

# ada COMMAND...: runs the command at aurora as its user, at home.
ada() {
	docker exec --interactive --user ada --workdir /home/ada "$(container aurora)" "$@"
}

# page SITE AUTHORITY: prints the first page of the site, as it is served over TLS to who trusts the authority of
# that site alone.
page() {
	local address
	address=$(docker inspect --format '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}' "$(container "$1")")
	at "$2" cat /var/lib/switchyard/api/ca.pem >"$GRID/$2.pem" </dev/null
	curl -fsS --noproxy '*' --cacert "$GRID/$2.pem" --connect-to "$1:9760:$address:9760" "https://$1:9760/"
}

# lists_all SITE: whether its page has a row for each site.
lists_all() {
	local page site
	page=$(page "$1" "$1")
	for site in "${sites[@]}"; do
		grep -q "<th scope=\"row\">$site<" <<<"$page" || return
	done
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
	local patience=600 deadline
	deadline=$((SECONDS + patience))
	while [ "$SECONDS" -lt "$deadline" ]; do
		"${@:2}" 2>/dev/null && return
		sleep 0.1
	done
	"${@:2}" || fail "waited $patience s in vain until $1"
}
