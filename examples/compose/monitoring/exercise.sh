#!/usr/bin/env bash
# Looks at the pages of all sites, moves a job, stops a site and starts it again, and checks what
# Prometheus says of it.
set -euo pipefail
# shellcheck source=../grid.sh
. "$(dirname "$0")/../grid.sh"

# prometheus PATH [QUERY]: prints its answer.
prometheus() {
	at aurora wget -qO- ${2+--post-data "query=$2"} "http://prometheus:9090/api/v1/$1" </dev/null
}

# all_scraped: whether the last scrape of each site has succeeded.
all_scraped() {
	[ "$(prometheus targets | grep -o '"health":"up"' | wc -l)" -eq "${#sites[@]}" ]
}

# holds EXPRESSION: whether it has a value, which with a comparison means that this holds.
holds() {
	prometheus query "$1" | grep -q '"result":\[{'
}

# fires ALERT LABELS, ended ALERT LABELS: whether Prometheus has the alert firing, or neither firing nor pending.
fires() { holds "ALERTS{alertname=\"$1\",alertstate=\"firing\",$2}"; }
ended() { holds "absent(ALERTS{alertname=\"$1\",$2})"; }

await "all partners of aurora are up" all_linked up
await "gossip has brought the load of all sites, before any round" load_known
for site in "${sites[@]}"; do
	await "the page of $site lists all sites" lists_all "$site"
done
if page cygnus aurora >/dev/null 2>&1; then
	fail "cygnus has a certificate of the authority of aurora"
fi
say "the pages of all sites list all sites, over TLS with certificates of their own authorities"

await "Prometheus has scraped all sites" all_scraped
await "no alert says that a peer is down" ended SwitchyardPeerDown 'job="switchyard"'
say "Prometheus scrapes all sites"

ada sh -c 'cat >job.sh' <"$here/job.sh"
ada switchyard submit --stage-in-size=0 --sites=borealis job.sh 1 </dev/null >/dev/null
await "the job has ended" all_ended
await "aurora counts a job that was handed over" holds 'sum(switchyard_placements_total{instance="aurora:9750",result="handed_off",to="borealis"}) == 1'
await "aurora counts a job that completed" holds 'switchyard_jobs_ended_total{instance="aurora:9750",state="COMPLETED"} == 1'
await "borealis counts a job of aurora" holds 'switchyard_guest_jobs_total{instance="borealis:9750",partner="aurora",result="COMPLETED"} == 1'
say "a job has moved from aurora to borealis, and both count it"

docker stop --time 30 "$(container cygnus)" >/dev/null
await "an alert says that the peer of cygnus is down" fires SwitchyardPeerDown 'instance="cygnus:9750"'
await "another says that aurora has no session with it" fires SwitchyardPartnerDown 'instance="aurora:9750",partner="cygnus"'
say "cygnus is stopped, and two alerts say so"
docker start "$(container cygnus)" >/dev/null
await "the peer of cygnus is down no more" ended SwitchyardPeerDown 'instance="cygnus:9750"'
await "aurora has a session with it" ended SwitchyardPartnerDown 'instance="aurora:9750",partner="cygnus"'
await "Prometheus scrapes all sites again" all_scraped
say "cygnus is started again, and both have ended"
all_running
