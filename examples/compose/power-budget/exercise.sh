#!/usr/bin/env bash
# Submits jobs of half a rack each, of which aurora's power budget permits one at a time, and
# raises the budget while one waits for it.
set -euo pipefail
# shellcheck source=../grid.sh
. "$(dirname "$0")/../grid.sh"

# submit NAME [OPTION...]
submit() {
	ada switchyard submit --stage-in-size=0 --job-name="$1" "${@:2}" job.sh </dev/null >/dev/null
}

# is NAME STATE SITE [REASON]: whether the job is so.
is() {
	at aurora switchyard queue --no-header | awk -v name="$1" -v state="$2" -v site="$3" -v reason="${4-}" '
		$2 == name && $4 == state && $8 == site && (reason == "" || $9 == reason) { found = 1 } END { exit !found }'
}

power() { at aurora switchyard sites --no-header | awk '$1 == "aurora" { print $13, $14 }'; }

await "the partners of aurora are up" all_linked up
await "gossip has brought the load of all sites, before any round" load_known
ada sh -c 'cat >job.sh' <"$here/power-budget/job.sh"

submit first --sites=aurora
await "the first job runs at aurora" is first RUNNING aurora
submit second --sites=aurora
await "the second job waits for the power budget" is second PENDING aurora PowerBudget
submit third
await "the third job, which may leave, runs at another site" is third RUNNING borealis
[ "$(power)" = "20.4/25 kW" ] || fail "aurora says that it draws $(power)"
say "at a budget of 25 kW one job of 20.48 kW runs at aurora, one waits, and one went to borealis"

at aurora sed -i 's/^budget_kw = .*/budget_kw = 40.96/' /etc/switchyard/aurora.toml
reload aurora
await "the second job runs at aurora" is second RUNNING aurora
is first RUNNING aurora || fail "the first job ended before the second began"
[ "$(power)" = "40.9/40.9 kW" ] || fail "aurora says that it draws $(power)"
say "at a budget of 40.96 kW both run"

for site in "${sites[@]}"; do at "$site" touch /var/runs/go; done
await "all jobs have ended" all_ended
[ "$(placed "" | awk '$2 == "COMPLETED"' | wc -l)" -eq 3 ] || fail "not all jobs completed:"$'\n'"$(placed "")"
partitions=$(ada cat first.out second.out | sort | tr '\n' ' ')
[[ $partitions =~ ^"aurora "([^ ]+)" aurora "([^ ]+)" "$ ]] && [ "${BASH_REMATCH[1]}" != "${BASH_REMATCH[2]}" ] ||
	fail "the jobs at aurora did not run in two partitions, but in: $partitions"
say "they ran in two partitions: $partitions"
all_running
