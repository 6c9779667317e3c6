#!/usr/bin/env bash
# Submits jobs at the small site aurora under each initiation, and checks by "explain" how the
# jobs that moved found their site.
set -euo pipefail
# shellcheck source=../grid.sh
. "$(dirname "$0")/../grid.sh"

# initiate INITIATION: has all sites open rounds so.
initiate() {
	local site
	for site in "${sites[@]}"; do
		at "$site" sed -i "s/^initiation = .*/initiation = \"$1\"/" /etc/switchyard/common.toml
		reload "$site"
	done
}

# submit PREFIX: eight jobs of two CPUs, of which aurora has two.
submit() {
	# shellcheck disable=SC2016 # the container's shell expands it
	ada sh -c 'for n in $(seq 8); do switchyard submit --stage-in-size=0 --job-name="$1-$n" job.sh 5 || exit; done' sh "$1" </dev/null >/dev/null
}

# moved PREFIX: the ids of those that ran elsewhere.
moved() {
	at aurora switchyard queue --recent 1000 --no-header | awk -v prefix="$1" 'index($2, prefix) == 1 && $8 != "aurora" { print $1 }'
}

# kinds ID: the kinds of events of a job, in their order.
kinds() {
	at aurora switchyard explain --json "$1" | sed -n 's/.*"kind": "\([a-z-]*\)".*/\1/p'
}

# volunteered ID...: the number of these jobs that a volunteer brought into a round.
volunteered() {
	local id n=0
	for id; do
		if grep -qx partner-volunteers <<<"$(kinds "$id")"; then n=$((n + 1)); fi
	done
	echo "$n"
}

# check INITIATION: all jobs have completed, and some moved. Under sender no job waits for a volunteer;
# under receiver some must have, because there are more jobs than CPUs.
check() {
	local placed moved volunteered
	placed=$(placed "$1-")
	[ "$(awk '$2 == "COMPLETED"' <<<"$placed" | wc -l)" -eq 8 ] || fail "not all jobs completed:"$'\n'"$placed"
	moved=$(moved "$1-")
	[ -n "$moved" ] || fail "under $1 no job left aurora"
	# shellcheck disable=SC2086 # a list of ids
	volunteered=$(volunteered $moved)
	case $1 in
	sender) [ "$volunteered" -eq 0 ] || fail "$volunteered jobs waited for a volunteer under sender" ;;
	receiver) [ "$volunteered" -gt 0 ] || fail "no job waited for a volunteer under receiver" ;;
	esac
	say "$1: $(wc -w <<<"$moved") of 8 jobs moved, $volunteered of them after a partner had volunteered"
}

await "the partners of aurora are up" all_linked up
await "gossip has brought the load of all sites, before any round" load_known
ada sh -c 'cat >job.sh' <"$here/job.sh"
for initiation in sender receiver symmetric; do
	initiate "$initiation"
	submit "$initiation"
	await "all jobs have ended" all_ended
	check "$initiation"
done
all_running
