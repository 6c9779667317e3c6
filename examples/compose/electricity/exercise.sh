#!/usr/bin/env bash
# Submits jobs at aurora, where electricity is expensive, and checks that they run where it is
# cheapest, also after the prices have changed.
set -euo pipefail
# shellcheck source=../grid.sh
. "$(dirname "$0")/../grid.sh"

# submit PREFIX COUNT: as many jobs of two CPUs.
submit() {
	# shellcheck disable=SC2016 # the container's shell expands it
	ada sh -c 'for n in $(seq "$2"); do switchyard submit --stage-in-size=0 --job-name="$1-$n" job.sh 1 || exit; done' \
		sh "$1" "$2" </dev/null >/dev/null
}

# ran_at SITE PREFIX COUNT: whether so many jobs completed, all of them at the site.
ran_at() {
	[ "$(placed "$2-" | sort | cut -d ' ' -f 2- | uniq -c | tr -s ' ')" = " $3 COMPLETED $1" ]
}

# price SITE EUR: changes what a MWh costs at the site.
price() {
	at "$1" sed -i "s/^price = .*/price = $2/" "/etc/switchyard/prices/$1.toml"
	reload "$1"
}

# cost SITE: what the site quotes for a job, in millionths of a euro.
cost() {
	ada switchyard quote --json job.sh 1 2>/dev/null </dev/null | tr -d ' \n' | tr '{' '\n' |
		awk -v site="\"$1\"" -F '[:,]' '$1 == "\"site\"" { at = $2 } at == site { for (i = 1; i < NF; i++) if ($i == "\"cost_micro\"") print $(i + 1) }'
}

# cheapest SITE: whether the site quotes least.
cheapest() {
	local site mine other
	mine=$(cost "$1")
	[ -n "$mine" ] || return
	for site in "${sites[@]}"; do
		[ "$site" != "$1" ] || continue
		other=$(cost "$site")
		[ -n "$other" ] && [ "$mine" -lt "$other" ] || return
	done
}

# follow SITE PREFIX: submits two jobs, as many as MaxQ, and checks that both ran at the site.
follow() {
	await "$1 quotes least" cheapest "$1"
	submit "$2" 2
	await "all jobs have ended" all_ended
	ran_at "$1" "$2" 2 || fail "electricity costs least at $1, and the jobs ran so:"$'\n'"$(placed "$2-")"
	say "both jobs ran at $1; a job costs, in millionths of a euro: $(for site in "${sites[@]}"; do echo "$(cost "$site") at $site,"; done | tr '\n' ' ')"
}

await "the partners of aurora are up" all_linked up
await "gossip has brought the load of all sites, before any round" load_known
ada sh -c 'cat >job.sh' <"$here/job.sh"
follow borealis first
price borealis 300
price cygnus 20
follow cygnus second
all_running
