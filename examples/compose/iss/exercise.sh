#!/usr/bin/env bash
# Submits jobs at aurora with different objectives, and checks where they ran and what they cost.
set -euo pipefail
# shellcheck source=../grid.sh
. "$(dirname "$0")/../grid.sh"

# submit NAME OPTION...
submit() {
	ada switchyard submit --stage-in-size=0 --job-name="$1" "${@:2}" job.sh 1 </dev/null >/dev/null
}

# ran NAME SITE: fails unless the job completed at the site.
ran() {
	[ "$(placed "$1")" = "$1 COMPLETED $2" ] || fail "the job should have completed at $2, but: $(placed "$1")"
	say "$1: ran at $2"
}

# pending_for NAME TEXT: whether the job waits, for a reason with this text.
pending_for() {
	at aurora switchyard queue --no-header | awk -v name="$1" -v reason="$2" '$2 == name && $4 == "PENDING" && index($0, reason) { found = 1 } END { exit !found }'
}

await "the partners of aurora are up" all_linked up
await "gossip has brought the load of all sites, before any round" load_known
ada sh -c 'cat >job.sh' <"$here/job.sh"
submit fastest --objective=fastest
submit cheapest --objective=cheapest
await "both jobs have ended" all_ended
ran fastest aurora
ran cheapest borealis
submit limited --objective=cheapest --max-cost='0.001 CHF'
await "the job whose limit is too low waits, and its reason names the limit that would do" pending_for limited 'raise max_cost to 1.1656 CHF'
say "limited: waits, because 1.1656 CHF (1.24 EUR) is the least that a site asks"
at aurora switchyard cancel "$(at aurora switchyard queue --no-header | awk '$2 == "limited" { print $1 }')" >/dev/null
await "no job is left" all_ended
all_running
